"""Scoring corpora: files of texts in, a folder of scored rows out, in shards that are whole
wherever a run is stopped; and `score_batches`, for engines that bring the rows and keep them."""

from thinstack.corpora.batches import score_batches, scored_schema

__all__ = ["score_batches", "scored_schema"]
