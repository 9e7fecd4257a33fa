"""What of Docs goes to the model."""

import warnings
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from spacy.tokens import Doc

from thinstack.errors import NoSentencesWarning
from thinstack.integrations.spacy.pipe import check_docs
from thinstack.integrations.spacy.splitter import DocSentence, has_sentences, sentences_of
from thinstack.integrations.spacy.stored import Annotated
from thinstack.integrations.spacy.trees import parses_of
from thinstack.runtime.predictor import Predictor, Trees

__all__ = ["Reading", "read", "scored", "warn_of_no_sentences"]


class Reading(NamedTuple):
    """Docs as the model is given them.

    Attributes:
        sentences: those of each Doc.
        trees: where the trees of all sentences come from, or their transitions.
        unset: whether nothing has set the sentences of a Doc with words, which is read as one.
    """

    sentences: list[list[DocSentence]]
    trees: Trees
    unset: bool


def read(docs: Iterable[Doc], source: Trees | str) -> Reading:
    """Read Docs whose trees come from this source; "benepar" is the parses that they hold. Raises
    InputError for what is no Doc, and where parses are asked for and cannot be used."""
    found = [(doc, sentences_of(doc)) for doc in check_docs(docs)]
    unset = any(sentences and not has_sentences(doc) for doc, sentences in found)
    trees: Trees = source  # type: ignore[assignment]
    if source == "benepar":
        trees = list(chain.from_iterable(parses_of(*item) for item in found))
    return Reading([sentences for _, sentences in found], trees, unset)


def scored(predictor: Predictor, reading: Reading) -> list[list[Annotated]]:
    """The scored trees of the sentences of each Doc. Raises as `Predictor.trees_and_scores`."""
    words = [sentence.words for sentence in chain.from_iterable(reading.sentences)]
    rows = iter(predictor.trees_and_scores(words, reading.trees) if words else ())
    return [[Annotated(item, *next(rows)) for item in items] for items in reading.sentences]


def warn_of_no_sentences(name: str) -> None:
    """Say that the component `name` reads Docs as one sentence, and what to add."""
    warnings.warn(
        f"{name}: expected Docs whose sentences are known, found one where nothing has set them; "
        "each such Doc is read as one sentence, in parts if it is long. Put a component that sets "
        f"sentences before this one: nlp.add_pipe('sentencizer', before={name!r})",
        NoSentencesWarning,
        stacklevel=2,
    )
