"""Record what the library gives today, so that a later version can be compared with it.

    python lab/frozen.py record before.json
    python lab/frozen.py compare before.json after.json

Run `record` on both versions, each in its own clone and environment. A record holds digests of
exported graphs and of trained weights, scores, rows, reports, recipes, public names and help pages.
`compare` lists every entry that differs: numbers by more than 1e-6, anything else at all.
"""

import contextlib
import hashlib
import importlib
import io
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from typer.testing import CliRunner

ROOT: Final = Path(__file__).parents[1]
TOLERANCE: Final = 1e-6
SUITES: Final = ROOT / "thinstack" / "evaluate" / "suites"
PUBLIC: Final = (
    "thinstack",
    "thinstack.bundle",
    "thinstack.export",
    "thinstack.integrations.corpora",
    "thinstack.integrations.spacy",
    "thinstack.plugins",
    "thinstack.runtime",
    "thinstack.sklearn",
    "thinstack.testing",
)
COMMANDS: Final = (
    *("doctor", "evaluate", "export", "finish", "plugins", "predict", "push", "report", "serve"),
    "train",
)
TABLES: Final = {
    "stars.csv": "text,label\n" + "".join(f"Text {n} is fine.,{n % 5 + 1}\n" for n in range(40)),
    "sides.csv": "text,label\n"
    + "".join(f"It is {n}.,{('positive', 'negative')[n % 2]}\n" for n in range(40)),
    "three.csv": "text,label\n"
    + "".join(f"It is {n}.,{('positive', 'neutral', 'negative')[n % 3]}\n" for n in range(60)),
    "topics.csv": "text,label\n"
    + "".join(f"About {n} boxes.,{('late', 'rude', 'broken')[n % 3]}\n" for n in range(60)),
    "tabs.tsv": "text\tlabel\n" + "".join(f"About {n}.\t{('a', 'b')[n % 2]}\n" for n in range(40)),
}

Record = dict[str, Any]
RUNNER: Final = CliRunner(env={"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"})
app = typer.Typer(add_completion=False)


def digest(content: bytes) -> str:
    """The first 16 digits of a SHA-256."""
    return hashlib.sha256(content).hexdigest()[:16]


def texts() -> list[str]:
    """The texts of all suites."""
    rows = (path.read_text("utf-8").splitlines()[1:] for path in sorted(SUITES.glob("*.tsv")))
    return [row.split("\t")[-1] for part in rows for row in part if row]


def exported_graphs() -> Iterator[tuple[str, Any]]:
    """Digests of the ONNX bytes of one of every registered cell, head, parser and kind of trees."""
    from registered_models import registered_models

    from thinstack.export.onnx.model import export_onnx

    for name, model, config in registered_models():
        yield name, digest(export_onnx(model, config, vocabulary_digest="0"))


def trained_weights() -> Iterator[tuple[str, Any]]:
    """Weights after one epoch of each task, with fixed seeds."""
    from training import tiny_recipe

    from thinstack.training.examples.datasets import load_datasets
    from thinstack.training.examples.inputs import Inputs
    from thinstack.training.loop.seeds import train_seed

    with tempfile.TemporaryDirectory() as folder:
        data = tiny_recipe.write_data(Path(folder) / "data")
        recipes = {
            "phrases": tiny_recipe.recipe(vectors="words.txt", epochs=1),
            "pieces": tiny_recipe.recipe("wordpieces", vectors="pieces.txt", epochs=1),
            "parser": tiny_recipe.recipe(
                epochs=1,
                model={"parser": {"name": "distances.v1", "options": {"width": 4}}},
                sources=("self",),
            ),
            "lessons": tiny_recipe.recipe(epochs=1, lessons=[{"name": "alone.v1", "share": 0.5}]),
        }
        for name, recipe in recipes.items():
            datasets = load_datasets(recipe, Inputs.of(data))
            model, history = train_seed(recipe, datasets, 1, Path(folder) / name)
            weights = b"".join(value.numpy().tobytes() for value in model.state_dict().values())
            yield name, digest(weights)
            yield f"{name}: loss", history[-1]["loss"]


def predictions() -> Iterator[tuple[str, Any]]:
    """What the bundled model says of the texts of the suites."""
    import thinstack

    lines = texts()
    for result in thinstack.load(threads=1).stream(lines):
        phrases = [(each.start, each.end, each.label) for each in result.phrases]
        yield result.text, [result.polarity, *result.scores.values(), digest(str(phrases).encode())]


def reports() -> Iterator[tuple[str, Any]]:
    """The report's JSON, and the rows of a corpus in three formats."""
    import thinstack
    from thinstack.cli import app as commands

    model = thinstack.load(threads=1)
    rows = [{"text": text, "store": f"store {n % 4}"} for n, text in enumerate(texts()[:400])]
    import pandas as pd

    frame = pd.DataFrame(rows)
    page = thinstack.report(frame, "text", by="store", about=["battery", "plot|story"], model=model)
    yield "report", page.to_dict()
    scored = thinstack.score_frame(frame, "text", model=model)
    yield "frame", json.loads(scored.to_json(orient="records"))
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        frame.to_csv(table, index_label="id")
        for kind in ("csv", "jsonl"):
            out = Path(folder) / f"out.{kind}"
            call = ["predict", "--input", str(table), "--text", "text", "--id", "id"]
            result = RUNNER.invoke(commands, [*call, "--output", "phrases", "--out", str(out)])
            yield kind, digest(out.read_bytes()) if out.is_file() else result.output


def docs() -> Iterator[tuple[str, Any]]:
    """Docs of spaCy after a round through bytes."""
    import spacy
    from spacy.tokens import Doc

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_sentiment")
    for doc in nlp.pipe(texts()[:200]):
        again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
        yield doc.text, [again._.polarity, again._.sentiment_label, *again.cats.values()]


def recipes() -> Iterator[tuple[str, Any]]:
    """The recipe that each table makes, without training."""
    from unittest import mock

    from thinstack.training import train_texts
    from thinstack.training.text_recipe import TableOptions

    with tempfile.TemporaryDirectory() as folder, mock.patch.object(train_texts, "run_recipe"):
        for name, content in TABLES.items():
            table, out = Path(folder) / name, Path(folder) / f"run-{name}"
            table.write_text(content, encoding="utf-8")
            console = Console(file=io.StringIO())
            train_texts.train_table(table, out, TableOptions(), console=console)
            recipe = (out / "recipe.toml").read_text("utf-8")
            yield name, recipe.replace(folder, "FOLDER").splitlines()


def public_names() -> Iterator[tuple[str, Any]]:
    """The public names, and the help page of each command."""
    from thinstack.cli import app as commands

    for module in PUBLIC:
        with contextlib.suppress(ImportError):
            names = vars(importlib.import_module(module)).get("__all__", ())
            yield module, sorted(names)
    for command in COMMANDS:
        result = RUNNER.invoke(commands, [command, "--help"])
        yield command, result.output.splitlines()


SECTIONS: Final[dict[str, Callable[[], Iterator[tuple[str, Any]]]]] = {
    section.__name__: section
    for section in (
        *(public_names, recipes, predictions, reports, docs, trained_weights, exported_graphs),
    )
}


@app.command()
def record(
    out: Path, only: Annotated[list[str] | None, typer.Option(help="Sections to record.")] = None
) -> None:
    """Write a record of this version."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
    found: Record = {}
    for name in only or SECTIONS:
        typer.echo(name, err=True)
        found[name] = dict(SECTIONS[name]())
    out.write_text(json.dumps(found, indent=1, ensure_ascii=False, default=str), "utf-8")


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Where two records differ, a line for each place."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            if key not in before or key not in after:
                yield f"{place}/{key}: only in {'before' if key in before else 'after'}"
            else:
                yield from differences(before[key], after[key], f"{place}/{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif isinstance(before, float) and isinstance(after, float):
        if not math.isclose(before, after, rel_tol=0, abs_tol=TOLERANCE):
            yield f"{place}: {before} became {after}"
    elif before != after:
        yield f"{place}: {str(before)[:120]} became {str(after)[:120]}"


@app.command()
def compare(before: Path, after: Path) -> None:
    """List what differs between two records. The exit code is 1 if anything does."""
    one, other = (json.loads(path.read_text("utf-8")) for path in (before, after))
    lines = sorted(differences(one, other))
    for line in lines:
        typer.echo(line)
    typer.echo(f"{len(lines)} differences", err=True)
    raise typer.Exit(bool(lines))


if __name__ == "__main__":
    app()
