"""Scoring corpora: files of texts in, a folder of scored rows out, in shards that are whole
wherever a run is stopped."""
