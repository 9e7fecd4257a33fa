"""What `POST /predict` of `thinstack serve` takes and answers; `openapi.json` describes both."""

import json
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from thinstack.errors import InputError, shown
from thinstack.runtime.result import Result

EXPECTED: Final = (
    'expected {"text": "..."} or {"texts": ["...", ...]} as JSON, with optional "phrases": '
    'true and "about": ["battery", ...]'
)
_WORDS: Final = re.compile(r"\w+|[^\w\s]")
PHRASES: Final = ("tree", "transitions", "nodes", "parts")
"""Keys of a sentence that it has on request only."""


class Request(NamedTuple):
    """What a client asks.

    Attributes:
        texts: the texts, in order.
        phrases: whether the answer has the phrases of each sentence.
        about: the terms that are asked about.
        several: whether the texts came as a list.
    """

    texts: list[str]
    phrases: bool
    about: list[str]
    several: bool

    @classmethod
    def parse(cls, body: bytes) -> "Request":
        """Read the body of a request. Raises InputError, which says what was expected."""
        asked = parsed(body)
        if not isinstance(asked, dict):
            raise InputError(f"{EXPECTED}, found {shown(asked, 60)}")
        several, phrases = "texts" in asked, asked.get("phrases", False)
        if several == ("text" in asked) or asked.keys() - {"text", "texts", "phrases", "about"}:
            raise InputError(f"{EXPECTED}, found the keys {', '.join(asked):.200}")
        texts: Any = asked["texts"] if several else [asked["text"]]
        about = asked.get("about", [])
        lists = (isinstance(one, list) and all(map(_is_text, one)) for one in (texts, about))
        if not (all(lists) and isinstance(phrases, bool)):
            raise InputError(f"{EXPECTED}, found {shown(asked, 60)}")
        return cls(texts, phrases, about, several)

    @property
    def words(self) -> int:
        """About how many words and marks the texts and terms have; one without any counts too."""
        asked = (*self.texts, *self.about)
        return sum(max(1, len(_WORDS.findall(text))) for text in asked)


def parsed(body: bytes) -> Any:
    """The JSON of a request. Raises InputError for a body that is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise InputError(f"{EXPECTED}, found no JSON") from None


def answer(results: Iterable[Result], request: Request) -> dict[str, Any]:
    """What the model says: `Result.to_dict` of a text, or `results` with one for each text."""
    answers = [_data(result, request) for result in results]
    return {"results": answers} if request.several else answers[0]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _data(result: Result, request: Request) -> dict[str, Any]:
    data = result.to_dict()
    if request.about:
        data["about"] = [aspect.to_dict() for aspect in result.about(*request.about)]
    if not request.phrases:
        for sentence in data["sentences"]:
            for key in PHRASES:
                sentence.pop(key, None)
    return data
