"""A report over a table of texts: what they say, about what, where and when."""
