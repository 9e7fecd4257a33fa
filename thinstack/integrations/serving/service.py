"""Requests and responses of `thinstack serve`, as described by `openapi.json`; and the data for its
page about one text and about many."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import accumulate
from typing import Any, Final, NamedTuple

from thinstack.errors import InputError, shown
from thinstack.integrations.report.reading import NothingReadError
from thinstack.integrations.search.phrase_index import PhraseIndex
from thinstack.integrations.themes.run import themes
from thinstack.integrations.themes.themes import Theme
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import MOST_WORDS, Result

EXPECTED: Final = (
    'expected {"text": "..."} or {"texts": ["...", ...]} as JSON, with optional "phrases": '
    'true and "about": ["battery", ...]'
)
_WORDS: Final = re.compile(r"\w+|[^\w\s]")
_PHRASES: Final = ("tree", "transitions", "nodes", "parts")  # keys of a sentence on request


class Request(NamedTuple):
    """A request.

    Attributes:
        texts: the texts, in order.
        phrases: whether to return the phrases of each sentence.
        about: the terms to report on.
        several: whether the texts were sent as a list.
    """

    texts: list[str]
    phrases: bool
    about: list[str]
    several: bool

    @classmethod
    def parse(cls, body: bytes) -> "Request":
        """Parse the body of a request. Raises InputError, which reports what was expected."""
        asked = parsed(body)
        if not isinstance(asked, dict):
            raise InputError(f"{EXPECTED}, found {shown(asked, 60)}")
        several, phrases = "texts" in asked, asked.get("phrases", False)
        if several == ("text" in asked) or asked.keys() - {"text", "texts", "phrases", "about"}:
            raise InputError(f"{EXPECTED}, found the keys {', '.join(asked):.200}")
        texts: Any = asked["texts"] if several else [asked["text"]]
        about = asked.get("about", [])
        if not (_are_texts(texts) and _are_texts(about) and isinstance(phrases, bool)):
            raise InputError(f"{EXPECTED}, found {shown(asked, 60)}")
        return cls(texts, phrases, about, several)

    @property
    def words(self) -> int:
        """Approximate number of words and marks of the texts and terms, at least one each."""
        asked = (*self.texts, *self.about)
        return sum(max(1, len(_WORDS.findall(text))) for text in asked)


def parsed(body: bytes) -> Any:
    """Parse the JSON of a request. Raises InputError for an invalid body."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise InputError(f"{EXPECTED}, found no JSON") from None


def answer(results: Iterable[Result], request: Request) -> dict[str, Any]:
    """Return the response: `Result.to_dict` of a text, or `results` with one per text."""
    answers = list[dict[str, Any]]()
    for result in results:
        answers.append(data := result.to_dict())
        if request.about:
            data["about"] = [aspect.to_dict() for aspect in result.about(*request.about)]
        for sentence in () if request.phrases else data["sentences"]:
            for key in _PHRASES:
                sentence.pop(key, None)
    return {"results": answers} if request.several else answers[0]


def _are_texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def text_data(result: Result, terms: Sequence[str] = ()) -> dict[str, Any]:
    """Return the data of an English text for the page. `label` is the number of a class, or -1 if
    the model is uncertain. `highlights` are the most opinionated phrases. `aspects` are the
    opinions about `terms`, or else about those that the model finds; None if it finds none. `svg`
    draws the trees, and is None for more than MOST_WORDS words. `html` is the colored text."""
    finds = result.view.no_term is not None
    aspects = result.about(*terms) if terms else result.aspects if finds else None
    labels = result.view.labels
    opinions = [
        {"text": one.text, "label": _number(one.label, [*one.scores])}
        | {"because": None if one.because is None else one.because.text}
        for one in aspects or ()
    ]
    words = sum(len(sentence.words) for sentence in result.sentences)
    return {
        "label": _number(result.label, labels),
        "polarity": result.polarity,
        "scores": [*result.scores.values()],
        "highlights": [
            {"text": phrase.text, "label": _number(phrase.label, labels)}
            for phrase in result.highlights()
        ],
        "aspects": None if aspects is None else opinions,
        "sentences": [_sentence_data(sentence) for sentence in result.sentences],
        "svg": result.svg() if words <= MOST_WORDS else None,
        "html": result.html(),
    }


def _sentence_data(sentence: Prediction) -> dict[str, Any]:
    """Convert a sentence and its scored `nodes`. They start and end in UTF-16 units of its text, as
    in JavaScript."""
    data = sentence.to_dict()
    units = [0, *accumulate(1 + (character > "\uffff") for character in sentence.text)]
    nodes = [
        {
            "start": units[node["start"]],
            "end": units[node["end"]],
            "label": _number(node["label"], sentence.labels),
            "scores": [*node["scores"].values()],
        }
        for node in data["nodes"]
    ]
    return {
        "text": sentence.text,
        "words": [*sentence.words],
        "transitions": data["transitions"],
        "nodes": nodes,
    }


def _number(label: str | None, labels: Sequence[str]) -> int:
    """Return the number of a class, -1 if the model is uncertain."""
    return -1 if label is None else labels.index(label)


_NEAREST: Final = 8  # similar phrases that are shown
_MOST_THEMES: Final = 5  # themes per side that are shown
_BATCH: Final = 64

Turn = Callable[[], AbstractContextManager[object]]
"""Locks the model while its context is active."""


class Collection:
    """The themes and phrases of some texts. Locks the model for one `turn` at a time. Raises
    InputError for a model without vectors, and what `PhraseIndex.add` raises."""

    def __init__(self, texts: Sequence[str], predictor: Predictor, turn: Turn):
        self._index, self._turn = PhraseIndex(predictor), turn
        for first in range(0, len(texts), _BATCH):
            some = texts[first : first + _BATCH]
            with turn():
                self._index.add(some, range(first + 1, first + len(some) + 1))
        topics = list[Theme]()
        if texts and predictor.view.scale:
            with turn(), suppress(NothingReadError):  # no text has words, or is in English
                topics += themes(texts, model=predictor, most=_MOST_THEMES, quotes=1)
        data = [
            {
                "side": theme.side,
                "name": theme.title,
                "words": theme.words,
                "share": theme.share.value,
                "texts": theme.figures.texts,
                "quotes": [quote.text for quote in theme.quotes],
            }
            for theme in topics
        ]
        self.summary = {"texts": len(texts), "phrases": len(self._index), "themes": data}
        """Data for the page, JSON-serializable."""

    def near(self, phrase: str) -> list[dict[str, Any]]:
        """Return the phrases closest in meaning to a phrase, the best first. Each has its
        `polarity`, the number of mentions (`count`), and of one mention the `sentence` and the
        number of the `text`. Raises InputError for a phrase without words."""
        with self._turn():
            hits = self._index.search(phrase, _NEAREST)
        names = ("phrase", "sentence", "polarity", "count")
        return [{name: getattr(hit, name) for name in names} | {"text": hit.id} for hit in hits]
