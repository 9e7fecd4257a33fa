"""`tree_sentiment`, a spaCy component: the sentiment of documents, sentences and phrases. A saved
pipeline contains the whole bundle as a folder, which is verified on loading; the bundle that
`model` names is no longer needed."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
from spacy.tokens import Doc, Span

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.reading import Files, pack, unpacked
from thinstack.core.config import Aggregation, Device
from thinstack.errors import InputError, LanguageWarning, NoSentencesWarning
from thinstack.integrations.spacy.doc_results import Results, register_extensions, results
from thinstack.integrations.spacy.pipe import (
    SOURCE,
    BatchedPipe,
    check_docs,
    files_from_bytes,
    note_requirement,
)
from thinstack.integrations.spacy.span_groups import PhraseGroup
from thinstack.integrations.spacy.splitter import has_sentences, sentences_of, tokens_at
from thinstack.integrations.spacy.stored import (
    NO_TREE,
    DocAggregation,
    Kind,
    Stored,
    alike,
    store,
    stored_of,
)
from thinstack.integrations.spacy.trees import parses_of
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result
from thinstack.runtime.scored import Scored, ScoredText
from thinstack.runtime.units import MAX_WORDS
from thinstack.runtime.views import View
from thinstack.text.given_trees import Trees
from thinstack.text.sentences import Sentence

Source = Literal["auto", "self", "balanced", "left", "right", "benepar"]
Reading = tuple[list[str], list[list[Sentence]], Trees]
"""The texts and the sentences of Docs, and the source of all trees or the transitions of each."""


class TreeSentiment(BatchedPipe):
    """The component. Its model is loaded by `load`, `from_disk` or `from_bytes`, or else on first
    use. docs/spacy.md describes its settings, which are its arguments, and the attributes that it
    sets on a Doc."""

    kind: Kind = "tree_sentiment"
    learner = "tree_classifier"  # the trainable counterpart
    about: list[str] | None = None

    def __init__(
        self,
        name: str = "tree_sentiment",
        model: str = "sentiment",
        source: Source = "auto",
        device: Device = "cpu",
        threads: int | None = None,
        aggregation: DocAggregation | None = None,
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
        self._files: Files = {}
        self._predictor: Predictor | None = None
        self._meta: dict[str, Any] = {}
        self._overridden = False
        self._warned = self._told = False  # about training; about missing sentence boundaries
        self._doubted = False  # about a Doc that may not be English

    def predict(self, docs: Iterable[Doc]) -> list[Result]:
        """Return the model's results for each Doc, by its characters, without setting them. Raises
        InputError if parses are requested and cannot be used, and BundleError if the model fails.
        """
        return self.run(self.read(docs))

    @property
    def threads_at_work(self) -> int:  # type: ignore[override]
        """Number of threads that score; 1 until the model is loaded."""
        return 1 if self._predictor is None else self._predictor.pool.threads

    def read(self, docs: Iterable[Doc]) -> Reading:
        """Read the input of `run` from Docs. Raises what `predict` raises before the model runs."""
        _ = self.predictor  # a missing model is an error even for Docs without words
        docs = check_docs(docs)
        texts = [doc.text for doc in docs]
        pairs = [(doc, sentences_of(doc, text)) for doc, text in zip(docs, texts, strict=True)]
        trees: Trees = self.source  # type: ignore[assignment]
        if self.source == "benepar":
            trees = list(chain.from_iterable(parses_of(*item) for item in pairs))
        if not self._told and any(some and not has_sentences(doc) for doc, some in pairs):
            self._told = True
            warnings.warn(
                f"{self.name}: expected Docs with sentence boundaries, found one without; "
                "each such Doc is read as one sentence, in parts if it is long. Add a "
                "component that sets sentences before this one: nlp.add_pipe('sentencizer', "
                f"before={self.name!r})",
                NoSentencesWarning,
                stacklevel=2,
            )
        for _, sentences in () if self._doubted else pairs:
            read = [sentence.words for sentence in sentences]
            if doubt := self.predictor.language.doubt(*read):
                words = [*islice(chain.from_iterable(read), 3)]
                problem = f"{self.name}: a Doc that begins with {words}: {doubt}"
                message = f"{problem}; its scores are unreliable"
                warnings.warn(message, LanguageWarning, stacklevel=2)
                self._doubted = True  # unless the warning was raised as an error
                break
        return texts, [sentences for _, sentences in pairs], trees

    def run(self, reading: Reading) -> list[Result]:
        """Score the output of `read`. Can be called in any thread."""
        texts, docs, trees = reading
        words = [[sentence.words for sentence in sentences] for sentences in docs]
        scored = self.predictor.score_texts(words, trees)
        return list(map(self._result, texts, docs, scored))

    def _result(self, text: str, sentences: list[Sentence], scored: ScoredText) -> Result:
        view = self.predictor.view
        view = View(view.labels, view.abstain, polarity=view.polarity)
        pairs = zip(sentences, scored.sentences, strict=True)
        said = [Prediction.of_sentence(sentence, row, view) for sentence, row in pairs]
        joint = alike(said) if self.aggregation == "sentences" else None
        if scored.joint is not None:
            rows, vectors = scored.joint.scores[-1:].astype(np.float32), scored.joint.vectors
            vectors = None if vectors is None else vectors[-1:]
            joint = Scored(NO_TREE, rows, vectors=vectors)
        return Result(text, tuple(said), view, joint=joint)

    def set_annotations(self, docs: Iterable[Doc], said: Iterable[Result]) -> None:
        """Store the results of `predict` on each Doc, and annotate it: `doc.cats` and
        `doc.spans[spans_key]`."""
        usual: DocAggregation = "tree" if self.predictor.aggregation == "tree" else "words"
        digest = self.predictor.bundle.manifest.digest
        for doc, result in zip(docs, said, strict=True):
            stored = Stored(result, self.aggregation or usual, self.kind, self.about, digest)
            store(doc, stored, self.name)
            self.show(doc, result)

    def show(self, doc: Doc, result: Result) -> None:
        """Set the annotations that other components read."""
        doc.cats.update(result.scores or dict.fromkeys(self.labels, 0.0))
        if self.spans_key is not None:
            doc.spans[self.spans_key] = PhraseGroup(doc, self.spans_key, self.name)

    def results(self, x: Doc | Span) -> Results | None:
        """Return the results of this component for a Doc or any span of it: `label`, `scores`,
        `exact` and more. None if there are no words, or if no component has scored the Doc. Raises
        UnknownNameError if only other components have scored it."""
        return results(x, self.name)

    def why(self, doc: Doc) -> list[list[dict[str, Any]]]:
        """Return the contribution of each phrase to the label of its sentence: for each sentence of
        a Doc, a list of dicts.

        A dict has `start` and `end` (tokens), `text`, `contribution` and `turning`, see
        `thinstack.runtime.why.Contribution`. The model runs again, so call this only if you need
        it. Raises InputError as `thinstack.runtime.why.contributions` does.
        """
        predictor, records = self.predictor, list[list[dict[str, Any]]]()
        stored, digest = stored_of(doc, self.name), predictor.bundle.manifest.digest
        if stored is not None and stored.model != digest:
            raise InputError(
                f"{self.name}: expected a Doc scored by the model {digest:.12}, found one by "
                f"{stored.model:.12}: score its text with this pipeline"
            )
        for sentence in stored.result.sentences if stored else ():
            why = predictor.why(sentence)
            tokens = tokens_at(doc, [(one.start, one.end) for one in why]).tolist()
            records.append(
                [
                    {"start": start, "end": end, "text": one.text}
                    | {"contribution": one.contribution, "turning": one.turning}
                    for (start, end), one in zip(tokens, why, strict=True)
                ]
            )
        return records

    def update(
        self, examples: Iterable[Any], *, losses: dict[str, float] | None = None, **settings: Any
    ) -> dict[str, float]:
        """Warn once that this component cannot be trained. spaCy calls it in training. Returns
        `losses`, or an empty dict."""
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.name}: this component cannot be trained and stays unchanged; "
                f"{self.learner} can. To keep this one, add it to frozen_components in "
                "[training]",
                stacklevel=2,
            )
        return {} if losses is None else losses

    @property
    def predictor(self) -> Predictor:
        """The running model, loaded on first use. Raises what `load` raises."""
        if self._predictor is None:
            self._start(unpacked(self._files, SOURCE)) if self._files else self.load()
        assert self._predictor is not None
        return self._predictor

    def load(self) -> None:
        """Load the bundle that `model` names and start it.

        Raises UnknownNameError, BundleError and DeviceError. Raises InputError if the model does
        not support the source or the classes, and MissingExtraError if onnxruntime is not
        installed.
        """
        self._start(open_bundle(self.model))

    def _start(self, bundle: Bundle) -> None:
        files = pack(bundle)
        names = ("device", "threads", "classes", "abstain", "max_words", "isolated")
        settings = {name: getattr(self, name) for name in names}
        aggregation: Aggregation | None = (
            self.aggregation if self.aggregation in (None, "tree") else "mean"
        )
        packed = replace(bundle, contents=files)  # so that the model is in memory only once
        predictor = Predictor(packed, **settings, aggregation=aggregation)
        if self.source != "benepar":
            predictor.tree_maker(self.source)
        self.check(predictor)
        self._files, self._predictor, self._labels = files, predictor, tuple(predictor.labels)

    def check(self, predictor: Predictor) -> None:
        """Raise InputError for a model that this component cannot use."""
        predictor.view.need_labels(self.name)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle for worker processes, which start the model themselves from the same bytes."""
        return _rebuilt, (type(self), {**self.__dict__, "name": self.name, "_predictor": None})

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "TreeSentiment":
        """Load and start the bundle in `path`, unless `model` was overridden. Raises what `load`
        raises."""
        if not self._keeps_model():
            self._start(open_bundle(Path(path) if isinstance(path, str) else path))
        return self

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "TreeSentiment":
        """Load and start a bundle from `to_bytes`. Otherwise like `from_disk`."""
        if not self._keeps_model():
            self._start(unpacked(files_from_bytes(data), SOURCE))
        return self

    def note(self, meta: dict[str, Any], *, overridden: bool) -> None:
        """Record `model` in the meta of the pipeline. `overridden`: whether to keep the model when
        the next bundle is read."""
        self._meta, self._overridden = meta, overridden
        meta["thinstack"] = {**meta.get("thinstack", {}), self.name: self.model}
        note_requirement(meta, self.device)

    def _keeps_model(self) -> bool:
        overridden = self._overridden
        self.note(self._meta, overridden=False)  # loading has replaced it by the saved entry
        return overridden

    def _saved(self) -> Files:
        if not self._files:
            self.load()
        return self._files


def _rebuilt(kind: type[TreeSentiment], state: dict[str, Any]) -> TreeSentiment:
    component = kind.__new__(kind)
    for name, value in state.items():
        setattr(component, name, value)
    return component
