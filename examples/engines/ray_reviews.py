"""Scores a folder of parquet files, `reviews`, with Ray Data. Run by hand with Ray 2.60."""

import pyarrow as pa
import ray

import thinstack
from thinstack.integrations.corpora import score_batches, scored_schema


class Score:
    def __init__(self):
        self.model = thinstack.load("sentiment", threads=1)

    def __call__(self, table):
        rows = score_batches(table.to_batches(), self.model)
        return pa.Table.from_batches(rows, scored_schema(self.model.labels))


ray.data.read_parquet("reviews").map_batches(
    Score, batch_format="pyarrow", concurrency=1
).write_parquet("scored-by-ray")
