"""`tree_sentiment`, a spaCy component: the sentiment of documents, sentences and phrases.

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_sentiment", config={"threads": 2})

Settings (the factory's arguments):

- `model`: name or folder of a bundle; default `sst`, which thinstack brings along.
- `source`: where the tree of a sentence comes from. `auto` (default) is what the model was trained
  for. `self` is the parse of a model that has a parser. `balanced`, `left` and `right` are fixed
  shapes. `benepar` reads the parses of the component of that name.
- `device`: `cpu` (default), `cuda` (an error if CUDA does not run), or `auto` (CUDA if it runs,
  else a warning and the CPU). `spacy.prefer_gpu` does not matter.
- `threads`: how many threads share the batches on the CPU, at most 256. None (default) is all the
  cores that the process may use. With several, `nlp.pipe` reads a batch ahead. With `n_process`,
  set it to 1.
- `aggregation`: how `doc.cats` joins the sentences of a Doc. `words` (default) is the mean of their
  probabilities, weighted by their words. `sentences` is the plain mean.
- `classes`: 3 adds the five classes of a sentiment model up to `negative`, `neutral` and
  `positive`. 2 also leaves out the probability of neutral. None (default) is the model's own
  classes.
- `abstain`: a phrase or sentence has no label (None) if no class is as probable as this. With None
  (default) it always has one. Scores stay.
- `max_words`: a sentence of more words (default 400) is read in parts of at most so many words. It
  is cut at punctuation (`thinstack.runtime.long_sentences`), unless benepar gives its tree.
- `spans_key`: a key of `doc.spans`, which then holds the phrases that say something, as displaCy
  draws them. With None (default) it is not set.
- `isolated`: whether the model runs in processes of its own, with limits of memory and time. With
  None (default) it does unless it is your own (docs/runtimes.md, "Files of others").
- `scorer`: for `nlp.evaluate`; by default `Scorer.score_cats` for exclusive classes.

The component sets `doc.cats`, {label: probability} for every label of the model. They sum to 1, and
are all 0.0 for a Doc without words. It also sets what `thinstack.integrations.spacy.doc_results`
describes. Several components have results of their own, by their names. `doc.cats` has the labels
of all; if two have the same label, it has what the later one says.

`predictions(doc)` gives sentences that can be drawn. They are `doc.sents`, or the whole Doc if
nothing has set sentences. A NoSentencesWarning says so once.

The component does not learn. In training it says so in a warning, unless it is among
`frozen_components`, and stays as it is. `tree_classifier`
(`thinstack.integrations.spacy_training`) learns.

A saved pipeline holds the whole bundle, as a folder in it, and checks it when it is read. The
folder that `model` names is not needed any more. All settings can be overridden on loading.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from spacy.tokens import Doc, Span

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.reading import Files, pack, unpacked
from thinstack.bundle.writing import write_packed
from thinstack.core.config import Device
from thinstack.integrations.spacy.bundle import SOURCE, from_bytes, to_bytes
from thinstack.integrations.spacy.doc_reading import Reading, read, scored, warn_of_no_sentences
from thinstack.integrations.spacy.doc_results import Results, contributions_of, register_extensions
from thinstack.integrations.spacy.doc_results import predictions as predictions
from thinstack.integrations.spacy.doc_results import results as results
from thinstack.integrations.spacy.pipe import BatchedPipe
from thinstack.integrations.spacy.requirements import note_requirement
from thinstack.integrations.spacy.span_groups import fill_group
from thinstack.integrations.spacy.stored import Annotated, store
from thinstack.runtime.long_sentences import MAX_WORDS
from thinstack.runtime.predictor import Predictor

Source = Literal["auto", "self", "balanced", "left", "right", "benepar"]
Aggregation = Literal["words", "sentences"]


class TreeSentiment(BatchedPipe):
    """The component. Its model is read by `load`, `from_disk` or `from_bytes`, or else when it is
    first needed."""

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
        isolated: bool | None = None,
    ):
        register_extensions()
        self.name, self.model, self.source, self.aggregation = name, model, source, aggregation
        self.device: Device = device
        self.threads, self.scorer, self.max_words = threads, scorer, max_words
        self.classes, self.abstain, self.spans_key = classes, abstain, spans_key
        self.isolated = isolated
        self._labels: tuple[str, ...] = ()
        self._files: Files = {}
        self._predictor: Predictor | None = None
        self._meta: dict[str, Any] = {}
        self._overridden = False
        self._warned = self._told = False  # that it does not learn; that sentences are not set

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes that are shown; empty until the model is read."""
        return self._labels

    def predict(self, docs: Iterable[Doc]) -> list[list[Annotated]]:
        """The scored trees of the sentences of each Doc. Nothing is set. Raises InputError if
        parses are asked for and cannot be used, and BundleError if the model fails."""
        return self.run(self.read(docs))

    @property
    def threads_at_work(self) -> int:  # type: ignore[override]
        """How many threads score; 1 until the model is read."""
        return 1 if self._predictor is None else self._predictor.pool.threads

    def read(self, docs: Iterable[Doc]) -> Reading:
        """What `run` needs of Docs. Raises what `predict` raises before the model runs."""
        _ = self.predictor  # a missing model is an error of Docs without words too
        reading = read(docs, self.source)
        if reading.unset and not self._told:
            self._told = True
            warn_of_no_sentences(self.name)
        return reading

    def run(self, reading: Reading) -> list[list[Annotated]]:
        """What `predict` gives, from what was read. It can be called in any thread."""
        return scored(self.predictor, reading)

    def set_annotations(self, docs: Iterable[Doc], found: Iterable[Sequence[Annotated]]) -> None:
        """Set `doc.cats`, the results of the component, and `doc.spans[spans_key]` of each Doc,
        from what `predict` gave."""
        for doc, sentences in zip(docs, found, strict=True):
            names = {"name": self.name, "aggregation": self.aggregation}
            store(doc, sentences, self.labels, self.abstain, **names)
            known = self.results(doc)
            doc.cats.update(known.scores if known else dict.fromkeys(self.labels, 0.0))
            if self.spans_key is not None:
                fill_group(doc, self.spans_key, self.name)

    def results(self, x: Doc | Span) -> Results | None:
        """What this component says about a Doc or about any span of it: `label`, `scores`, `exact`
        and more. None if there are no words, or if no component has seen the Doc. Raises
        UnknownNameError if only other components have seen it."""
        return results(x, self.name)

    def why(self, doc: Doc) -> list[list[dict[str, Any]]]:
        """What each phrase contributes to the label of its sentence: for each sentence of a Doc, a
        list of dicts.

        A dict has `start` and `end` (tokens), `text`, `contribution` and `turning`, see
        `thinstack.runtime.why.Contribution`. The model runs again, so ask only where it matters.
        Raises InputError as `thinstack.runtime.why.contributions` does.
        """
        return contributions_of(doc, self.predictor, self.name)

    def update(
        self, examples: Iterable[Any], *, losses: dict[str, float] | None = None, **settings: Any
    ) -> dict[str, float]:
        """Warn, once, that this component does not learn. spaCy calls it in training. Returns
        `losses`, or an empty dict."""
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
        """The running model. If it is read now, raises what `load` raises."""
        if self._predictor is None:
            self._unpack(self._files) if self._files else self.load()
        assert self._predictor is not None
        return self._predictor

    def load(self) -> None:
        """Read the bundle that `model` names and start it.

        Raises UnknownNameError, BundleError and DeviceError. Raises InputError if the model does
        not have the source or the classes, and MissingExtraError if onnxruntime is not installed.
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
            isolated=self.isolated,
        )
        if self.source != "benepar":
            predictor.tree_maker(self.source)
        self._files, self._predictor, self._labels = files, predictor, tuple(predictor.labels)

    def _unpack(self, files: Files) -> None:
        self._start(unpacked(files, SOURCE))

    def __reduce__(self) -> tuple[object, ...]:
        """For worker processes: they start the model themselves, from the same bytes."""
        return _rebuilt, ({**self.__dict__, "name": self.name, "_predictor": None},)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the bundle to the folder `path`. thinstack's commands read it as any other
        bundle."""
        write_packed(self._saved(), Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "TreeSentiment":
        """Read and start the bundle in `path`, unless `model` was overridden. Raises what `load`
        raises."""
        if not self._keeps_model():
            self._start(open_bundle(Path(path) if isinstance(path, str) else path))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The bundle as bytes."""
        return to_bytes(self._saved())

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "TreeSentiment":
        """Read and start what `to_bytes` gave. Otherwise this is `from_disk`."""
        if not self._keeps_model():
            self._unpack(from_bytes(data))
        return self

    def note(self, meta: dict[str, Any], *, overridden: bool) -> None:
        """Note `model` in the meta of the pipeline. `overridden`: whether the next bundle that is
        read must not replace the model."""
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


def _rebuilt(state: dict[str, Any]) -> TreeSentiment:
    component = TreeSentiment.__new__(TreeSentiment)
    for name, value in state.items():
        setattr(component, name, value)
    return component
