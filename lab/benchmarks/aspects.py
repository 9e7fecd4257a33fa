"""What models say of the terms of SemEval-2014 task 4 (Pontiki et al. 2014), and which terms they
find, in raw text; on the rows that `python -m reproduce held-out` prints, which no model was
trained on, and on the reported half of the suite `aspects`.

    python lab/benchmarks/aspects.py --data FOLDER --model NAME=BUNDLE [--model ...] --out FILE

Several bundles of one NAME are seeds: the page has the mean and the deviation. A model of sentiment
finds no terms; what it says of a given term is the first phrase around it that is not neutral.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Final

import typer

import thinstack
from thinstack.core.scale import Scale
from thinstack.evaluate.accuracy import aspect_figures
from thinstack.evaluate.suite import AspectCase, CaseTerm, read_suite
from thinstack.evaluate.suite_evaluation import judged_cases
from thinstack.training.examples.set_aside import is_held_out

SETS: Final = ("restaurants", "laptops")
COLUMNS: Final = {
    "polarity_accuracy": "accuracy",
    "polarity_f1": "macro-F1",
    "mixed_accuracy": "both sides",
    "term_f1": "terms, F1",
    "aspect_f1": "terms with polarity, F1",
}
ModelOption = Annotated[list[str], typer.Option(help="NAME=BUNDLE.")]


def cases_of(file: Path) -> list[AspectCase]:
    """The held-out texts of a table of terms. A term that is labelled twice counts once."""
    terms: dict[str, dict[tuple[int, int], CaseTerm]] = defaultdict(dict)
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        if is_held_out(row["text"], 10):
            term = CaseTerm(row["start"], row["end"], row["label"])
            terms[row["text"]][term[:2]] = term
    return [
        AspectCase("", "reported", "", tuple(sorted(found.values())), text)
        for text, found in terms.items()
    ]


def figures(bundle: str, cases: Sequence[AspectCase]) -> dict[str, float | None]:
    """The figures of a bundle on some texts, read as raw text."""
    model = thinstack.load(bundle)
    scale = Scale.of(model.labels)
    judged = None if scale is None else judged_cases(model, cases, scale.sides)
    if judged is None:
        raise typer.BadParameter(f"{bundle}: expected a model of the sentiment of phrases")
    return aspect_figures(judged)


def row(name: str, seeds: Sequence[Mapping[str, float | None]]) -> str:
    """A row of the page: means over seeds, with the deviation of several."""
    cells = []
    for key in COLUMNS:
        values = [each[key] for each in seeds]
        known = [value for value in values if value is not None]
        spread = f" ± {stdev(known):.1f}" if len(known) > 1 else ""
        cells.append(f"{fmean(known):.1f}{spread}" if known else "-")
    return f"| {name} | {' | '.join(cells)} |"


def page(
    sets: Mapping[str, Sequence[AspectCase]], models: Mapping[str, list[str]]
) -> Iterator[str]:
    """The lines of the page, a table for each set."""
    yield from (
        "# Terms and their polarity",
        "",
        "In percent, from raw text, by `python lab/benchmarks/aspects.py`. *Both sides*: accuracy",
        "in texts with a positive and a negative term.",
    )
    for title, cases in sets.items():
        count = sum(len(case.terms) for case in cases)
        yield from ("", f"## {title}: {len(cases):,} texts, {count:,} terms", "")
        yield f"| | {' | '.join(COLUMNS.values())} |"
        yield f"|---|{'---|' * len(COLUMNS)}"
        for name, bundles in models.items():
            yield row(name, [figures(bundle, cases) for bundle in bundles])


def main(
    model: ModelOption,
    data: Annotated[Path, typer.Option(help="Folder that holds domains/.")],
    out: Annotated[Path | None, typer.Option(help="File for the page.")] = None,
) -> None:
    """Measure every model on every set, and write the page."""
    sets = {name: cases_of(data / f"domains/aspects-{name}.jsonl") for name in SETS}
    suite = [case for case in read_suite("aspects") if case.half == "reported"]
    sets["the suite aspects, reported half"] = suite
    models: dict[str, list[str]] = defaultdict(list)
    for named in model:
        name, _, bundle = named.partition("=")
        models[name].append(bundle)
    text = "\n".join(page(sets, models)) + "\n"
    if out is None:
        typer.echo(text)
    else:
        out.write_text(text, "utf-8")


if __name__ == "__main__":
    typer.run(main)
