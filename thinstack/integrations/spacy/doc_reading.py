"""Reads what the model needs of Docs, and scores it."""

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


class Reading(NamedTuple):
    """Docs as the model is given them.

    Attributes:
        sentences: the sentences of each Doc.
        trees: the source of the trees of all sentences, or their transitions.
        unset: whether nothing has set the sentences of some Doc with words. Such a Doc is read as
            one sentence.
    """

    sentences: list[list[DocSentence]]
    trees: Trees
    unset: bool


def read(docs: Iterable[Doc], source: Trees | str) -> Reading:
    """Read Docs, with trees from this source; "benepar" means the parses that the Docs hold. Raises
    InputError for anything but Docs, and if parses are asked for and cannot be used."""
    pairs = [(doc, sentences_of(doc)) for doc in check_docs(docs)]
    unset = any(sentences and not has_sentences(doc) for doc, sentences in pairs)
    trees: Trees = source  # type: ignore[assignment]
    if source == "benepar":
        trees = list(chain.from_iterable(parses_of(*item) for item in pairs))
    return Reading([sentences for _, sentences in pairs], trees, unset)


def scored(predictor: Predictor, reading: Reading) -> list[list[Annotated]]:
    """The scored trees of the sentences of each Doc. Raises what `Predictor.trees_and_scores`
    raises."""
    words = [sentence.words for sentence in chain.from_iterable(reading.sentences)]
    rows = iter(predictor.trees_and_scores(words, reading.trees) if words else ())
    return [[Annotated(item, *next(rows)) for item in items] for items in reading.sentences]


def warn_of_no_sentences(name: str) -> None:
    """Warn that the component `name` reads Docs as one sentence, and say what to add."""
    warnings.warn(
        f"{name}: expected Docs whose sentences are known, found one where nothing has set them; "
        "each such Doc is read as one sentence, in parts if it is long. Put a component that sets "
        f"sentences before this one: nlp.add_pipe('sentencizer', before={name!r})",
        NoSentencesWarning,
        stacklevel=2,
    )
