"""`tree_aspects`, a spaCy component: what is said of what.

It is a `tree_sentiment` that shows other things of its results: `doc.spans["aspects"]` and the
attributes of `thinstack.integrations.spacy.doc_aspects`. `doc.cats` stays as it is. docs/spacy.md
describes its settings.
"""

from collections.abc import Callable, Sequence
from typing import Any

from spacy.tokens import Doc

from thinstack.bundle.opening import SEPARATE
from thinstack.core.config import Device
from thinstack.errors import InputError, shown
from thinstack.integrations.spacy.component import Source, TreeSentiment
from thinstack.integrations.spacy.doc_aspects import register_aspects
from thinstack.integrations.spacy.span_groups import AspectGroup
from thinstack.runtime.long_sentences import MAX_WORDS
from thinstack.runtime.mentions import Terms
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result


class TreeAspects(TreeSentiment):
    """The component. `about` names the terms that it looks for; None stands for those that its
    model finds. The rest is as in a `TreeSentiment`.

    Raises InputError for terms that are none (`thinstack.runtime.mentions.Terms`).
    """

    kind = "tree_aspects"
    learner = "thinstack train TABLE --task aspects"

    def __init__(
        self,
        name: str = "tree_aspects",
        model: str = "aspects",
        about: Sequence[str] | None = None,
        source: Source = "auto",
        device: Device = "cpu",
        threads: int | None = None,
        scorer: Callable[..., dict[str, Any]] | None = None,
        classes: int | None = None,
        abstain: float | None = None,
        max_words: int = MAX_WORDS,
        spans_key: str = "aspects",
        isolated: bool | None = None,
    ):
        views = classes, abstain, max_words, spans_key, isolated
        super().__init__(name, model, source, device, threads, None, scorer, *views)
        register_aspects()
        self.about = None if about is None else list(about)
        Terms(self.about or ())

    @property
    def cfg(self) -> dict[str, Any]:
        """What spaCy hands to the scorer."""
        return {"spans_key": self.spans_key}

    def show(self, doc: Doc, result: Result) -> None:
        """Set `doc.spans[spans_key]`."""
        assert self.spans_key is not None
        doc.spans[self.spans_key] = AspectGroup(doc, self.spans_key, self.name)

    def check(self, predictor: Predictor) -> None:
        """Raise InputError for a model that says nothing of terms."""
        super().check(predictor)
        view, problem, do = predictor.view, None, "take the model 'aspects'"
        finds = view.no_term is not None
        if not predictor.phrases:
            problem = "scores only sentences"
        elif not (finds or view.polarity):
            problem = f"has the classes {', '.join(view.labels):.200}"
        elif self.about is None and not finds:
            problem, do = "finds no terms", f"name terms, about=['battery', 'price|cost'], or {do}"
        if problem:
            raise InputError(
                f"{self.name}: expected a model of sentiment that scores phrases, and that finds "
                f"terms unless `about` names some; {shown(self.model)} {problem}: {do} "
                f"({SEPARATE['aspects']})"
            )
