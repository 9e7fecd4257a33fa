"""What `tree_sentiment` and `tree_aspects` store on a spaCy Doc: their results, under the name of
the component.

They are plain data that survives `to_bytes`, DocBin (`store_user_data=True`) and worker processes:

    {component name:
        {"labels": [C class names],
         "aggregation": "words", "sentences" or "tree", how the component reads a Doc,
         "root": (C,) float32, the probabilities of a Doc of several sentences that was read as one
                 tree; other Docs have no such key,
         "sentences": [{"start_char": first character, "end_char": last character + 1,
                        "words": [L words as the model read them],
                        "characters": (L, 2) int32, the characters [first, last + 1) of the Doc that
                        a word was made from, whole tokens as they then were,
                        "transitions": (2L - 1,) int8, the tree,
                        "scores": (2L - 1, C) float32, the probabilities of each phrase, or (1, C)
                        for the sentence only, from a model without phrases,
                        "parts": words [start, end) of the parts of a sentence that was read in
                        parts, a list of pairs; other sentences have no such key,
                        "terms": (2L - 1,) or (1,) float32, how probably each phrase is a term,
                        from a model of aspects; others leave no such key}, ...],
         "about": the terms that `tree_aspects` was asked for, or None for those that its model
                  finds; `tree_sentiment` leaves no such key}}

Arrays are stored as little-endian bytes. If the component abstains, `"abstain"` stands beside the
labels; so does `"polarity"`, the place of each class from -1 to 1, where their names do not say
it. If a class is left out, a sentence has a `"weight"`, as `Prediction` has it. A sentence
without words (white space only) has no entry.

`Doc._.tree_sentiment` is the entry of one component, with lists in place of bytes, so it can be
written as JSON. Its sentences also have `start`, `end` and `tokens`, the tokens in which these
characters now stand. Setting it, as `Doc.from_json` does, takes lists or bytes, and does not read
the tokens.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from thinstack.errors import UnknownNameError
from thinstack.integrations.spacy.checking import ARRAYS, checked_results, not_results
from thinstack.integrations.spacy.places import tokens_at
from thinstack.integrations.spacy.splitter import DocSentence
from thinstack.runtime.scored import Spans
from thinstack.runtime.views import View

DEFAULT_NAME: Final = "tree_sentiment"
ASPECTS_NAME: Final = "tree_aspects"
"""The components whose results are read if no name is given."""

# As spaCy names attributes of a Doc: it drops them where it takes a Doc apart (`Span.as_doc`).
_KEY = ("._.", "tree_sentiment_by_name", None, None)


class Annotated(NamedTuple):
    """A sentence with its tree and scores, see `runtime.predictor.Scored`."""

    sentence: DocSentence
    transitions: NDArray[np.int8]
    scores: NDArray[np.float32]
    weight: float = 1.0
    parts: Spans = ()
    terms: NDArray[np.float32] | None = None


class AnnotatedDoc(NamedTuple):
    """The sentences of a Doc, and the scores (C,) of the tree over them, if it was read so."""

    sentences: list[Annotated]
    root: NDArray[np.float32] | None = None


def store(
    doc: Doc,
    found: Sequence[Annotated],
    labels: Sequence[str],
    abstain: float | None = None,
    *,
    root: NDArray[np.float32] | None = None,
    polarity: Sequence[float] | None = None,
    name: str = DEFAULT_NAME,
    aggregation: str = "words",
    kept: Mapping[str, Any] | None = None,
) -> None:
    """Store on a Doc its sentences, which the component `name` scored by the classes `labels`. They
    replace what the component stored before. `root`: (C,) what the tree over them says.
    `polarity`: the place of each class on a scale of sentiment (`View.polarity`), None if there is
    none, or if the names of the classes say it. `kept`: what else is stored, such as `about`."""
    records = []
    for sentence, transitions, scores, weight, parts, terms in found:
        record = {
            "start_char": sentence.start_char,
            "end_char": sentence.end_char,
            "words": sentence.words,
            "characters": sentence.characters.tobytes(),
            "transitions": transitions.tobytes(),
            "scores": scores.astype("<f4", copy=False).tobytes(),
        }
        if parts:
            record["parts"] = [list(part) for part in parts]
        if weight != 1:
            record["weight"] = weight
        if terms is not None:
            record["terms"] = terms.astype("<f4", copy=False).tobytes()
        records.append(record)
    value: dict[str, Any] = {"labels": list(labels), "aggregation": aggregation}
    value |= {"sentences": records, **(kept or {})}
    if abstain is not None:
        value["abstain"] = abstain
    if root is not None:
        value["root"] = root.astype("<f4", copy=False).tobytes()
    if polarity is not None:
        value["polarity"] = list(polarity)
    _put(doc, name, value)


def view_of(stored: dict[str, Any]) -> View:
    """The view of the classes whose scores are stored."""
    view = View.of(tuple(stored["labels"]), stored.get("abstain", 0.0))
    return view._replace(polarity=tuple(stored["polarity"])) if "polarity" in stored else view


def stored_of(doc: Doc, name: str | None = None) -> dict[str, Any] | None:
    """What the component `name` stored on a Doc. None if no component has stored anything.

    Without a name, it is what the component `tree_sentiment` stored, or else what the last one of
    its kind did, or else the last `tree_aspects`. Raises UnknownNameError if `name` has no results
    and other components have. Raises DataError for anything that no component has stored.
    """
    known = _all(doc)
    if name is None:
        usual = _usual(known, DEFAULT_NAME, aspects=False)
        return next(reversed(known.values()), None) if usual is None else usual
    if known and name not in known:
        raise UnknownNameError("component with results on this Doc", name, known)
    return known.get(name)


def stored_aspects_of(doc: Doc, name: str | None = None) -> dict[str, Any] | None:
    """The same of a component `tree_aspects`. Without a name, it is what the component of that name
    stored, or else what the last one of its kind did; None if there is none."""
    return _usual(_all(doc), ASPECTS_NAME, aspects=True) if name is None else stored_of(doc, name)


def _usual(known: "_Checked", name: str, *, aspects: bool) -> dict[str, Any] | None:
    """Of the results of one kind of components, those under this name, or else the last ones."""
    kind = {key: value for key, value in known.items() if ("about" in value) == aspects}
    return kind.get(name, next(reversed(kind.values()), None))


def as_plain(doc: Doc) -> dict[str, Any] | None:
    """The value of `Doc._.tree_sentiment`: results with lists in place of bytes."""
    stored = stored_of(doc)
    if stored is None:
        return None
    shapes = {"characters": (-1, 2), "transitions": (-1,), "terms": (-1,)}
    shapes["scores"] = (-1, len(stored["labels"]))
    sentences = []
    for record in stored["sentences"]:
        kinds = {key: kind for key, kind in ARRAYS.items() if key in record}
        arrays = {key: np.frombuffer(record[key], kind) for key, kind in kinds.items()}
        lists = {key: array.reshape(shapes[key]).tolist() for key, array in arrays.items()}
        characters = [(record["start_char"], record["end_char"]), *lists["characters"]]
        (start, end), *tokens = tokens_at(doc, characters).tolist()
        sentences.append({**record, **lists, "start": start, "end": end, "tokens": tokens})
    root = {"root": np.frombuffer(stored["root"], "<f4").tolist()} if "root" in stored else {}
    return {**stored, **root, "sentences": sentences}


def put_plain(doc: Doc, value: dict[str, Any] | None) -> None:
    """Set `Doc._.tree_sentiment`. `value` is what `as_plain` gives, or the same with bytes. None
    removes the results of the component of that name."""
    _put(doc, DEFAULT_NAME, None if value is None else checked_results(doc, value))


class _Checked(dict[str, dict[str, Any]]):
    """Results by name that a component left here, or that were checked. Those of a Doc that was
    read are a plain dict."""


def _all(doc: Doc) -> _Checked:
    """Results by name, in the order in which components left them."""
    data: dict[Any, Any] = doc.user_data
    known = data.get(_KEY)
    if isinstance(known, _Checked):
        return known
    if known is None:
        return _Checked()
    if not isinstance(known, dict):
        raise not_results(f"found {known!r:.80}")
    checked = _Checked((name, checked_results(doc, value)) for name, value in known.items())
    data[_KEY] = checked
    return checked


def _put(doc: Doc, name: str, value: dict[str, Any] | None) -> None:
    data: dict[Any, Any] = doc.user_data
    # What is replaced need not be readable. Another dict each time: a copy of the Doc may share the
    # one that it has.
    known = data.get(_KEY)
    if isinstance(known, dict) and name in known:
        data[_KEY] = type(known)((key, kept) for key, kept in known.items() if key != name)
    checked = _Checked(_all(doc))
    if value is not None:
        checked[name] = value
    data[_KEY] = checked
