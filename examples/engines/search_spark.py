"""Ranks phrases by meaning and polarity with Spark. Reads `reviews.parquet`, with the columns id
and text, writes the phrases to the folder `phrases`, and ranks the best 10 of each batch.
"""

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import thinstack
from thinstack.integrations.corpora import score_batches


def phrases(batches):
    for rows in score_batches(batches, "vectors", output="phrases", vectors=True):
        rows = rows.select(["id", "text", "polarity", "vector"])
        yield rows.set_column(3, "vector", rows["vector"].cast(pa.list_(pa.float32())))


def nearest(batches):
    for rows in batches:
        vectors = np.stack(rows["vector"].to_numpy(zero_copy_only=False))
        polarity = rows["polarity"].to_numpy()
        scores = vectors @ query[:-1] + query[-1] * np.sign(polarity) * np.sqrt(0.3 * abs(polarity))
        best = np.argsort(-scores)[:10]
        yield rows.select(["id", "text"]).take(best).append_column("score", pa.array(scores[best]))


spark = SparkSession.builder.getOrCreate()
texts = spark.read.parquet("reviews.parquet").select("id", "text")
rows = texts.mapInArrow(phrases, "id string, text string, polarity double, vector array<float>")
rows.where("vector IS NOT NULL").write.parquet("phrases")
query = thinstack.load("vectors").encode("slow service", sign=True)
scored = spark.read.parquet("phrases").mapInArrow(nearest, "id string, text string, score double")
best = scored.orderBy("score", ascending=False).limit(10).collect()
