"""A lesson of texts that have a label or a rating, such as reviews with stars."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Final, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from thinstack.bundle import open_bundle
from thinstack.core import Tree
from thinstack.data.tables.alike import likeness
from thinstack.data.tables.cell_text import Classes
from thinstack.data.tables.table import Table
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.errors import ConfigError, DataError, shown
from thinstack.runtime.predictor import Predictor
from thinstack.text.sentences import splitter
from thinstack.training.examples.set_aside import is_held_out
from thinstack.training.lesson import Lesson, Treebank
from thinstack_lab.lessons.row_sets import NOTHING, Band, check_apart, places_of, sets_of_labels

__all__ = ["Rated"]

ADVICE: Final = "name the columns with text_column and label_column of the lesson"

Words = tuple[str, ...]
Set = tuple[int, ...]


class _Row(NamedTuple):
    """A row of a table: its text, its label, and where it stands."""

    text: str
    label: str
    place: str


class Rated(Lesson):
    """Texts of tables, each with a label or a rating that says which classes it may have. "5 stars"
    may be very positive, and "positive" positive or very positive.

    The loss of a whole text is minus the log of the probability that it has one of these classes. A
    teacher shares that out among them, and labels the phrases too. Without a teacher, phrases have
    no label.
    """

    name: ClassVar[str] = "rated.v1"
    summary: ClassVar[str] = "texts with labels, stars or ratings"
    taught: ClassVar[bool] = True
    soft: ClassVar[bool] = True

    tables: tuple[str, ...] = Field(
        min_length=1,
        description="Tables of texts (.csv, .tsv, .json, .jsonl, .parquet), in the folder of the "
        "data or beside the recipe. Rows of one text count once, and not at all if they differ.",
    )
    text_column: str = Field(default="text", description="The column of the texts.")
    label_column: str = Field(
        default="label", description="The column of their labels, stars or ratings."
    )
    sets: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="The classes of the model that each label may mean. Without any, the labels "
        "are a scale of sentiment, such as stars; of a model with other classes than those of "
        "SST, they are these.",
    )
    bands: tuple[Band, ...] = Field(
        default=(),
        description="In place of `sets`, for ratings: the `classes` of each band of numbers, which "
        "is `at_least` one number, `below` another, or both. Ratings in no band are left out.",
    )
    left_out: tuple[str, ...] = Field(default=(), description="Labels whose texts are left out.")
    held_out: int | None = Field(
        default=None,
        gt=1,
        description="With 10, a tenth of the texts is never shown, chosen by their letters; "
        "`python -m reproduce held-out` prints it.",
    )
    share: float = Field(
        default=1.0, gt=0, le=1, description="The share of the texts that is taken, at random."
    )
    skip_bad: bool = Field(
        default=False,
        description="Leave out rows that cannot be used, such as one without a text. Otherwise the "
        "first one ends the run.",
    )
    max_words: int = Field(default=60, gt=0, description="Texts with more words are left out.")
    parser: str | None = Field(
        default=None,
        description="Name or folder of the bundle that makes their trees; by default that of the "
        "teacher.",
    )

    @model_validator(mode="after")
    def _sets_are_sets(self) -> Self:
        if self.sets and self.bands:
            raise ValueError("expected sets or bands, found both; leave one out")
        if empty := [label for label, classes in self.sets.items() if not classes]:
            raise ValueError(
                f"sets: expected a class or more of each label, found none of {empty[0]!r:.60}; "
                "to leave its texts out, name it in left_out"
            )
        check_apart(self.bands)
        return self

    @property
    def files(self) -> tuple[str, ...]:
        """The tables."""
        return self.tables

    @property
    def bundles(self) -> tuple[str, ...]:
        """The parser, if it has one of its own."""
        return () if self.parser is None else (self.parser,)

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        """A tree for each text that is learnt from, with the set of its root.

        Raises DataError for a table that cannot be read or from which nothing is learnt. Raises
        ConfigError for labels without a set, wrong sets, and a lesson without a parser.
        """
        if self.parser is None and treebank.parse is None:
            raise ConfigError(
                f"lessons: {self.name}: expected what makes trees of its texts; name a bundle that "
                'parses, such as parser = "sentiment", or a [teacher]'
            )
        texts = self._texts(treebank)
        if self.share < 1:
            number = max(1, round(self.share * len(texts)))
            texts = [texts[place] for place in sorted(draw.permutation(len(texts))[:number])]
        parsed = self._parsed([words for sentences, _ in texts for words in sentences], treebank)
        trees = map(LabelledTree.unlabelled, parsed)
        return [
            LabelledTree.text([next(trees) for _ in sentences])._replace(root_set=classes)
            for sentences, classes in texts
        ]

    def _texts(self, treebank: Treebank) -> list[tuple[list[Words], Set]]:
        """The sentences of each text that may be learnt from, and its set. Says how many there are
        of each set, and how many are left out for what."""
        bad: list[DataError] | None = [] if self.skip_bad else None
        paths = [self.path(name, treebank.folders) for name in self.tables]
        rows = [row for path in paths for row in self._rows(path, bad)]
        sets = self._sets(rows, treebank.labels)
        known: dict[str, tuple[str, set[Set]]] = {}
        for row in rows:
            known.setdefault(likeness(row.text), (row.text, set()))[1].add(sets[row.label])
        aside = {_lowered(words) for words in treebank.aside}
        left, texts = Counter({"unusable": len(bad)} if bad else {}), []
        cut = splitter()(text for text, _ in known.values())
        for sentences, (text, found) in zip(cut, known.values(), strict=True):
            words = [tuple(sentence.words) for sentence in sentences]
            reason = self._why_not(text, words, found, aside)
            if not reason and len(words) > 1 and not treebank.joins:
                reason = "of several sentences"
            if reason:
                left[reason] += 1
            else:
                texts.append((words, found.pop()))
        said = ", ".join(f"{count:,} {reason}" for reason, count in left.most_common())
        where = f"{self.name}: {', '.join(self.tables)}"
        if not texts:
            raise DataError(f"{where}: expected texts to learn from, found none; left out: {said}")
        counts = Counter(classes for _, classes in texts)
        listed = ", ".join(
            f"{counts[classes]:,} {' or '.join(treebank.labels[each] for each in classes)}"
            for classes in sorted(counts)
        )
        treebank.say(f"{where}: {listed}" + (f"; left out: {said}" if said else ""))
        return texts

    def _rows(self, path: Path, bad: list[DataError] | None) -> Iterator[_Row]:
        classes = Classes(self.label_column, {*self.sets, *self.left_out})
        columns = [self.text_column, self.label_column]
        rows = Table(path).rows(columns, skipped=bad, classes=classes, advice=ADVICE)
        for row in rows:
            text, label = (row.values[column] for column in columns)
            yield _Row(text, label, f"{path}:{row.line}")

    def _sets(self, rows: Sequence[_Row], labels: Sequence[str]) -> dict[str, Set]:
        """The set of each label or rating of the rows."""
        where = f"lessons: {self.name}: {', '.join(self.tables)}"
        if not self.bands:
            counts, settings = Counter(row.label for row in rows), (self.sets, self.left_out)
            column = self.label_column
            return sets_of_labels(counts, *settings, labels, column=column, where=where)
        bands = [(band.ends, places_of(band.classes, labels, where)) for band in self.bands]
        sets = dict.fromkeys(self.left_out, NOTHING)
        for row in rows:
            if row.label not in sets:
                rating = _number(row, self.label_column)
                inside = [classes for (least, end), classes in bands if least <= rating < end]
                sets[row.label] = inside[0] if inside else NOTHING
        return sets

    def _why_not(
        self, text: str, sentences: Sequence[Words], sets: set[Set], aside: set[Words]
    ) -> str:
        """Why a text is left out; "" for one to learn from."""
        if len(sets) > 1:
            return "with different labels"
        if sets == {NOTHING}:
            return "in no band" if self.bands else "of labels in left_out"
        if self.held_out is not None and is_held_out(text, self.held_out):
            return "held out"
        if not sentences:
            return "without words"
        if any(_lowered(words) in aside for words in sentences):
            return "kept for measuring"
        if sum(map(len, sentences)) > self.max_words:
            return f"longer than {self.max_words} words"
        return ""

    def _parsed(self, sentences: Sequence[Words], treebank: Treebank) -> list[Tree]:
        if self.parser is None:
            assert treebank.parse is not None, "`trees` has looked"
            return treebank.parse(sentences)
        bundle = Predictor(open_bundle(self.parser))
        if not bundle.config.parses:
            raise ConfigError(
                f"lessons: {self.name}, parser: expected a bundle that parses, which {self.parser} "
                "does not; name one, such as sentiment"
            )
        steps = [one.transitions for one in bundle.trees_and_scores(sentences, "self")]
        return list(map(Tree.from_transitions, steps, sentences))


def _number(row: _Row, column: str) -> float:
    try:
        return float(row.label)
    except ValueError:
        raise DataError(
            f"{row.place}: expected a number in the column {column!r}, for bands, found "
            f"{shown(row.label, 60)}"
        ) from None


def _lowered(words: Sequence[str]) -> Words:
    return tuple(word.lower() for word in words)
