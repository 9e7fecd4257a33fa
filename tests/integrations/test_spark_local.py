"""Spark itself, with two workers: failing rows, killed workers, repeated tasks; job `spark`."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from distributions import install_bundle
from last_word_model import write_last_word_bundle
from pyarrow import parquet

import thinstack
from thinstack.integrations.corpora import score_batches
from thinstack.integrations.spark import scorer
from thinstack.plugins.manager import manager

ROOT = Path(__file__).parents[2]
sql = pytest.importorskip("pyspark.sql", reason="needs the extra spark: pip install pyspark[sql]")
pytestmark = pytest.mark.filterwarnings("default")  # those of pyspark are not ours

TEXTS = ["So good. Very awful film!", "", None, "a b c", "nan", "a\0b"]


@pytest.fixture(scope="module")
def spark(vector_folder, tmp_path_factory):
    """A session of two workers, in which a task may fail four times."""
    if not shutil.which("java") and "JAVA_HOME" not in os.environ:
        pytest.skip("needs a Java runtime: java on PATH, or JAVA_HOME")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        site = tmp_path_factory.mktemp("site")
        install_bundle(site, "vectors", vector_folder)
        paths = [str(ROOT), str(site), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        patch.syspath_prepend(site)
        manager.cache_clear()  # other tests may have listed the models before
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = sql.SparkSession.builder.master("local[2, 4]").appName("thinstack")
        builder = builder.config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.memory", "1g")
        session = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "50").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(scope="module")
def score(spark, tmp_path_factory):
    """With a model whose folder is gone before a row is scored."""
    folder = write_last_word_bundle(tmp_path_factory.mktemp("own") / "model").path
    made = scorer(folder, spark=spark)
    shutil.rmtree(folder)
    return made


def table(spark, texts, tasks):
    rows = [(f"t{number}", text) for number, text in enumerate(texts)]
    return spark.createDataFrame(rows, "id string, text string").repartition(tasks)


def by_id(rows):
    for row in rows:
        row["error"] = row["error"] and row["error"]["kind"]  # messages count a task's own rows
    return sorted(rows, key=lambda row: (int(row["id"][1:]), row["sentence"]))


def scored(frame, call, schema):
    return by_id([row.asDict(recursive=True) for row in frame.mapInArrow(call, schema).collect()])


@pytest.mark.parametrize("output", ["sentences", "documents", "phrases"])
def test_rows_are_those_of_score_batches(spark, last_word, output):
    score = scorer(last_word.path, output=output)  # by the active session
    texts = TEXTS * 40
    batch = pa.record_batch({"id": [f"t{i}" for i in range(len(texts))], "text": texts})
    wanted = pa.Table.from_batches(score_batches([batch], last_word.path, output=output))
    found = scored(table(spark, texts, 5), score, score.schema)
    order = ["node"] if output == "phrases" else []
    for rows in (found, expected := by_id(wanted.to_pylist())):
        rows.sort(key=lambda row: (row["id"], row["sentence"], *(row[name] for name in order)))
        for row in rows:
            for name, value in (row["scores"] or {}).items():
                row["scores"][name] = pytest.approx(value, abs=1e-6)
    assert found == expected


@pytest.mark.parametrize("how", ["killed", "raised"])
def test_a_task_that_is_tried_again_gives_each_row_once(spark, score, how, tmp_path):
    def call(batches):
        from pyspark import TaskContext

        for number, batch in enumerate(batches):
            yield from score([batch])
            context = TaskContext.get()
            if number == 1 and context.partitionId() == 1 and context.attemptNumber() < 2:
                Path(tmp_path, f"attempt {context.attemptNumber()}").touch()
                if how == "killed":
                    os.kill(os.getpid(), signal.SIGKILL)
                raise RuntimeError("of the test")

    rows = scored(table(spark, ["good", "awful", None] * 200, 3), call, score.schema)
    assert sorted(mark.name for mark in tmp_path.iterdir()) == ["attempt 0", "attempt 1"]
    assert [row["id"] for row in rows] == [f"t{number}" for number in range(600)]
    assert Counter(row["error"] for row in rows) == {None: 400, "missing": 200}


def test_a_row_that_kills_its_worker_each_time_ends_the_job(spark, score):
    def call(batches):
        for batch in batches:
            if "poison" in batch.column("text").to_pylist():
                os.kill(os.getpid(), signal.SIGKILL)
            yield from score([batch])

    with pytest.raises(Exception, match="failed 4 times"):
        scored(table(spark, ["good", "poison"], 1), call, score.schema)
    assert len(scored(table(spark, ["good"], 1), call, score.schema)) == 1


def test_the_program_of_the_guide_runs(spark, tmp_path):
    guide = (ROOT / "docs" / "corpora.md").read_text(encoding="utf-8")
    files = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    for name, text in files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    program = [sys.executable, "spark_reviews.py"]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    cells = [
        line.split("|")[1:4] for line in done.stdout.splitlines() if line.startswith(("| a", "|a"))
    ]
    shown = [[cell.strip() for cell in row] for row in cells]
    assert [row[0] for row in shown] == ["a1", "a1", "a2", "a3", "a4"]
    assert (shown[0][1], shown[3][1], shown[4][1]) == ("positive", "NULL", "missing")


def test_phrases_are_searched_as_in_the_example(spark, tmp_path):
    texts = ["Good film. An awful plot.", None, "good seats", ""] * 30
    rows = {"id": [f"t{number}" for number in range(len(texts))], "text": texts}
    parquet.write_table(pa.table(rows), tmp_path / "reviews.parquet")
    names = {"__name__": "page"}
    text = (ROOT / "examples" / "engines" / "search_spark.py").read_text(encoding="utf-8")
    text = text.replace('parquet("', f'parquet("{tmp_path}/')
    exec(compile(text, "<search_spark.py>", "exec"), names)
    model = thinstack.load("vectors")
    *vector, sign = model.encode("slow service", sign=True)
    every = [phrase for text in texts if text for phrase in model(text).phrases]
    signs = [sign * np.sign(p.polarity) * abs(0.3 * p.polarity) ** 0.5 for p in every]
    scores = [phrase.vector @ vector + more for phrase, more in zip(every, signs, strict=True)]
    wanted = sorted(scores, reverse=True)[:10]
    assert [row["score"] for row in names["best"]] == pytest.approx(wanted, abs=1e-5)
    assert spark.read.parquet(str(tmp_path / "phrases")).count() == len(every)
