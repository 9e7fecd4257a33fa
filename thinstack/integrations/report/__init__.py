"""Reports on a table of texts: opinions by term, by group and over time."""
