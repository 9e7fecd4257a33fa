"""`thinstack evaluate`: measures the accuracy of a model on labeled data."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer
from rich.console import Console

from thinstack.cli import options
from thinstack.cli.options import argument, option, print_json, print_table
from thinstack.cli.print_results import rounded
from thinstack.core.config import EvaluationSource, TreeSource
from thinstack.data.files.outputs import Output, check_output
from thinstack.data.tables.cell_text import csv_line
from thinstack.data.tables.dialects import holds_table, is_table
from thinstack.errors import DataError, InputError, escaped
from thinstack.evaluate.suite import AspectCase, Case, Half, halves, read_suite, suite_names

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor

ALL: Final = "all"
"""The name that means every suite that ships with thinstack."""


@dataclass(frozen=True)
class Suite:
    """The sentences to evaluate, and whether to list wrong predictions."""

    suite: str | None = option(
        "Instead of a file: evaluate on sentences or terms of known polarity. Use all, "
        f"the name of one suite ({', '.join(suite_names())}), or a table in the same format."
    )
    half: Half = option(
        "With --suite: which half to evaluate. reported: for figures that you publish. open: for "
        "texts that you may read. all: both halves.",
        default="reported",
    )
    list_wrong: Path | None = option(
        "Write the texts that the model gets wrong to this CSV file; for a table, with the phrase "
        "that decides each label. With --suite, requires --half open, because figures for "
        "texts that you have read do not generalize."
    )

    def output(self, used: Sequence[Path]) -> Output | None:
        """Return the checked file of --list-wrong, which may not replace one that is `used`."""
        return check_output(self.list_wrong, "--list-wrong", used) if self.list_wrong else None


def write_wrong(output: Output, columns: Sequence[str], rows: Sequence[Iterable[Any]]) -> None:
    """Write the wrong predictions as CSV, and report their number."""
    output.write("".join(map(csv_line, [columns, *rows])))
    print(escaped(f"wrong texts in {output.path}: {len(rows):,}"), file=sys.stderr)


def evaluate_on_suite(
    predictor: "Predictor", model: str, asked: Suite, source: TreeSource, *, as_json: bool
) -> None:
    """Print the metrics of a half of a suite and, on request, write the texts that are wrong."""
    from thinstack.evaluate.suite_evaluation import evaluate_suite

    suite, half = str(asked.suite), asked.half
    if asked.list_wrong and half != "open":
        raise InputError(
            f"--list-wrong works only with the open half, but the half is {half}: add --half open. "
            "Figures for texts that you have read do not generalize"
        )
    output = asked.output([predictor.bundle.path, *([] if suite == ALL else [Path(suite)])])
    figures: dict[str, dict[str, Any]] = {}
    wrong: dict[str, Sequence[Case | AspectCase]] = {}
    for name in suite_names() if suite == ALL else [suite]:
        sentences = halves(read_suite(name), half)
        if not sentences:
            raise InputError(f"{name}: the {half} half has no texts: choose another --half")
        figures[name], wrong[name] = evaluate_suite(predictor, sentences, source=source)
    if output:
        rows = [
            (name, case.id, case.kind, case.text, case.expected)
            for name, cases in wrong.items()
            for case in cases
        ]
        write_wrong(output, ("suite", "id", "kind", "text", "label"), rows)
    if as_json:
        results = {"suites": figures} if suite == ALL else figures[suite]
        print_json({"suite": suite, "half": half} | results)
        return
    from thinstack.evaluate.suite_evaluation import COLUMNS, TOTAL, suite_rows

    part = "both halves" if half == "all" else f"{half} half"
    what = "all suites" if suite == ALL else f"the suite {suite}"
    lines = list[Sequence[str]]()
    for name in figures:
        total = {TOTAL: Path(name).stem}  # the total of a suite has its name
        for row in suite_rows({name: figures[name]}):
            lines.append((total.get(row.name, f"  {row.name}"), *row.cells))
        lines.append(())  # a line between suites
    print_table(f"{model} on {what}, {part}", ("", *COLUMNS), lines)


_FIGURES = (
    ("sentences", "root_accuracy", "roots"),
    ("sentences, binary", "root_binary_accuracy", "binary_roots"),
    ("phrases", "phrase_accuracy", "phrases"),
    ("phrases, binary", "phrase_binary_accuracy", "binary_phrases"),
    ("calibration error, sentences", "root_calibration_error", "roots"),
    ("calibration error, phrases", "phrase_calibration_error", "phrases"),
    ("F1 of spans", "span_f1", "spans"),
    ("F1 of spans, whole sentences too", "span_f1_with_root", "spans_with_root"),
    ("identical trees", "exact_trees", "trees"),
)
"""Metrics of an evaluation: the name to print, the key, and the key of the number of cases."""

_COLUMNS: Final = tuple(one.name for one in fields(options.ColumnSettings))
_REFUSED: Final[dict[str, tuple[str, ...]]] = {
    "a suite": (*_COLUMNS, "raw_text", "relabel", "tree_format"),
    "a table": ("half", "raw_text", "tree_format"),
    "a treebank": (*_COLUMNS, "half", "list_wrong"),
}
"""Options that do not apply, by the type of evaluation data."""


@options.grouped
def evaluate(
    *,
    model: str | None = argument(
        "The model: a bundle's name, folder or hf:// address.  [default: sentiment]", default=None
    ),
    file: str | None = argument(
        "A treebank, or a table of texts and labels (.csv, .tsv, .json, .jsonl, .parquet; also "
        ".gz).",
        default=None,
    ),
    named: str | None = option("The model, as an option instead of an argument.", "--model", "-m"),
    suite: Suite,
    source: EvaluationSource | None = option(
        "Where the trees come from. gold: the treebank. auto: the same as in training. self: "
        "the model's own parser. balanced, left, right: trees of this shape.  [default: gold for "
        "treebanks, auto for tables]"
    ),
    raw_text: bool = option(
        "For a treebank: join the words of each sentence and parse the raw text.",
        "--raw-text/--no-raw-text",
        default=False,
    ),
    tree_format: str = option(
        "For a treebank: the plugin that reads its trees.", "--format", default="brackets.v1"
    ),
    columns: options.ColumnSettings,
    relabel: list[str] | None = option(
        "Map labels of the file to the model's labels, such as 1=positive,0=negative. An empty "
        "target, such as 3=, drops the texts with that label."
    ),
    classes: options.ClassesOption = None,
    aggregation: options.AggregationOption = None,
    as_json: options.JsonOption = False,
    running: options.Running,
) -> None:
    """Measure a model's accuracy on labeled data.

    On a table of texts, prints accuracy, macro F1 and a confusion matrix. On a treebank, prints
    accuracy for whole sentences and for phrases, with all classes and with two (without neutral).
    With trees other than the treebank's, adds the F1 of spans (two words or more) and the share of
    identical trees (three words or more). The expected calibration error, in percentage points,
    compares predicted probabilities with accuracy. With --suite, evaluates on built-in
    sentences instead of a file.
    """
    from thinstack.evaluate.treebank_evaluation import evaluate_file

    renamed = _renamed(relabel or ())
    model, file = _model_and_file((model, file), named, suite.suite)
    view: dict[str, Any] = {"classes": classes, "aggregation": aggregation}
    predictor = running.load(model, **view)
    predictor.view.need_labels("evaluate")
    predictor.check_reads_texts()
    brackets = tree_format == "brackets.v1"
    if brackets and file.lower().endswith(".spacy"):
        problem = "expected a table or a treebank, found a file of Docs"
        raise InputError(f"{file}: {problem}: save the texts and labels as a table, such as CSV")
    of_table = suite.suite is None and (
        bool(options.chosen(columns, "separator", "header"))
        or is_table(file)
        or (brackets and holds_table(file))
    )
    kind = "a suite" if suite.suite is not None else "a table" if of_table else "a treebank"
    asked = [*options.chosen(suite), *options.chosen(columns), *["raw_text"] * raw_text]
    asked += [*["relabel"] * bool(relabel), *["tree_format"] * (not brackets)]
    if refused := [name for name in asked if name in _REFUSED[kind]]:
        raise InputError(f"{options.listed(refused)}: does not work with {kind}: remove it")
    if source == "gold" and (suite.suite is not None or of_table):
        raise InputError(
            f"{suite.suite or file}: expected gold trees, found only texts: choose another "
            "source, such as --source auto"
        )
    for_texts: TreeSource = "auto" if source is None or source == "gold" else source
    if suite.suite is not None:
        evaluate_on_suite(predictor, model, suite, for_texts, as_json=as_json)
        return
    if of_table:
        output = suite.output([predictor.bundle.path, Path(file)])
        settings = {"source": for_texts, "relabel": renamed}
        _evaluate_texts(predictor, file, columns, settings, output, as_json=as_json)
        return
    read = None
    if not brackets:
        from thinstack.plugins.manager import manager

        read = manager().find("reader", tree_format).plugin.trees
    source = source or "gold"
    figures = evaluate_file(
        predictor, file, source=source, text=raw_text, read=read, relabel=renamed
    )
    if as_json:
        print_json(figures)
        return
    from thinstack.evaluate.figures import percent

    rows = [
        (name, percent(figures[key]), f"{figures[count]:,}")
        for name, key, count in _FIGURES
        if figures.get(count) or key == "root_accuracy"
    ]
    title = f"{model} on {file}, source {source}{', raw text' if raw_text else ''}"
    print_table(title, ("", "percent", "cases"), rows)


def _model_and_file(
    arguments: Iterable[str | None], named: str | None, suite: str | None
) -> tuple[str, str]:
    """Return the bundle and the file that the arguments name; the file is "" with a suite."""
    names = [name for name in arguments if name is not None]
    files = [] if suite else names[-1:]
    models = [*names[: len(names) - len(files)], *([] if named is None else [named])]
    if not (files or suite) or len(models) > 1:
        what = "no file with --suite" if suite else "a file"
        raise typer.BadParameter(
            f"expected {what} and at most one model, found {escaped(' '.join(names)) or 'nothing'}"
        )
    return (models or ["sentiment"])[0], (files or [""])[0]


def _renamed(relabel: Iterable[str]) -> dict[str, str]:
    """Parse the new name of each label in options such as "1=positive,0=negative". Raises
    InputError for an option without "=", and for a label with two names."""
    classes: dict[str, str] = {}
    for pair in (pair for pairs in relabel for pair in pairs.split(",")):
        name, equals, target = (part.strip() for part in pair.rpartition("="))
        if not (name and equals):
            expected = "expected LABEL=CLASS, separated by commas"
            raise InputError(f"--relabel: {expected}, found {pair!r:.60}")
        if classes.setdefault(name, target) != target:
            raise InputError(f"--relabel: {name!r:.60} has two classes: remove one")
    return classes


def _evaluate_texts(
    predictor: "Predictor",
    file: str,
    columns: options.ColumnSettings,
    settings: dict[str, Any],
    output: Output | None,
    *,
    as_json: bool,
) -> None:
    from thinstack.evaluate.accuracy import NAMES
    from thinstack.evaluate.figures import figure_names, percent
    from thinstack.evaluate.text_evaluation import Wrong, evaluate_table
    from thinstack.integrations.show.terminal import WIDEST, matrix

    notes, wrong = list[str](), list[Wrong]()
    skipped: list[DataError] | None = [] if columns.skip_bad else None
    figures, counts = evaluate_table(
        predictor,
        columns.table(file),
        text=columns.text_column,
        label=columns.label_column,
        skipped=skipped,
        notes=notes,
        wrong=wrong if output else None,
        **settings,
    )
    if output:
        write_wrong(output, Wrong._fields, list(map(rounded, wrong)))
    if skipped:
        notes.append(f"skipped {len(skipped):,} unusable rows, such as {skipped[0]}")
    for note in notes:
        print(f"note: {escaped(note)}", file=sys.stderr)
    if as_json:
        print_json(figures | {"confusion": counts.tolist()})
        return
    names = figure_names(NAMES, predictor.labels) | {"calibration_error": "calibration error"}
    rows = [(name, percent(figures[key])) for key, name in names.items()]
    print_table(f"{figures['texts']:,} texts", ("", "percent"), rows)
    if len(predictor.labels) <= WIDEST:
        Console().print(matrix(counts, predictor.labels))
