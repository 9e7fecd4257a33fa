"""Themes: what many texts say of the same matter, found or named."""
