"""`tree_sentiment`, a spaCy component: the sentiment of documents, sentences and phrases.

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_sentiment", config={"threads": 2})

Settings (the factory's arguments):

- `model`: name or folder of a bundle; default `sst`, which thinstack brings along.
- `source`: where the tree of a sentence comes from. `auto` (default) is what the model was trained
  for; `self` is the parse of a model that has a parser; `balanced`, `left` and `right` are fixed
  shapes; `benepar` reads the parses of the component of that name.
- `device`: `cpu` (default), `cuda` (an error where CUDA does not run), or `auto` (CUDA where it
  runs, else a warning and the CPU). `spacy.prefer_gpu` does not matter.
- `threads`: that share the batches on the CPU, at most 256; None (default) is all the cores that
  the process may use. With several, `nlp.pipe` reads a batch ahead. With `n_process`, set it to 1.
- `aggregation`: what `doc.cats` is over the sentences of a Doc: `words` (default), the mean of
  their probabilities weighted by their numbers of words, or `sentences`, the plain mean.
- `classes`: 3 adds the five of a sentiment model up to `negative`, `neutral` and `positive`; 2
  leaves out the mass of neutral too. None (default) is the model's own.
- `abstain`: a phrase or sentence has no label (None) where no class is as probable as this; None
  (default) is always to have one. Scores stay.
- `max_words`: a sentence of more words (default 400) is read in parts of at most so many, cut at
  punctuation (`thinstack.runtime.long_sentences`), unless benepar gives its tree.
- `spans_key`: of `doc.spans`, which then holds the phrases that say something, as displaCy draws
  them; None (default) is not to set it.
- `scorer`: for `nlp.evaluate`; by default `Scorer.score_cats` for exclusive classes.

It sets `doc.cats`, {label: probability} for every label of the model, summing to 1, all 0.0 for a
Doc without words, and what `thinstack.integrations.spacy.results` describes. Several components
have results of their own, by their names; `doc.cats` has the labels of all, and of a label that two
have, what the later one says. `predictions(doc)` gives sentences that can be drawn: `doc.sents`,
else the whole Doc, which is told once by a NoSentencesWarning.

It does not learn: in training it warns so, unless it is among `frozen_components`, and runs as it
is. `tree_classifier` (`thinstack.spacy_training`) learns.

A saved pipeline holds the whole bundle, in a folder that is one, and checks it when it is read; the
folder that `model` names is not needed any more. All settings can be overridden on loading.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from spacy.language import Language
from spacy.tokens import Doc, Span

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.files import Files, pack, unpacked, write
from thinstack.bundle.remote import is_address
from thinstack.config import Device
from thinstack.errors import BundleError, InputError, UnknownNameError
from thinstack.integrations.spacy.bundle import SOURCE, from_bytes, to_bytes
from thinstack.integrations.spacy.pipe import BatchedPipe
from thinstack.integrations.spacy.reading import Reading, read, scored, warn_of_no_sentences
from thinstack.integrations.spacy.requirements import note_requirement
from thinstack.integrations.spacy.results import (
    Results,
    contributions_of,
    predictions,
    register_extensions,
    results,
)
from thinstack.integrations.spacy.scorer import SCORE_WEIGHTS
from thinstack.integrations.spacy.span_groups import fill_group
from thinstack.integrations.spacy.stored import Annotated, store
from thinstack.runtime.long_sentences import MAX_WORDS
from thinstack.runtime.predictor import Predictor

__all__ = ["TreeSentiment", "make_tree_sentiment", "predictions", "results"]

Source = Literal["auto", "self", "balanced", "left", "right", "benepar"]
Aggregation = Literal["words", "sentences"]


class TreeSentiment(BatchedPipe):
    """The component; its model is read by `load`, `from_disk` or `from_bytes`, or at first need."""

    def __init__(
        self,
        name: str = "tree_sentiment",
        model: str = "sst",
        source: Source = "auto",
        device: Device = "cpu",
        threads: int | None = None,
        aggregation: Aggregation = "words",
        scorer: Callable[..., dict[str, Any]] | None = None,
        classes: int | None = None,
        abstain: float | None = None,
        max_words: int = MAX_WORDS,
        spans_key: str | None = None,
    ):
        register_extensions()
        self.name, self.model, self.source, self.aggregation = name, model, source, aggregation
        self.device: Device = device
        self.threads, self.scorer, self.max_words = threads, scorer, max_words
        self.classes, self.abstain, self.spans_key = classes, abstain, spans_key
        self._labels: tuple[str, ...] = ()
        self._files: Files = {}
        self._predictor: Predictor | None = None
        self._meta: dict[str, Any] = {}
        self._overridden = False
        self._warned = self._told = False  # that it does not learn; that sentences are not set

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes that are shown, once the model was read."""
        return self._labels

    def predict(self, docs: Iterable[Doc]) -> list[list[Annotated]]:
        """The scored trees of the sentences of each Doc; nothing is set. Raises InputError where
        parses are asked for and cannot be used, BundleError if the model fails."""
        return self.run(self.read(docs))

    @property
    def threads_at_work(self) -> int:  # type: ignore[override]
        """Threads that score, of a model that was read."""
        return 1 if self._predictor is None else self._predictor.pool.threads

    def read(self, docs: Iterable[Doc]) -> Reading:
        """What `run` needs of Docs. Raises what `predict` does, but for the model's failing."""
        _ = self.predictor  # a missing model is an error of Docs without words too
        reading = read(docs, self.source)
        if reading.unset and not self._told:
            self._told = True
            warn_of_no_sentences(self.name)
        return reading

    def run(self, reading: Reading) -> list[list[Annotated]]:
        """What `predict` gives of what was read; any thread may ask for it."""
        return scored(self.predictor, reading)

    def set_annotations(self, docs: Iterable[Doc], found: Iterable[Sequence[Annotated]]) -> None:
        """Set `doc.cats`, the results of the component, and `doc.spans[spans_key]` of each Doc by
        what `predict` gave."""
        for doc, sentences in zip(docs, found, strict=True):
            names = {"name": self.name, "aggregation": self.aggregation}
            store(doc, sentences, self.labels, self.abstain, **names)
            known = self.results(doc)
            doc.cats.update(known.scores if known else dict.fromkeys(self.labels, 0.0))
            if self.spans_key is not None:
                fill_group(doc, self.spans_key, self.name)

    def results(self, x: Doc | Span) -> Results | None:
        """What this component says of a Doc or of any span of it: `label`, `scores`, `exact` and
        more. None where there are no words, or no component has seen the Doc. Raises
        UnknownNameError where others have."""
        return results(x, self.name)

    def why(self, doc: Doc) -> list[list[dict[str, Any]]]:
        """What each phrase of each sentence of a Doc contributes to the label of its sentence, as
        dicts with `start`, `end` (tokens), `text`, `contribution` and `turning`, which
        `thinstack.runtime.why.Contribution` describes. The model runs anew, so ask where it
        matters. Raises InputError as `thinstack.runtime.why.contributions`."""
        return contributions_of(doc, self.predictor, self.name)

    def update(
        self, examples: Iterable[Any], *, losses: dict[str, float] | None = None, **settings: Any
    ) -> dict[str, float]:
        """Warn, once, that nothing is learnt: spaCy calls this in training."""
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.name}: a tree_sentiment does not learn, and stays as it is; the component "
                "that learns is tree_classifier. To keep this one, name it in frozen_components of "
                "[training]",
                stacklevel=2,
            )
        return {} if losses is None else losses

    @property
    def predictor(self) -> Predictor:
        """The running model. Raises what `load` does where it has to be read first."""
        if self._predictor is None:
            self._unpack(self._files) if self._files else self.load()
        assert self._predictor is not None
        return self._predictor

    def load(self) -> None:
        """Read the bundle that `model` names and start it.

        Raises UnknownNameError, BundleError, DeviceError, InputError if the model does not have the
        source or the classes, and MissingExtraError where onnxruntime is not installed.
        """
        self._start(open_bundle(self.model))

    def _start(self, bundle: Bundle) -> None:
        files = pack(bundle)
        predictor = Predictor(
            bundle,
            device=self.device,
            threads=self.threads,
            classes=self.classes,
            abstain=self.abstain,
            max_words=self.max_words,
        )
        if self.source != "benepar":
            predictor.tree_maker(self.source)
        self._files, self._predictor, self._labels = files, predictor, tuple(predictor.labels)

    def _unpack(self, files: Files) -> None:
        with unpacked(files, SOURCE) as bundle:
            self._start(bundle)

    def __reduce__(self) -> tuple[object, ...]:
        """For worker processes: they start the model themselves, from the same bytes."""
        return _rebuilt, ({**self.__dict__, "name": self.name, "_predictor": None},)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the bundle to the folder `path`; thinstack's commands read it as any other."""
        write(self._saved(), Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "TreeSentiment":
        """Read and start the bundle in `path`, unless `model` was overridden. Raises as `load`."""
        if not self._keeps_model():
            self._start(open_bundle(Path(path) if isinstance(path, str) else path))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The bundle as bytes."""
        return to_bytes(self._saved())

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "TreeSentiment":
        """Read and start what `to_bytes` gave; otherwise as `from_disk`."""
        if not self._keeps_model():
            self._unpack(from_bytes(data))
        return self

    def note(self, meta: dict[str, Any], *, overridden: bool) -> None:
        """Note `model` in the meta of the pipeline. `overridden`: do not take the next bundle."""
        self._meta, self._overridden = meta, overridden
        meta["thinstack"] = {**meta.get("thinstack", {}), self.name: self.model}
        note_requirement(meta, self.device)

    def _keeps_model(self) -> bool:
        overridden = self._overridden
        self.note(self._meta, overridden=False)  # reading has put the saved note in its place
        return overridden

    def _saved(self) -> Files:
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
    classes: int | None,
    abstain: float | None,
    max_words: int,
    spans_key: str | None,
) -> TreeSentiment:
    """The factory behind `nlp.add_pipe("tree_sentiment")`. Raises what `TreeSentiment.load` does.

    spaCy reads a saved pipeline by calling the factory, then `from_disk`. The pipeline's `meta`
    notes the `model` that it was saved with. If the setting is that one, its bundle may be missing
    or unfit; if not, it was overridden, and `from_disk` leaves it in place.
    """
    views = classes, abstain, max_words, spans_key
    component = TreeSentiment(name, model, source, device, threads, aggregation, scorer, *views)
    notes = nlp.meta.get("thinstack", {})
    # A renamed component has its old name there.
    noted = notes.get(name, model if model in notes.values() else None)
    try:
        if noted != model or not is_address(model):  # a saved pipeline asks no hub
            component.load()
    except (BundleError, InputError, UnknownNameError):
        if noted != model:
            raise
    component.note(nlp.meta, overridden=noted not in (None, model))
    return component


def _rebuilt(state: dict[str, Any]) -> TreeSentiment:
    component = TreeSentiment.__new__(TreeSentiment)
    for name, value in state.items():
        setattr(component, name, value)
    return component


# spaCy imports this module, which its entry point names, to find the factory whenever a pipeline is
# made: nothing here may fail.
Language.factory(
    "tree_sentiment",
    assigns=["doc.cats", "doc._.tree_sentiment"],
    default_config={
        "model": "sst",
        "source": "auto",
        "device": "cpu",
        "threads": None,
        "aggregation": "words",
        "max_words": MAX_WORDS,
        "scorer": {"@scorers": "thinstack.tree_sentiment_scorer.v1"},
        "classes": None,
        "abstain": None,
        "spans_key": None,
    },
    default_score_weights=SCORE_WEIGHTS,
    func=make_tree_sentiment,
)
