"""`tree_sentiment`, a spaCy component: the sentiment of documents, sentences and phrases.

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_sentiment", config={"threads": 2})

Settings (the factory's arguments):

- `model`: name or folder of a bundle; default `sst`, which thinstack brings along.
- `source`: where the tree of a sentence comes from. `auto` (default) is what the model was trained
  for; `self` is the parse of a model that has a parser, made as it scores; `balanced`, `left` and
  `right` are fixed shapes; `benepar` reads the parses of the component of that name
  (`thinstack.integrations.spacy.trees`).
- `device`: `cpu` (default), `cuda` (an error where CUDA does not run), or `auto` (CUDA where it
  runs, else a warning and the CPU). `spacy.prefer_gpu` is of no account.
- `threads`: that one operator may take on the CPU; None (default) is all the cores that the process
  may use. At most 256; they do not spin while they wait. With `n_process`, set it to 1.
- `aggregation`: what `doc.cats` is over the sentences of a Doc: `words` (default), the mean of
  their probabilities weighted by their numbers of words, or `sentences`, the plain mean.
- `scorer`: for `nlp.evaluate`; default `thinstack.tree_sentiment_scorer.v1`: `Scorer.score_cats`
  for exclusive classes.

What it sets on a Doc, sentences being `doc.sents` where boundaries are set, else the whole Doc:

- `doc.cats`: {label: probability} for every label of the model, summing to 1; all 0.0 for a Doc
  without words. With two such components in a pipeline the labels of both are there, and where they
  have the same the later one holds.
- `Doc._.tree_sentiment`, plain data, and what is read from it: `Doc._.sentiment_phrases`,
  `Span._.sentiment_label`, `Span._.sentiment_scores`, `Span._.sentiment_tree`,
  `Span._.sentiment_phrases`, described in `thinstack.integrations.spacy.results`.
  `predictions(doc)` gives each sentence in a form that can be drawn.

A saved pipeline holds the whole bundle, in a folder that is one, and checks it when it is read; the
folder that `model` names is not needed any more. Settings are in spaCy's `config.cfg` and can be
overridden on loading, `model` too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from thinstack.config import Device
from thinstack.errors import BundleError, InputError, UnknownNameError
from thinstack.integrations.spacy import bundle as spacy_bundle
from thinstack.integrations.spacy import results as spacy_results
from thinstack.integrations.spacy import scorer as spacy_scorer
from thinstack.integrations.spacy import trees as spacy_trees
from thinstack.integrations.spacy.results import Sentence, predictions
from thinstack.integrations.spacy.trees import Reading

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from thinstack.bundle.bundle import Bundle
    from thinstack.runtime.predictor import Predictor, Scored

__all__ = ["TreeSentiment", "make_tree_sentiment", "predictions"]

Source = Literal["auto", "self", "balanced", "left", "right", "benepar"]
Aggregation = Literal["words", "sentences"]

Result = TypeVar("Result")


class TreeSentiment:
    """The component; `nlp.add_pipe("tree_sentiment")` makes one. The settings are those of the
    module's description.

    The model is read by `load`, `from_disk` or `from_bytes`, or else when it is first needed.
    """

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
        self.device: Device = device
        self.threads, self.scorer = threads, scorer
        self.labels: tuple[str, ...] = ()
        self.error_handler: Callable[..., Any] | None = None
        self._files: spacy_bundle.Files = {}
        self._predictor: Predictor | None = None
        self._meta: dict[str, Any] = {}
        self._overridden = False

    # -- prediction
    # ----------------------------------------------------------------------------------------------

    def __call__(self, doc: "Doc") -> "Doc":
        """Annotate one Doc. Raises InputError where its parses are asked for and cannot be used."""
        read = self._read(doc)
        self._annotate(doc, read.sentences, self._scored(read))
        return doc

    def pipe(self, stream: "Iterable[Doc]", *, batch_size: int = 128) -> "Iterator[Doc]":
        """Annotate Docs in order, the sentences of `batch_size` Docs in one call of the model.

        A Doc that fails goes to the error handler (`nlp.set_error_handler`; the default raises) and
        is left out. When the call fails, its Docs are tried one by one, so that none suffers from a
        neighbour.
        """
        rest = iter(stream)
        while docs := list(islice(rest, batch_size)):
            reads = [_attempt(self._read, doc) for doc in docs]
            for doc, read, scored in zip(docs, reads, self._scored_by_doc(reads), strict=True):
                if isinstance(read, Exception) or isinstance(scored, Exception):
                    error = read if isinstance(read, Exception) else scored
                    self.get_error_handler()(self.name, self, [doc], error)
                else:
                    self._annotate(doc, read.sentences, scored)
                    yield doc

    def _read(self, doc: "Doc") -> Reading:
        return spacy_trees.reading(doc, parsed=self.source == "benepar")

    def _scored(self, read: Reading) -> "list[Scored]":
        """The tree of each sentence and the scores of its phrases."""
        predictor = (
            self.predictor
        )  # a missing model is an error of every Doc, with words or without
        if not read.sentences:
            return []
        trees = read.parses if self.source == "benepar" else self.source
        return predictor.trees_and_scores([item.words for item in read.sentences], trees)

    def _scored_by_doc(
        self, reads: Sequence[Reading | Exception]
    ) -> "Sequence[list[Scored] | Exception]":
        groups = [Reading([], []) if isinstance(read, Exception) else read for read in reads]
        joined = Reading(*(list(chain.from_iterable(parts)) for parts in zip(*groups, strict=True)))
        flat = _attempt(self._scored, joined)
        if isinstance(flat, Exception):
            return [_attempt(self._scored, group) for group in groups]
        rows = iter(flat)
        return [[next(rows) for _ in group.sentences] for group in groups]

    def _annotate(
        self, doc: "Doc", sentences: Sequence[Sentence], scored: "Sequence[Scored]"
    ) -> None:
        records = [
            spacy_results.record(sentence, *found)
            for sentence, found in zip(sentences, scored, strict=True)
        ]
        labels = self.predictor.labels
        doc._.tree_sentiment = {"labels": list(labels), "sentences": records}
        means = np.zeros(len(labels))
        if sentences:
            weights = np.array(
                [len(item.words) if self.aggregation == "words" else 1 for item in sentences]
            )
            means = weights @ np.array([found.scores[-1] for found in scored]) / weights.sum()
        doc.cats.update(zip(labels, means.tolist(), strict=True))

    def get_error_handler(self) -> Callable[..., Any]:
        """What is called with (name, component, [doc], error) for a Doc that fails."""
        from spacy.util import raise_error

        return self.error_handler or raise_error

    def set_error_handler(self, error_handler: Callable[..., Any]) -> None:
        """Set it; `nlp.set_error_handler` does so for a whole pipeline."""
        self.error_handler = error_handler

    def score(self, examples: Iterable[Any], **settings: Any) -> dict[str, Any]:
        """The figures of the scorer over spaCy Examples, for `nlp.evaluate`."""
        return self.scorer(examples, **{"labels": self.labels, **settings}) if self.scorer else {}

    # -- the model
    # ----------------------------------------------------------------------------------------------

    @property
    def predictor(self) -> "Predictor":
        """The running model. Raises what `load` does where it has to be read first."""
        if self._predictor is None:
            self._unpack(self._files) if self._files else self.load()
        assert self._predictor is not None
        return self._predictor

    def load(self) -> None:
        """Read the bundle that `model` names and start it.

        Raises UnknownNameError, BundleError, DeviceError, InputError if the model does not have the
        source, and MissingExtraError where onnxruntime is not installed.
        """
        from thinstack.bundle.bundle import open_bundle

        self._start(open_bundle(self.model))

    def use(self, predictor: "Predictor") -> None:
        """Take a running model, whose bundle is the one that `model` names.

        Raises InputError if it does not have the source.
        """
        if self.source != "benepar":
            predictor.tree_maker(self.source)
        self._files, self._predictor, self.labels = {}, predictor, tuple(predictor.labels)

    def _start(self, bundle: "Bundle") -> None:
        from thinstack.runtime.predictor import Predictor

        files = spacy_bundle.pack(bundle)
        self.use(Predictor(bundle, device=self.device, threads=self.threads))
        self._files = files

    def _unpack(self, files: spacy_bundle.Files) -> None:
        with spacy_bundle.unpacked(files) as bundle:
            self._start(bundle)

    def __getstate__(self) -> dict[str, Any]:
        """For worker processes: they start the model anew, from the same bytes."""
        return {**self.__dict__, "_predictor": None}

    # -- saving
    # ----------------------------------------------------------------------------------------------

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the bundle to the folder `path`; thinstack's commands read it as any other."""
        spacy_bundle.write(self._saved(), Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "TreeSentiment":
        """Read and start the bundle in the folder `path`, unless `model` was overridden. Raises
        what `load` does."""
        from thinstack.bundle.bundle import open_bundle

        if not self._keeps_model():
            self._start(open_bundle(Path(path)))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The bundle as bytes."""
        return spacy_bundle.to_bytes(self._saved())

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "TreeSentiment":
        """Read and start what `to_bytes` gave, unless `model` was overridden. Raises what `load`
        does."""
        if not self._keeps_model():
            self._unpack(spacy_bundle.from_bytes(data))
        return self

    def note(self, meta: dict[str, Any], *, overridden: bool) -> None:
        """Note `model` in the meta of the pipeline. `overridden`: the next bundle to be read is not
        taken."""
        self._meta, self._overridden = meta, overridden
        meta["thinstack"] = {**meta.get("thinstack", {}), self.name: self.model}

    def _keeps_model(self) -> bool:
        overridden = self._overridden
        self.note(
            self._meta, overridden=False
        )  # reading a pipeline has put the note that was saved in place
        return overridden

    def _saved(self) -> spacy_bundle.Files:
        if not self._files:
            self.load()
        return self._files


def make_tree_sentiment(
    nlp: Any,
    name: str,
    model: str,
    source: Source,
    device: Device,
    threads: int | None,
    aggregation: Aggregation,
    scorer: Callable[..., dict[str, Any]] | None,
) -> TreeSentiment:
    """The factory behind `nlp.add_pipe("tree_sentiment")`. Raises what `TreeSentiment.load` does.

    A saved pipeline is read by calling the factory, then `from_disk`: the bundle that `model` names
    may be gone, or another. What a pipeline holds is noted in its `meta`, which comes with it: a
    bundle that is noted may be missing or unfit here, and a `model` other than the noted one was
    overridden, so that `from_disk` leaves it in place.
    """
    component = TreeSentiment(
        name,
        model=model,
        source=source,
        device=device,
        threads=threads,
        aggregation=aggregation,
        scorer=scorer,
    )
    notes = nlp.meta.get("thinstack", {})
    noted = notes.get(
        name, model if model in notes.values() else None
    )  # a renamed component has its old name there
    try:
        component.load()
    except (BundleError, InputError, UnknownNameError):
        if noted != model:
            raise
    component.note(nlp.meta, overridden=noted not in (None, model))
    return component


def _attempt(function: Callable[[Any], Result], argument: Any) -> Result | Exception:
    try:
        return function(argument)
    except Exception as error:  # to be handed to spaCy's error handler, whatever it is
        return error


def _register() -> None:
    """spaCy imports this module to find the factory, whenever a pipeline is made: nothing here may
    fail."""
    try:
        from spacy.language import Language
        from spacy.util import registry
    except ImportError:  # the module can be read without spaCy
        return
    registry.scorers.register("thinstack.tree_sentiment_scorer.v1", func=spacy_scorer.make_scorer)
    Language.factory(
        "tree_sentiment",
        assigns=["doc.cats", "doc._.tree_sentiment"],
        default_config={
            "model": "sst",
            "source": "auto",
            "device": "cpu",
            "threads": None,
            "aggregation": "words",
            "scorer": {"@scorers": "thinstack.tree_sentiment_scorer.v1"},
        },
        default_score_weights=spacy_scorer.WEIGHTS,
        func=make_tree_sentiment,
    )


_register()
