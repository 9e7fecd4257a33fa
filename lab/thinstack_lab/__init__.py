"""Plugins of thinstack that only its own models and the papers' tables need."""
