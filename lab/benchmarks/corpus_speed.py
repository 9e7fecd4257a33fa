"""Speed of `thinstack predict --input` against bare sessions, and of Spark against it.

    python lab/benchmarks/corpus_speed.py --data FOLDER --out FOLDER [--rows 200000] [--jobs 2]
    [--rounds 3] [--spark] [--json]

SST's sentences, repeated and shuffled, in a parquet file. All take turns, round after round:

- **sessions**: so many processes, each with a model and a share of the rows in memory, in the same
  batches as the command; the time of `session.run` over arrays that were made before, and no more.
- **texts**: the same processes from texts to scores: sentences are split, words are looked up.
- **command**: `thinstack predict --input rows.parquet --jobs N`, and with `--format jsonl`. What
  that two rows take, its **start**, is subtracted.
- **spark**: `mapInArrow` in a session of `local[N]` that is there already, from parquet to
  parquet; once before, so that its workers have the model.

Run it with nothing else on the machine, in an environment with pyarrow (and pyspark).
"""

import json
import multiprocessing
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer
from corpus_rows import public_texts, rows
from rich.console import Console
from rich.table import Table
from timing import interleaved, ratio

import thinstack
from thinstack.integrations.corpora.scoring import BATCH_ROWS
from thinstack.runtime.predictor import Predictor
from thinstack.text.batching import BATCH_CHARACTERS, in_batches
from thinstack.text.sentences import splitter

START = "start"


class Recorded:
    """A session that keeps what it is fed."""

    device = "cpu"

    def __init__(self, session: Any):
        self.session, self.fed = session, list[tuple[list[str], dict[str, np.ndarray]]]()

    def run(self, outputs: list[str], feeds: dict[str, np.ndarray]) -> Any:
        self.fed.append((outputs, feeds))
        return self.session.run(outputs, feeds)


def share(model: str, texts: Sequence[str], start: Any, seconds: Any) -> None:
    """A process: the seconds of its sessions and of its texts, whenever `start` says so."""
    predictor = thinstack.load(model, threads=1, isolated=False)
    recorder = Recorded(predictor._session)
    predictor._session = recorder
    score(predictor, texts)
    predictor._session = recorder.session
    while True:
        start.wait()
        began = time.perf_counter()
        for outputs, feeds in recorder.fed:
            recorder.session.run(outputs, feeds)
        seconds.put(("sessions", time.perf_counter() - began))
        start.wait()
        began = time.perf_counter()
        score(predictor, texts)
        seconds.put(("texts", time.perf_counter() - began))


def score(predictor: Predictor, texts: Sequence[str]) -> None:
    cut = splitter()
    for some in in_batches(texts, BATCH_ROWS, len, BATCH_CHARACTERS):
        predictor.trees_and_scores([each.words for found in cut(some) for each in found])


class Bare:
    """Processes with a model and a share of the texts each."""

    def __init__(self, model: str, texts: Sequence[str], jobs: int):
        context = multiprocessing.get_context("spawn")
        self.jobs = jobs
        self._start, self._seconds = context.Barrier(jobs + 1), context.Queue()
        for job in range(jobs):
            arguments = (model, texts[job::jobs], self._start, self._seconds)
            context.Process(target=share, args=arguments, daemon=True).start()

    def run(self, expected: str) -> float:
        """The seconds of the slowest process."""
        self._start.wait()
        found = [self._seconds.get() for _ in range(self.jobs)]
        assert {name for name, _ in found} == {expected}
        return max(seconds for _, seconds in found)


def command(source: Path, out: Path, jobs: int, model: str, form: str, _: int) -> None:
    """Score the corpus as a user does."""
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run(
        [
            sys.executable, "-m", "thinstack", "predict", "--no-isolated",
            "--model", model, "--input", str(source), "--id", "id",
            "--out", str(out), "--jobs", str(jobs), "--format", form,
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip


def spark_run(source: Path, out: Path, jobs: int, model: str) -> Callable[[int], None]:
    """Starts a session; what scores the corpus in it."""
    from pyspark.sql import SparkSession

    from thinstack.integrations.spark import scorer

    builder = SparkSession.builder.master(f"local[{jobs}]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.memory", "1g").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    score = scorer(model)

    def run(_: int) -> None:
        frame = spark.read.parquet(str(source)).repartition(4 * jobs)
        frame.mapInArrow(score, score.schema).write.mode("overwrite").parquet(str(out))

    return run


def main(
    data: Annotated[Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/.")],
    out: Annotated[Path, typer.Option(help="A new folder for the corpus and its rows.")],
    count: Annotated[int, typer.Option("--rows", min=1000)] = 200_000,
    jobs: Annotated[int, typer.Option(min=1)] = 2,
    rounds: Annotated[int, typer.Option(min=1)] = 3,
    model: Annotated[str, typer.Option(help="Name or folder of a bundle.")] = "sentiment",
    spark: Annotated[bool, typer.Option("--spark", help="Spark too.")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure rows a second of each way to score a corpus."""
    out.mkdir(parents=True)
    source = out / "rows.parquet"
    ids, texts = zip(*rows(public_texts(data), count, seed=1), strict=True)
    pq.write_table(pa.table({"id": ids, "text": texts}), source)
    few = out / "few.parquet"
    pq.write_table(pa.table({"id": ids[:2], "text": texts[:2]}), few)
    bare = Bare(model, texts, jobs)
    inner: dict[str, list[float]] = {"sessions": [], "texts": []}

    def measured(name: str, _: int) -> None:
        inner[name].append(bare.run(name))

    subjects: dict[str, Callable[[int], object]] = {
        "sessions": partial(measured, "sessions"),
        "texts": partial(measured, "texts"),
        START: partial(command, few, out / "few", jobs, model, "parquet"),
        "command": partial(command, source, out / "parquet", jobs, model, "parquet"),
        "command, jsonl": partial(command, source, out / "jsonl", jobs, model, "jsonl"),
    }
    if spark:
        subjects["spark"] = spark_run(source, out / "spark", jobs, model)
    seconds = interleaved(subjects, rounds)
    seconds |= {name: found[1:] for name, found in inner.items()}  # without waiting for a start
    for name in ("command", "command, jsonl"):
        pairs = zip(seconds[name], seconds[START], strict=True)
        seconds[name] = [whole - start for whole, start in pairs]
    start = median(seconds.pop(START))
    found = {
        name: {
            "rows_a_second": count / median(each),
            "of_sessions": ratio(seconds["sessions"], each),
            "of_command": ratio(seconds["command"], each),
        }
        for name, each in seconds.items()
    }
    if as_json:
        Console().print_json(json.dumps(found | {START: start}))
        return
    table = Table("", "rows/s", "of the sessions", "of the command")
    for name, row in found.items():
        cells = f"{row['rows_a_second']:,.0f}", f"{row['of_sessions']:.2f}"
        table.add_row(name, *cells, f"{row['of_command']:.2f}")
    Console().print(table, f"a start of the command takes {start:.1f} s")


if __name__ == "__main__":
    typer.run(main)
