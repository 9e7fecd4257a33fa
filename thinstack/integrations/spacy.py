"""`tree_sentiment`, a spaCy component: the sentiment of documents, sentences and phrases.

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_sentiment", config={"threads": 2})

Settings (the factory's arguments):

- `model`: name or folder of a bundle; default `sst`, which thinstack brings along.
- `source`: where the tree of a sentence comes from. `auto` (default) is what the model was trained for; `balanced`, `left` and
  `right` are fixed shapes; `benepar` reads the parses of the component of that name (`thinstack.integrations.spacy_trees`).
- `device`: `cpu` (default), `cuda` (fails where CUDA does not run), or `auto` (CUDA where it runs). `spacy.prefer_gpu` is of no
  account. `threads`: of one operator on the CPU; None (default) leaves it to onnxruntime.
- `aggregation`: how `doc.cats` comes from the sentences: the mean of their probabilities, weighted by their `words` (default), or
  each `sentences` counting the same.
- `scorer`: for `nlp.evaluate`; default `thinstack.tree_sentiment_scorer.v1`: `Scorer.score_cats` for exclusive classes.

What it sets on a Doc, sentences being `doc.sents` where boundaries are set, else the whole Doc:

- `doc.cats`: {label: probability} for every label of the model, summing to 1; all 0.0 for a Doc without words. With two such
  components in a pipeline the labels of both are there, and where they have the same the later one holds.
- `Doc._.tree_sentiment`, plain data, and what is read from it: `Doc._.sentiment_phrases`, `Span._.sentiment_label`,
  `Span._.sentiment_scores`, `Span._.sentiment_tree`, described in `thinstack.integrations.spacy_results`. `predictions(doc)`
  gives each sentence in a form that can be drawn.

A saved pipeline holds the whole bundle, in a folder that is one, and checks it when read; settings are in spaCy's `config.cfg`, so
they can be overridden on loading. The folder that `model` names is then not needed any more.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from thinstack.bundles import open_bundle
from thinstack.errors import BundleError
from thinstack.integrations import spacy_bundle, spacy_results, spacy_trees
from thinstack.integrations.onnxruntime import Predictor
from thinstack.integrations.spacy_bundle import Files
from thinstack.integrations.spacy_results import Sentence, predictions

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["TreeSentiment", "make_tree_sentiment", "predictions", "score"]

Source = Literal["auto", "balanced", "left", "right", "benepar"]
Device = Literal["cpu", "cuda", "auto"]
Aggregation = Literal["words", "sentences"]

MAX_WORDS = 1 << 14
"""Words that the model is given at once at most, unless one sentence has more: bounds the memory of a batch of long documents."""

# A session whose process was forked has no threads left that could be joined: it is kept, not closed.
_FORKED: list[Predictor] = []

Item = TypeVar("Item")
Result = TypeVar("Result")


class TreeSentiment:
    """The component; made by `nlp.add_pipe("tree_sentiment")`. The settings are those of the module's description."""

    def __init__(
        self,
        name: str = "tree_sentiment",
        *,
        model: str = "sst",
        source: Source = "auto",
        device: Device = "cpu",
        threads: int | None = None,
        aggregation: Aggregation = "words",
        scorer: Callable[..., dict[str, Any]] | None = None,
    ):
        spacy_results.register_extensions()
        self.name, self.model, self.source, self.aggregation = name, model, source, aggregation
        self.device, self.threads, self.scorer = device, threads, scorer
        self.labels: tuple[str, ...] = ()
        self.error_handler: Callable[..., Any] | None = None
        self._files: Files = {}
        self._predictor: Predictor | None = None
        self._process = 0

    # -- the model ----------------------------------------------------------------------------------------------------

    @property
    def predictor(self) -> Predictor:
        """The running model of this process, started if need be. Raises what `load` does."""
        if self._predictor is None or self._process != os.getpid():
            if self._predictor is not None:
                _FORKED.append(self._predictor)
            self._use(self._files or spacy_bundle.pack(open_bundle(self.model)))
        assert self._predictor is not None
        return self._predictor

    def load(self) -> None:
        """Read the bundle that `model` names and start it.

        Raises UnknownNameError, BundleError, DeviceError, and MissingExtraError where onnxruntime is not installed.
        """
        self._use(spacy_bundle.pack(open_bundle(self.model)))

    def _use(self, files: Files) -> None:
        predictor = spacy_bundle.start(files, device=self.device, threads=self.threads)
        self._files, self._predictor, self._process = files, predictor, os.getpid()
        self.labels = tuple(predictor.labels)

    # -- prediction ---------------------------------------------------------------------------------------------------

    def __call__(self, doc: "Doc") -> "Doc":
        """Annotate one Doc. Raises InputError if its parses cannot be used."""
        sentences = self._sentences(doc)
        self._annotate(doc, sentences, self._scores(sentences))
        return doc

    def pipe(self, stream: "Iterable[Doc]", *, batch_size: int = 128) -> "Iterator[Doc]":
        """Annotate Docs in order, `batch_size` of them at a time.

        When a batch fails its Docs are tried one by one; one that fails alone goes to the error handler (`nlp.set_error_handler`;
        the default raises) and is left out, the others are not touched by it.
        """
        from spacy.util import minibatch

        for docs in minibatch(stream, batch_size):
            sentences = [_attempt(self._sentences, doc) for doc in docs]
            for doc, found, scores in zip(docs, sentences, self._scores_of_docs(sentences), strict=True):
                error = found if isinstance(found, Exception) else scores
                if isinstance(error, Exception) or isinstance(found, Exception):
                    self.get_error_handler()(self.name, self, [doc], error)
                    continue
                self._annotate(doc, found, error)
                yield doc

    def _sentences(self, doc: "Doc") -> list[Sentence]:
        source = self.predictor.config.tree_source if self.source == "auto" else self.source
        return spacy_trees.sentences(doc, source)

    def _scores(self, sentences: Sequence[Sentence]) -> list[NDArray[np.float32]]:
        """The scores (2L - 1, C) of each sentence, as few calls of the model as MAX_WORDS allows."""
        scores: list[NDArray[np.float32]] = []
        for part in _parts(sentences, MAX_WORDS):
            scores += self.predictor.node_scores([item.words for item in part], [item.transitions for item in part])
        return scores

    def _scores_of_docs(
        self, docs: Sequence[list[Sentence] | Exception]
    ) -> list[list[NDArray[np.float32]] | Exception | None]:
        raise NotImplementedError
