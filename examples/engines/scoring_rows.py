"""What a Dask frame of rows with the columns id and text becomes, partition by partition. In a file
of its own, because Dask cannot hash a function of the main program.

    frame.map_partitions(score, meta=score(frame.head(0))).to_parquet("scored-by-dask")

Run by hand with Dask 2026.8, threads and two processes.
"""

from functools import cache

import pandas as pd
import pyarrow as pa

import thinstack
from thinstack.integrations.corpora import score_batches, scored_schema

load = cache(lambda: thinstack.load("sentiment", threads=1))


def score(frame):
    batches = pa.Table.from_pandas(frame, preserve_index=False).to_batches()
    rows = pa.Table.from_batches(score_batches(batches, load()), scored_schema(load().labels))
    return rows.to_pandas(types_mapper=pd.ArrowDtype)
