"""Registers `tree_classifier`, a spaCy component that learns one class per text. docs/spacy.md
describes its settings, which are the arguments of the component.

It is trained on `doc.cats` with its own optimizers: `update` accumulates gradients, `finish_update`
updates the weights. Until `thinstack finish` replaces them by a bundle, it runs in torch and saves
weights. Further training of a finished component continues from its weights.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.manifest import ONNX_FILE
from thinstack.bundle.reading import Files, pack, unpacked
from thinstack.bundle.writing import seal
from thinstack.core.config import Device
from thinstack.core.scale import ordered
from thinstack.errors import BundleError, InputError, MissingExtraError, needs_extra
from thinstack.integrations.spacy.doc_bins import check_label, chosen_categories
from thinstack.integrations.spacy.pipe import (
    SCORE_WEIGHTS,
    SOURCE,
    BatchedPipe,
    check_docs,
    files_from_bytes,
    register_component,
)
from thinstack.integrations.spacy.splitter import sentences_of
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import text_scores
from thinstack.training.examples.labels import check_labels

if TYPE_CHECKING:
    from thinstack.integrations.spacy_training.text_learner import TextLearner


class TreeClassifier(BatchedPipe):
    """A trainable text classifier for spaCy pipelines.

    It is blank until `initialize` and can be trained after that. Loaded from a finished pipeline,
    it runs a bundle. The arguments are the settings of docs/spacy.md.
    """

    def __init__(
        self,
        name: str = "tree_classifier",
        model: str = "sentiment",
        learning_rate: float | None = None,
        vector_learning_rate: float | None = None,
        average: float = 0.15,
        device: Device = "cpu",
        threads: int | None = None,
        scorer: Callable[..., dict[str, Any]] | None = None,
        isolated: bool | None = None,
    ):
        self.name, self.start, self.scorer = name, model, scorer
        self.device: Device = device
        self.threads, self.isolated = threads, isolated
        rates = {"learning_rate": learning_rate, "vector_learning_rate": vector_learning_rate}
        rates = {key: rate for key, rate in rates.items() if rate is not None}
        self._learning: dict[str, Any] = {"rates": rates, "average": average, "device": device}
        self._files: Files = {}
        self._learner: TextLearner | None = None
        self._predictor: Predictor | None = None
        self._learnt = False  # since the last step

    @property
    def model(self) -> "TextLearner | Predictor | None":
        """The learner, or the finished model; None before `initialize`."""
        return self._learner or self._predictor

    @property
    def is_trainable(self) -> bool:
        """True: spaCy trains this component."""
        return True

    @property
    def label_data(self) -> list[str]:
        """The classes in the form that `initialize` accepts (for `spacy init labels`)."""
        return list(self._labels)

    def add_label(self, label: str) -> int:
        """Add a class. Returns 1, or 0 if the class exists already. Raises InputError for a class
        that is not a string, and for a new class once the model is initialized."""
        check_label(label)
        if label in self._labels:
            return 0
        if self.model is not None:
            raise InputError(
                f"{self.name}: the classes ({', '.join(self._labels)}) are fixed when "
                f"training starts; to add {label!r}, add it before nlp.initialize, and train "
                "again"
            )
        self._labels += (label,)
        return 1

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Iterable[str] | None = None,
    ) -> None:
        """Initialize the model for training.

        `labels`: the classes, in order. By default these are the classes that were added, then
        those of the examples, in the order of `thinstack train`.

        Raises InputError for fewer than two classes, for classes that are not strings, and for a
        Doc with several. Raises what `check_labels` raises for classes of the examples that were
        not added, what opening the initial bundle raises, and MissingExtraError without torch.
        """
        validate_get_examples(get_examples, "TreeClassifier.initialize")
        if labels is None:
            seen = Counter[str]()
            for example in get_examples():
                self._chosen(example)
                seen.update(example.reference.cats.keys())
            new = {name: count for name, count in seen.items() if name not in self._labels}
            place = f"[initialize.components.{self.name}.labels]"
            check_labels(new, self.name, f"list all classes in {place}")
            labels = (*self._labels, *ordered(list(new)))
        if isinstance(labels, str):
            raise InputError(f"{self.name}: expected a list of labels, found {labels!r:.80}")
        names = tuple(labels)
        for label in names:
            check_label(label)
        if len(names) < 2:
            problem = f"{self.name}: expected two classes or more in doc.cats, found"
            listed = ", ".join(map(repr, names)) or "none"
            raise InputError(f"{problem} {listed}; set labels, or doc.cats in the training corpus")
        with needs_extra("train"):
            from thinstack.integrations.spacy_training.text_learner import TextLearner
        self._take(TextLearner.start(names, self.start, **self._learning))

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Accumulate the gradients of the mean loss of the examples, and add that loss to `losses`.
        With `sgd`, also call `finish_update`. Returns `losses`.

        Docs without a class or without words are skipped. Raises InputError for a Doc with several
        classes or an unknown one, and ConfigError if the loss is not finite.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "TreeClassifier.update")
        texts, labels = [], []
        for example in examples:
            chosen = self._chosen(example)
            sentences = _words(example.predicted)
            if chosen is not None and sentences:
                texts.append(sentences)
                labels.append(chosen)
        if texts:
            losses[self.name] += self._learning_model().learn(texts, labels)
            self._learnt = True
        if sgd not in (None, False):
            self.finish_update(sgd)
        return losses

    def finish_update(self, sgd: Any) -> None:
        """Update the weights with the gradients since the last call. `sgd` is not used."""
        if self._learnt and self._learner is not None:
            self._learner.step()
            self._learnt = False

    def predict(self, docs: Iterable[Doc]) -> NDArray[np.floating]:
        """Return the probabilities (D, C) of the C classes for D Docs, without setting them. The
        row of a Doc without words is zero. Raises InputError before `initialize`."""
        texts, model = [_words(doc) for doc in check_docs(docs)], self.model
        scores = np.zeros((len(texts), len(self._labels)))
        places = [place for place, text in enumerate(texts) if text]
        worded = [texts[place] for place in places]
        if not isinstance(model, Predictor):
            scores[places] = self._learning_model().scores(worded)
        elif worded:
            lengths = np.array([len(sentence) for text in worded for sentence in text])
            scores[places] = text_scores(model.score_texts(worded), lengths)
        return scores

    def set_annotations(self, docs: Iterable[Doc], scores: NDArray[np.floating]) -> None:
        """Set `doc.cats` of each of the D Docs to its row of `scores` (D, C)."""
        for doc, row in zip(docs, scores.tolist(), strict=True):
            doc.cats.update(zip(self._labels, row, strict=True))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "TreeClassifier":
        """Load the model that `to_disk` or `thinstack finish` wrote. Raises BundleError for a
        damaged bundle and, without torch, for a bundle that is not finished."""
        if Path(path).exists():  # a blank one has nothing to save
            self._open(open_bundle(Path(path)))
        return self

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "TreeClassifier":
        """Load the model from the output of `to_bytes`. Raises what `from_disk` raises."""
        if files := files_from_bytes(data):
            self._open(unpacked(files, SOURCE))
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle for worker processes, which load the model again from the same bytes."""
        names = ("name", "scorer", "device", "threads", "isolated")
        settings = {name: getattr(self, name) for name in names} | {"model": self.start}
        settings |= {**self._learning["rates"], "average": self._learning["average"]}
        return _rebuilt, (settings, self._labels, self.to_bytes())

    def _open(self, bundle: Bundle) -> None:
        files = pack(bundle)
        if ONNX_FILE in files:
            # As in training, sentences of any length are read as a whole.
            names = ("device", "threads", "isolated")
            settings: dict[str, Any] = {name: getattr(self, name) for name in names}
            self._predictor = Predictor(bundle, **settings, max_words=sys.maxsize)
            self._files, self._learner = files, None
            self._labels = tuple(self._predictor.labels)
        else:
            self._resume(bundle)

    def _resume(self, bundle: Bundle) -> None:
        try:
            with needs_extra("train"):
                from thinstack.integrations.spacy_training.text_learner import TextLearner
        except MissingExtraError as error:
            raise BundleError(
                f"{self.name}: this pipeline still needs torch, because it is not finished, "
                f"and {error}. Where it was trained, run `thinstack finish PIPELINE OUT`, and "
                "load OUT here"
            ) from None
        self._take(TextLearner.resume(bundle, **self._learning))

    def _take(self, learner: "TextLearner") -> None:
        self._learner, self._labels = learner, learner.config.shown_labels
        self._files, self._predictor, self._learnt = {}, None, False

    def _learning_model(self) -> "TextLearner":
        if self._learner is None and self._files:
            self._resume(unpacked(self._files, SOURCE))
        if self._learner is None:
            raise InputError(
                f"{self.name}: no model yet; train the component with `spacy train`, or call "
                "nlp.initialize(get_examples) first"
            )
        return self._learner

    def _saved(self) -> Files:
        if self._learner is None:
            return self._files
        return pack(seal(self._learner.files(), config=self._learner.config))

    def _chosen(self, example: Example) -> str | None:
        chosen = chosen_categories(example.reference)
        if len(chosen) > 1:
            raise InputError(
                f"{self.name}: expected one class above 0.5 in doc.cats, found "
                f"{', '.join(chosen)}; for several classes per text, use spaCy's "
                "textcat_multilabel"
            )
        if chosen and self.model is not None and chosen[0] not in self._labels:
            raise InputError(
                f"{self.name}: expected one of {', '.join(self._labels)} in doc.cats, found "
                f"{chosen[0]!r}; list all classes in "
                f"[initialize.components.{self.name}.labels]"
            )
        return chosen[0] if chosen else None


def _words(doc: Doc) -> list[list[str]]:
    return [sentence.words for sentence in sentences_of(doc)]


def _rebuilt(settings: dict[str, Any], labels: tuple[str, ...], data: bytes) -> TreeClassifier:
    component = TreeClassifier(**settings).from_bytes(data)
    component._labels = labels
    return component


# spaCy imports this module through its entry point for every pipeline, so nothing here may fail
# or import torch.
make_tree_classifier = register_component(
    TreeClassifier,
    "tree_classifier",
    scorer="spacy.textcat_scorer.v2",
    assigns=("doc.cats",),
    weights=SCORE_WEIGHTS,
)
