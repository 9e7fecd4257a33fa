"""The task of classes of phrases, whose characters are in a table."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from thinstack.data.tables.table_rows import COLUMN_ADVICE, TableRow
from thinstack.text.sentences import Sentence, Splitter, splitter
from thinstack.training.recipe import Recipe
from thinstack.training.tasks.texts import Texts
from thinstack.training.tasks.texts.reading import word_span

__all__ = ["Spans"]

ENDS: Final = "start", "end"
SPAN_ADVICE: Final = f"{COLUMN_ADVICE}; the columns of spans must be named 'start' and 'end'"


class Spans(Texts):
    """Classes of phrases. Each row of a table labels the characters from `start` to `end` in its
    text."""

    name: ClassVar[str] = "spans.v1"
    summary: ClassVar[str] = "classes of phrases, given by their characters in a table"
    defaults: ClassVar = Texts.defaults._replace(
        head={"name": "node_classifier.v1", "options": {"hidden": 0, "dropout": 0.6}}
    )
    starts: ClassVar[tuple[str, ...]] = ("sentiment",)
    advice: ClassVar[str] = SPAN_ADVICE
    repeats: ClassVar[bool] = True

    span_group: str | None = None
    """For a .spacy file: the span group with the phrases."""

    @property
    def columns_read(self) -> list[str]:
        return [*super().columns_read, *ENDS]

    def doc_bin_options(self) -> dict[str, Any]:
        return {"span_group": self.span_group}

    def splitter(self) -> Splitter:
        return splitter(sentences=False)

    def words(self, row: TableRow, sentences: Sequence[Sentence]) -> list[Sequence[str]]:
        text, (start, end) = row.values[self.text_column], (row.values[name] for name in ENDS)
        first, last = word_span(text, sentences[0], start, end)
        return [sentences[0].words[first:last]]

    @property
    def evaluate_options(self) -> None:
        """None, because `thinstack evaluate` measures whole texts."""
        return None

    def advice_after(self, bundle: Path, recipe: Recipe) -> Iterator[str]:
        *_, last = super().advice_after(bundle, recipe)
        yield last
