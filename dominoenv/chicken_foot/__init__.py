"""Chicken Foot: its state, its rules as kernels, and what a seat sees of it."""
