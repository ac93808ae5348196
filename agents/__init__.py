"""Baseline policies; each file is one idea. Importing this package makes their names known."""

from agents.lightest import LightestPolicy

__all__ = ["LightestPolicy"]
