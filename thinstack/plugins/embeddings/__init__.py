"""Built-in leaf embeddings, one a file."""
