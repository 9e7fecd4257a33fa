"""Texts of any length: seconds and memory of one text without a full stop, and how long short texts
beside it wait.

    python lab/benchmarks/lengths.py --data FOLDER [--model sentiment] [--threads 1]
    [--words 1000 --words 10000 ...] [--json]

The words are drawn from SST's development sentences, without marks, so that nothing but `max_words`
cuts them. Each row is a process of its own: `model.stream`, a spaCy pipeline without a sentencizer
(given a Doc made of the words, for spaCy tokenises a million characters at most), and `thinstack
predict --input` of a file with the one text. Time is linear where microseconds a word stay the
same. "over start" is the most memory that the process held beyond what it held with the model
loaded and the text made; "results" is what the results themselves take of it, so the difference is
what grows with neither. The long text has a short one on either side: "before" is the time until
the first one's result, "behind" the time from the long one's result to the last one's.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

COUNTS: Final = [1_000, 10_000, 100_000, 1_000_000]
SHORT: Final = ("not", "bad", "at", "all")
Row = dict[str, Any]
MEGABYTE: Final = 1e6


def status_mb(field: str) -> float:
    """Memory of this process in MB (10^6 bytes), as Linux tells it: VmRSS now, VmHWM at most."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.split(f"{field}:")[1].split()[0]) * 1024 / MEGABYTE


def measured(stream: Iterable[Any], size: Callable[[Any], float]) -> Row:
    """Time and memory of three results, of which the second is the long one's; `size` tells its MB
    as stored. All results are kept, as a user would."""
    held, start = status_mb("VmRSS"), time.perf_counter()
    kept, times = [], []
    for found in stream:
        kept.append(found)
        times.append(time.perf_counter() - start)
    peak = status_mb("VmHWM")
    return {
        "seconds": times[1],
        "before": times[0],
        "behind": times[2] - times[1],
        "start_mb": held,
        "over_start_mb": peak - held,
        "results_mb": size(kept[1]),
    }


def text_row(model: str, threads: int, words: Sequence[str], _: Path) -> Row:
    """Raw text, by `model.stream`."""
    import thinstack
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.result import Result

    def size(result: Result) -> float:
        return sum(map(one_size, result.sentences)) / MEGABYTE

    def one_size(one: Prediction) -> int:
        arrays = one.offsets.nbytes + one.transitions.nbytes + one.node_scores.nbytes
        distinct = {id(word): sys.getsizeof(word) for word in one.words}
        texts = sum(distinct.values()) + sys.getsizeof(one.words) + sys.getsizeof(one.text)
        return arrays + texts + sum(map(sys.getsizeof, one.parts))

    predictor = thinstack.load(model, threads=threads, isolated=False)
    short = " ".join(SHORT)
    list(predictor.stream([short]))
    return measured(predictor.stream([short, " ".join(words), short]), size)


def spacy_row(model: str, threads: int, words: Sequence[str], _: Path) -> Row:
    """A Doc, through a pipeline without a sentencizer."""
    sys.modules["torch"] = None  # type: ignore[assignment]
    import spacy
    from spacy.tokens import Doc

    def size(doc: Doc) -> float:
        (record,) = doc._.tree_sentiment["sentences"]
        distinct = {id(word): sys.getsizeof(word) for word in record["words"]}
        arrays = sum(len(record[name]) for name in ("tokens", "transitions", "scores"))
        return (arrays + sum(distinct.values()) + sys.getsizeof(record["words"])) / MEGABYTE

    warnings.simplefilter("ignore")  # that nothing has set sentences
    nlp = spacy.blank("en")
    nlp.add_pipe("tree_sentiment", config={"model": model, "threads": threads})
    nlp(Doc(nlp.vocab, words=list(SHORT)))
    docs = [Doc(nlp.vocab, words=list(each)) for each in (SHORT, words, SHORT)]
    return measured(nlp.pipe(docs), size)


def command_row(model: str, threads: int, words: Sequence[str], folder: Path) -> Row:
    """`thinstack predict --input` of a file of three texts; its start is part of its seconds."""
    file = folder / "texts.txt"
    texts = [" ".join(each) for each in (SHORT, words, SHORT)]
    command = [
        sys.executable,
        "-m",
        "thinstack",
        "predict",
        "--no-isolated",
        "--model",
        model,
        "--input",
        str(file),
    ]
    seconds, peaks = [], []
    for number, read in enumerate(([texts[0]], texts)):
        file.write_text("\n".join(read) + "\n", encoding="utf-8")
        start = time.perf_counter()
        out = ["--out", str(folder / f"out-{number}"), "--threads", str(threads)]
        subprocess.run([*command, *out], check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
        peaks.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / MEGABYTE)
    return {
        "seconds": seconds[1] - seconds[0],
        "start_mb": peaks[0],
        "over_start_mb": peaks[1] - peaks[0],
    }


ROWS: Final = {
    "model.stream": text_row,
    "spaCy without sentences": spacy_row,
    "thinstack predict --input": command_row,
}


def words_of(data: Path, count: int) -> list[str]:
    """So many words of SST's development sentences, drawn by chance."""
    from thinstack.data.trees.treebank import read_trees

    known = [word for tree in read_trees(data / "sst/dev.txt") for word in tree.words]
    return random.Random(0).choices([word for word in known if word.isalpha()], k=count)


def in_own_process(data: Path, model: str, threads: int, kind: str, count: int) -> Row:
    """A row, made by this script in another process."""
    asked = ["--kind", kind, "--words", str(count), "--model", model, "--threads", str(threads)]
    command = [sys.executable, __file__, "--data", str(data), *asked]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment, text=True)
    row: Row = json.loads(done.stdout)
    return {"kind": kind, "words": count, "us_per_word": row["seconds"] / count * 1e6, **row}


def main(
    data: Annotated[Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/.")],
    model: Annotated[str, typer.Option(help="Name or folder of a bundle.")] = "sentiment",
    threads: Annotated[int, typer.Option(min=1)] = 1,
    words: Annotated[list[int] | None, typer.Option(help="Words of the long text.")] = None,
    kind: Annotated[str | None, typer.Option(hidden=True)] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure time, memory and waiting by the length of a text."""
    counts = words or COUNTS
    if kind is not None:
        with tempfile.TemporaryDirectory() as folder:
            row = ROWS[kind](model, threads, words_of(data, counts[0]), Path(folder))
        typer.echo(json.dumps(row))
        return
    console = Console()
    rows = [in_own_process(data, model, threads, kind, count) for kind in ROWS for count in counts]
    if as_json:
        console.print_json(json.dumps(rows))
        return
    columns = ("words", "seconds", "us a word", "over start, MB", "results, MB", "before, s")
    table = Table("", *columns, "behind, s")
    for row in rows:
        waits = [f"{row[name]:.3f}" if name in row else "" for name in ("before", "behind")]
        results = f"{row['results_mb']:.1f}" if "results_mb" in row else ""
        table.add_row(
            row["kind"], f"{row['words']:,}", f"{row['seconds']:.2f}",
            f"{row['us_per_word']:.1f}", f"{row['over_start_mb']:.1f}", results, *waits,
        )  # fmt: skip
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
