"""Many texts that a reader of the page has put in: their themes, and phrases that mean the same."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

from thinstack.integrations.report.rows import ReportOptions, TextRow
from thinstack.integrations.search.phrase_index import PhraseIndex
from thinstack.integrations.themes.options import theme_options
from thinstack.integrations.themes.run import run_themes
from thinstack.runtime.predictor import Predictor

NEAREST: Final = 8
"""Phrases that are shown of a phrase."""

MOST_THEMES: Final = 5
"""Themes of each side that are shown."""

_BATCH: Final = 64

Turn = Callable[[], AbstractContextManager[object]]
"""Has the model while its context lasts."""


class Collection:
    """The themes and the phrases of some texts. The model gives vectors, and is had for a `turn` at
    a time. Raises InputError for a model without, and what `PhraseIndex.add` raises."""

    def __init__(self, texts: Sequence[str], predictor: Predictor, turn: Turn):
        self._index, self._turn = PhraseIndex(predictor), turn
        for first in range(0, len(texts), _BATCH):
            some = texts[first : first + _BATCH]
            with turn():
                self._index.add(some, range(first + 1, first + len(some) + 1))
        rows = [TextRow(f"text {place}", text) for place, text in enumerate(texts, 1)]
        with turn():
            themes = _themes(rows, predictor) if predictor.view.scale and len(self._index) else []
        self.summary = {"texts": len(texts), "phrases": len(self._index), "themes": themes}
        """What a page shows, as data ready for JSON."""

    def near(self, phrase: str) -> list[dict[str, Any]]:
        """The phrases that mean most nearly what a phrase means, the best first. Each has its
        `polarity` and how often it is mentioned (`count`), and of one mention the `sentence` and
        the number of the `text`. Raises InputError for a phrase without words."""
        with self._turn():
            hits = self._index.search(phrase, NEAREST)
        names = ("phrase", "sentence", "polarity", "count")
        return [{name: getattr(hit, name) for name in names} | {"text": hit.id} for hit in hits]


def _themes(rows: Sequence[TextRow], predictor: Predictor) -> list[dict[str, Any]]:
    options = theme_options(most=MOST_THEMES, quotes=1)
    themes, _ = run_themes(lambda: iter(rows), predictor, ReportOptions("the texts"), options)
    return [
        {"side": theme.side, "name": theme.title, "words": theme.words, "share": theme.share.value}
        | {"texts": theme.figures.texts, "quotes": [quote.text for quote in theme.quotes]}
        for theme in themes
    ]
