"""`python -m reproduce contrast` and `checklist`: a model of sentiment on two public test sets, for
whoever has downloaded them. No model was trained or chosen on either."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from thinstack.data.tables.table import Table
from thinstack.data.trees.text_files import read_lines
from thinstack.errors import DataError, InputError
from thinstack.runtime import Predictor

COLUMNS: Final = ("Sentiment", "Text")
POLARITIES: Final = ("negative", "neutral", "positive")


class ContrastFigures(NamedTuple):
    """Accuracy in percent on the original reviews, on their contrasts, and on both of a pair."""

    pairs: int
    original: float
    contrast: float
    both: float


def contrast_figures(model: Predictor, original: Path, contrast: Path) -> ContrastFigures:
    """The figures of a model of two classes on the IMDb contrast sets (Gardner et al. 2020): two
    files of tab-separated rows with a header, in the same order.

    Raises DataError for files that are not such tables, or have different numbers of rows.
    """
    right = [_right(model, path) for path in (original, contrast)]
    if len(right[0]) != len(right[1]):
        raise DataError(
            f"{contrast}: expected {len(right[0]):,} rows, as {original} has, found "
            f"{len(right[1]):,}. Use both files of one split."
        )
    both = [first and second for first, second in zip(*right, strict=True)]
    shares = (100 * sum(marks) / len(marks) for marks in (*right, both))
    return ContrastFigures(len(both), *shares)


def _right(model: Predictor, path: Path) -> list[bool]:
    """Whether the model gives each text of a file its label."""
    advice = "the columns are Sentiment and Text"
    rows = [tuple(row.values.values()) for row in Table(path).rows(COLUMNS, advice=advice)]
    labels = [str(label).lower() for label, _ in rows]
    if odd := set(labels) - {"negative", "positive"}:
        raise DataError(f"{path}: expected Negative or Positive, found {min(odd)!r:.60}")
    results = model.stream(str(text) for _, text in rows)
    return [result.label == label for result, label in zip(results, labels, strict=True)]


def checklist_lines(model: Predictor, texts: Path) -> Iterator[str]:
    """For each text of CheckList's file `tests_n500` (Ribeiro et al. 2020), one on each line, a
    line as its suite reads it: 0 for negative, 1 for neutral or 2 for positive, and the three
    probabilities of a model of three classes."""
    for result in model.stream(read_lines(texts)):
        scores = [result.scores.get(label, float(label == "neutral")) for label in POLARITIES]
        place = POLARITIES.index(result.label or "neutral")
        yield " ".join([str(place), *(f"{score:.6f}" for score in scores)])


class Failures(NamedTuple):
    """The failures of a test of CheckList's suite."""

    test: str
    failed: int
    cases: int

    @property
    def rate(self) -> float:
        """Failures in percent."""
        return 100 * self.failed / self.cases if self.cases else 0.0


def suite_failures(suite: Path, predictions: Path, tests: Sequence[str]) -> list[Failures]:
    """The failures that CheckList's suite, a pickle, finds in predictions; of these `tests` only,
    if some are named. A pickle runs code: use the file of CheckList's authors.

    Raises InputError without the package `checklist`, and for a test that is not in the suite.
    """
    try:
        package = import_module("checklist.test_suite")
    except ModuleNotFoundError:
        raise InputError("--suite needs CheckList's package: pip install checklist") from None
    return failures_of(package.TestSuite.from_file(str(suite)), predictions, tests)


def failures_of(suite: Any, predictions: Path, tests: Sequence[str]) -> list[Failures]:
    """The failures of a suite that has been read."""
    suite.run_from_file(str(predictions), file_format="pred_and_softmax", overwrite=True)
    if unknown := [name for name in tests if name not in suite.tests]:
        raise InputError(
            f"--test: the suite has no test {unknown[0]!r}. It has {', '.join(suite.tests)}."
        )
    rows = []
    for name, test in suite.tests.items():
        if not tests or name in tests:
            run = len(test.data) if test.run_idxs is None else len(test.run_idxs)
            rows.append(Failures(name, len(test.fail_idxs()), run - len(test.filtered_idxs())))
    return rows
