"""Scores corpora: reads files of texts, and writes scored rows to a folder, shard by shard.

If a run is interrupted, each shard is either complete or missing. `score_batches` is for engines
that read and write the rows themselves.
"""

from thinstack.integrations.corpora.batches import score_batches, scored_schema

__all__ = ["score_batches", "scored_schema"]
