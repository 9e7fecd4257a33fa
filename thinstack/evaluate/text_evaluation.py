"""Measure the accuracy of an ONNX bundle on the texts of a table, without torch, after mapping the
table's labels to the model's classes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.config import TreeSource
from thinstack.core.scale import NO_TERM, Scale, are_numbers, ordered
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.alike import meaning
from thinstack.data.tables.cell_text import Classes
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_rows import TableRow, listed
from thinstack.errors import DataError, InputError
from thinstack.evaluate.accuracy import confusion, text_figures
from thinstack.evaluate.figures import Figures
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result
from thinstack.runtime.why import turning

_ADVICE: Final = "remove such rows, or map the label with --relabel NAME=CLASS"


class Wrong(NamedTuple):
    """A text of a table that a model gets wrong.

    Attributes:
        line: its line in the table, from 1.
        label: its class in the table.
        predicted: the predicted class, and its `probability`, from 0 to 1.
        because: for each sentence of that class, the phrase that turns it, or the whole sentence if
            no phrase does.
    """

    line: int
    text: str
    label: str
    predicted: str
    probability: float
    because: str


def evaluate_table(
    predictor: Predictor,
    table: Table,
    *,
    text: str = "text",
    label: str = "label",
    source: TreeSource = "auto",
    relabel: Mapping[str, str] | None = None,
    notes: list[str] | None = None,
    skipped: list[DataError] | None = None,
    wrong: list[Wrong] | None = None,
) -> tuple[Figures, NDArray[np.int64]]:
    """Return the figures of `text_figures` for the columns `text` and `label` of a table, and the
    confusion matrix (C, C).

    Texts are read like a user's. Labels must map to the model's classes (`gold_labels`, which also
    documents `relabel`). If the predictor shows fewer classes (`View`), labels are merged in the
    same way, and texts of an omitted class do not count. The list `notes` receives sentences about
    how the table was read, and `wrong` the texts that the model gets wrong, most confident first.
    With the list `skipped`, which receives their errors, unusable rows are skipped.

    Raises DataError, with file and line, for an unusable row or a label that maps to no class, and
    InputError for an invalid `relabel`.
    """
    renamed, path = relabel or {}, table.path
    meant = Classes(label, (*predictor.config.labels, *renamed), _ADVICE)

    rows = list(table.rows([text, label], classes=meant, skipped=skipped))
    classes, lines = gold_labels(rows, label, predictor, renamed, path)
    if not any(place >= 0 for place in classes.values()):
        shown = ", ".join(predictor.labels)
        raise DataError(f"{path}: expected texts with the classes {shown}, found none")
    if {"start", "end"} <= {*table.columns}:
        lines.append("the columns start and end were ignored: accuracy is measured on whole texts")
    if notes is not None:
        notes.extend(lines)
    rows, scores = _scored(rows, text, predictor, source, path, skipped)
    places = np.array([classes[row.values[label]] for row in rows], np.int64)
    predicted = predictor.view.best(scores)
    if wrong is not None:
        missed = np.flatnonzero((places >= 0) & (places != predicted))
        sure = scores[missed, predicted[missed]]
        missed = missed[np.argsort(-sure, kind="stable")]
        results = predictor.stream((rows[row].values[text] for row in missed), source=source)
        for row, result in zip(missed.tolist(), results, strict=True):
            label, best = (predictor.labels[n] for n in (places[row], predicted[row]))
            line, probability = rows[row].line, float(scores[row, predicted[row]])
            because = "; ".join(_deciding(result, best))
            wrong.append(Wrong(line, result.text, label, best, probability, because))
    counted = places >= 0
    scores, predicted, places = scores[counted], predicted[counted], places[counted]
    matrix = confusion(predicted, places, len(predictor.labels))
    return text_figures(scores, places, predictor.labels, predicted), matrix


def _scored(
    rows: Sequence[TableRow],
    text: str,
    predictor: Predictor,
    source: TreeSource,
    path: FilePath,
    skipped: list[DataError] | None,
) -> tuple[list[TableRow], NDArray[np.floating]]:
    """Return the rows whose `text` has words, and the scores (T, C) of these texts. The list
    `skipped` receives the errors of the others; without it, the first is raised."""
    read, scores = list[TableRow](), list[list[float]]()
    results = predictor.stream((row.values[text] for row in rows), source=source)
    for row, result in zip(rows, results, strict=True):
        if result.sentences:
            read.append(row)
            scores.append([*result.scores.values()])
            continue
        expected = f"expected a text with words in {text!r}"
        problem = DataError(f"{path}:{row.line}: {expected}, found {result.text!r:.60}")
        if skipped is None:
            raise problem
        skipped.append(problem)
    return read, np.array(scores).reshape(-1, len(predictor.labels))


def _deciding(result: Result, label: str) -> Iterator[str]:
    """Iterate over the deciding phrases of sentences with a text's label, or of the nearest one."""
    sentences = [one for one in result.sentences if one.label == label]
    for sentence in sentences or [max(result.sentences, key=lambda one: one.scores[label])]:
        whole = len(sentence.parts) < 2 and bool(sentence.transitions.size)
        phrase = turning(sentence.why()) if whole else None
        yield phrase.text if phrase else sentence.text


def text_scores(
    predictor: Predictor, texts: Iterable[str], *, source: TreeSource, where: FilePath
) -> NDArray[np.floating]:
    """Return the scores (T, C) of texts, as in `Result.scores`. Messages start with `where`. Raises
    DataError for a text without words."""
    rows = []
    for number, result in enumerate(predictor.stream(texts, source=source)):
        if not result.sentences:
            raise DataError(f"{where}: text {number} has no words; remove it")
        rows.append([*result.scores.values()])
    return np.array(rows).reshape(-1, len(predictor.labels))


MAX_LISTED = 8
"""Maximum labels in a message."""


def gold_labels(
    rows: Iterable[TableRow],
    column: str,
    predictor: Predictor,
    relabel: Mapping[str, str],
    path: FilePath,
) -> tuple[dict[str, int], list[str]]:
    """Map the labels in a `column`: {label: index of the shown class}, or -1 if its texts do not
    count; and sentences about labels that were not used unchanged.

    A label is a class of the model or a shown one (`View`), ignoring case, spaces and number
    formats. Otherwise the labels are sentiment polarities ("pos"), or all are class numbers, as in
    treebanks. The first and the last number must then occur, because 1 to 4 may be stars, and zeros
    and ones two classes. `relabel`: {label: new label}, or "" to exclude its texts.

    Raises DataError, with file and line, for a label that maps to no class, and InputError for a
    `relabel` with a label that is not in the table or an unknown class.
    """
    first: dict[str, int] = {}
    for row in rows:
        first.setdefault(row.values[column], row.line)
    targets = {meaning(name): target for name, target in relabel.items()}
    if absent := [name for name in relabel if meaning(name) not in set(map(meaning, first))]:
        raise InputError(
            f"--relabel: {path} has no label {absent[0]!r:.60}; it has {listed(first, MAX_LISTED)}"
        )
    named = {name: relabel.get(name, targets.get(meaning(name), name)) for name in first}
    used = {name: target for name, target in named.items() if target}
    places = {name: _class_of(target, predictor) for name, target in used.items()}
    unknown = [name for name, place in places.items() if place is None]
    if wrong := [named[name] for name in unknown if meaning(name) in targets]:
        raise InputError(
            f"--relabel: expected one of the classes {', '.join(predictor.labels)}, or nothing "
            f"to exclude texts, found {wrong[0]!r:.60}"
        )
    if unknown:
        places |= _by_side(used, predictor) or _by_number(used, predictor)
    if unknown := [name for name, place in places.items() if place is None]:
        raise _unknown(unknown, first, column, predictor, path)
    classes = {name: place for name, place in places.items() if place is not None}
    classes |= dict.fromkeys([name for name in named if name not in used], -1)
    return classes, list(_notes(classes, predictor))


def _class_of(label: str, predictor: Predictor) -> int | None:
    """Return the index of the class of this name among those shown, -1 if it is omitted."""
    every, shown = predictor.config.labels, predictor.labels
    for alike in (str, meaning):
        for labels in (shown, every):
            places = [n for n, name in enumerate(labels) if alike(name) == alike(label)]
            if len(places) == 1:
                return places[0] if labels is shown else _shown(places[0], predictor)
    return None


def _shown(place: int, predictor: Predictor) -> int:
    return int(predictor.view.classes(np.array([place]))[0])


def _by_side(named: Mapping[str, str], predictor: Predictor) -> dict[str, int | None]:
    """Map labels of another sentiment scale to classes; empty if they are not one."""
    names, labels = list(named.values()), predictor.config.labels
    sentiment = [place for place, label in enumerate(labels) if label != NO_TERM]
    scale, classes = Scale.of(names), Scale.of([labels[place] for place in sentiment])
    if scale is None or classes is None or any(name.isdecimal() for name in names):
        return {}
    places: dict[str, int | None] = dict.fromkeys(names)
    for name, tone, side in zip(names, scale.tones, scale.sides, strict=True):
        for column, wanted in ((classes.sides, side), (classes.tones, tone)):  # prefer the tone
            if column.count(wanted) == 1:
                places[name] = _shown(sentiment[column.index(wanted)], predictor)
    return {name: places[target] for name, target in named.items()}


def _by_number(named: Mapping[str, str], predictor: Predictor) -> dict[str, int | None]:
    """Map labels that are class numbers to classes; empty if they are not."""
    texts = {name: meaning(target) for name, target in named.items()}
    if not all(text.isascii() and text.isdecimal() and len(text) < 4 for text in texts.values()):
        return {}
    numbers = {name: int(text) for name, text in texts.items()}
    every, shown = len(predictor.config.labels), len(predictor.labels)
    ends = min(numbers.values(), default=-1), max(numbers.values(), default=-1)
    scale = Scale.of(predictor.labels)
    in_order = scale is None or list(scale.polarity) == sorted(scale.polarity)
    if in_order and ends == (0, shown - 1):
        return dict(numbers)
    if in_order and ends == (0, every - 1):
        return {name: _shown(number, predictor) for name, number in numbers.items()}
    return {}


def _notes(classes: Mapping[str, int], predictor: Predictor) -> Iterable[str]:
    shown, every = predictor.labels, predictor.config.labels
    read = [
        f"{name} as {shown[place]}" if place >= 0 else f"{name} not at all"
        for name, place in classes.items()
        if name not in chain(every, shown)
    ]
    if read:
        more = f" and {len(read) - MAX_LISTED:,} more" if len(read) > MAX_LISTED else ""
        yield f"the table's labels were read: {', '.join(read[:MAX_LISTED])}{more}"
    scale = Scale.of(shown)
    if scale and len(shown) > 2:
        sides = {scale.tones[place] for place in classes.values() if place >= 0}
        if sides == {1, 3} and len(scale.merged(2) or ()) == 2:
            yield (
                "the labels have two classes and the model has more: use --classes 2 to compare two"
            )


def _unknown(
    unknown: Sequence[str],
    first: Mapping[str, int],
    column: str,
    predictor: Predictor,
    path: FilePath,
) -> DataError:
    """Return the error about labels that map to no class, with an example for --relabel: as many
    numbers as classes are paired in order, for the user to check."""
    labels, names = predictor.labels, ordered(unknown)
    advice = "map each of them to a class"
    if Scale.of(labels) is not None and len(unknown) == 2 and len(labels) > 2:
        advice = f"use --classes 2 if they are negative and positive, or {advice}"
    in_order = are_numbers(names) and len(names) == len(labels)
    pairs = zip(names, labels if in_order else ["CLASS"] * len(names), strict=True)
    example = ",".join(f"{name:.40}={label}" for name, label in list(pairs)[:MAX_LISTED])
    return DataError(
        f"{path}:{first[unknown[0]]}: expected one of the model's labels ({', '.join(labels)}) in "
        f"the column {column!r}, found {listed(unknown, MAX_LISTED)}; {advice}: --relabel "
        f"'{example}'"
    )
