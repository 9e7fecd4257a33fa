"""Themes: opinions that many texts share, found or named by the user."""
