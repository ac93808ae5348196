"""Opponents: pools, snapshots, self-play, trained policies and their files."""
