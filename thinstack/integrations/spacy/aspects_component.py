"""`tree_aspects`, a spaCy component: opinions about terms. It is a `tree_sentiment` with different
annotations: `doc.spans["aspects"]`, `Doc._.aspects` and `Span._.about`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from spacy.tokens import Doc, Span

from thinstack.bundle.opening import SEPARATE
from thinstack.core.config import Device
from thinstack.errors import InputError, shown
from thinstack.integrations.spacy.component import Source, TreeSentiment
from thinstack.integrations.spacy.doc_results import register, sentences_around
from thinstack.integrations.spacy.span_groups import Marked, PhraseGroup
from thinstack.integrations.spacy.splitter import span_around
from thinstack.integrations.spacy.stored import stored_of
from thinstack.runtime.aspects import Aspect, about_place
from thinstack.runtime.mentions import patterns_of
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result
from thinstack.runtime.units import MAX_WORDS


def aspects(doc: Doc, name: str | None = None) -> list[dict[str, Any]]:
    """Return the aspects of a Doc, in text order: those of the terms in `about` of the component
    `name`, or those that its model finds. By default, the component is `tree_aspects`, otherwise
    the last one of its kind.

    Each is a dict for JSON with `start` and `end` (tokens), `start_char`, `end_char`, `text`,
    `label`, `polarity`, `scores` and `because`, which is None or the first five of these for the
    deciding phrase. If you named the term, the dict also has `asked`.

    A Doc that no component has scored has no aspects. Raises UnknownNameError if the Doc has only
    results of other components, and InputError if the model of `name` finds no terms.
    """
    return [_listed(doc, aspect) for aspect in aspects_of(doc, name)]


def about(span: Span, name: str | None = None) -> dict[str, Any] | None:
    """Return the opinion about a span in its sentence, as a dict like those of `aspects`.

    None for a span of whitespace, for one over several sentences, and if no component has scored
    the Doc. `name` and UnknownNameError are as for `aspects`. Raises InputError for a span that was
    created before tokens were merged or split.
    """
    stored = stored_of(span.doc, name, "tree_aspects")
    sentences, place = sentences_around(span, stored.result.sentences if stored else ())
    aspect = about_place(sentences[0], *place) if len(sentences) == 1 else None
    if aspect is None:
        return None
    listed = _listed(span.doc, aspect)
    listed.pop("asked", None)  # the text of the span itself
    return listed


def aspects_of(doc: Doc, name: str | None = None) -> list[Aspect]:
    """Return the aspects of a Doc, with `start` and `end` in characters. Raises as `aspects`."""
    stored = stored_of(doc, name, "tree_aspects")
    if stored is None or not stored.result.sentences:
        return []
    result, terms = stored.result, stored.about
    return list(result.aspects) if terms is None else result.about(*terms)


def register_aspects() -> None:
    """Register the attributes with spaCy. Raises ConfigError if one of their names is taken."""
    of_doc, of_span = {"getter": aspects}, {"getter": about}
    register("tree_aspects", [(Doc, "aspects", of_doc), (Span, "about", of_span)])


def _listed(doc: Doc, aspect: Aspect) -> dict[str, Any]:
    data = aspect.to_dict()
    for place in filter(None, (data, data["because"])):
        start, end = place["start"], place["end"]
        tokens = span_around(doc, start, end)
        place |= {"start": tokens.start, "end": tokens.end, "start_char": start, "end_char": end}
    if because := data["because"]:
        because["text"] = because.pop("text")  # last, as documented
    return data


class AspectGroup(PhraseGroup):
    """The labeled aspects of a `tree_aspects` component. Otherwise like `PhraseGroup`."""

    def _marked(self, doc: Doc) -> Iterator[Marked]:
        for aspect in aspects_of(doc, self._component):
            if aspect.label is not None:
                yield (aspect.start, aspect.end), aspect.label, aspect.scores[aspect.label]


class TreeAspects(TreeSentiment):
    """The component. `about` names the terms to look for; None means those that its model finds.
    The other settings are those of `TreeSentiment`.

    Raises InputError for invalid terms (`thinstack.runtime.mentions.patterns_of`).
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
        if isinstance(about, str):
            expected = "expected a list of terms, such as ['battery', 'price|cost']"
            raise InputError(f"about: {expected}, found {shown(about, 60)}")
        self.about = None if about is None else list(about)
        patterns_of(self.about or ())

    @property
    def cfg(self) -> dict[str, Any]:
        """The settings that spaCy passes to the scorer."""
        return {"spans_key": self.spans_key}

    def show(self, doc: Doc, result: Result) -> None:
        """Set `doc.spans[spans_key]`."""
        assert self.spans_key is not None
        doc.spans[self.spans_key] = AspectGroup(doc, self.spans_key, self.name)

    def check(self, predictor: Predictor) -> None:
        """Raise InputError for a model that cannot label terms."""
        super().check(predictor)
        view, problem, do = predictor.view, None, "use the model 'aspects'"
        finds = view.no_term is not None
        if not predictor.phrases:
            problem = "scores only sentences"
        elif not (finds or view.polarity):
            problem = f"has the classes {', '.join(view.labels):.200}"
        elif self.about is None and not finds:
            problem, do = "finds no terms", f"set about=['battery', 'price|cost'], or {do}"
        if problem:
            raise InputError(
                f"{self.name}: expected a sentiment model that scores phrases, and that finds "
                f"terms unless `about` is set; {shown(self.model)} {problem}: {do} "
                f"({SEPARATE['aspects']})"
            )
