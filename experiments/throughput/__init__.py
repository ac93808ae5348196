"""Benchmarks: the library, plain C and PettingZoo's own environments, in one run."""
