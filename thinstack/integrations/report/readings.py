"""What a model says of a text, as a report counts it: its side, and the mentions of terms."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from thinstack.errors import InputError
from thinstack.integrations.report.tally import Span
from thinstack.runtime.result import Result

if TYPE_CHECKING:
    from thinstack.runtime.aspects import Aspect
    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.views import View


class Mention(NamedTuple):
    """A place where a text speaks of a term.

    Attributes:
        term: the term as it was written, or the pattern that a user has asked for.
        named: whether it is such a pattern.
        side: -1, 0 or 1, what is said of it.
        polarity: the same from -1 to 1.
        sentence: the text of the sentence; "" if that is not known.
        place, because: where the term stands in the sentence, and the phrase that decides.
        said: the text of that phrase, or None.
    """

    term: str
    named: bool
    side: int
    polarity: float
    sentence: str
    place: Span
    because: Span | None
    said: str | None


class Reading(NamedTuple):
    """A text: its side, its polarity, and its mentions of terms."""

    side: int
    polarity: float
    mentions: Sequence[Mention]


class ResultReader:
    """Reads the results of a model. `about`: the terms of a user; by default the model finds them.

    Raises InputError for a model whose classes are no scale of sentiment, and for one that scores
    no phrases. Raises it also for one that finds no terms where none are named, and for terms that
    cannot be looked for.
    """

    def __init__(self, model: "Predictor", about: Sequence[str] = ()):
        self._about = tuple(about)
        self.sides = sides_of(model.view)
        if self._about and not model.phrases:
            raise InputError(
                "expected a model that scores phrases, found one that scores only sentences: "
                "choose another with --model (in Python model=), such as sentiment"
            )
        self._aspects(Result("", (), model.view))

    def __call__(self, result: Result) -> Reading:
        """The reading of a result that has words."""
        mentions = [self._mention(aspect) for aspect in self._aspects(result)]
        return Reading(self.sides.get(result.label, 0), result.polarity or 0.0, mentions)

    def _aspects(self, result: Result) -> "Iterable[Aspect]":
        return result.about(*self._about) if self._about else result.aspects

    def _mention(self, aspect: "Aspect") -> Mention:
        sentence = aspect.sentence
        shift, because = sentence.start, aspect.because
        return Mention(
            aspect.text if aspect.asked is None else aspect.asked,
            aspect.asked is not None,
            self.sides.get(aspect.label, 0),
            aspect.polarity or 0.0,
            sentence.text,
            Span(aspect.start - shift, aspect.end - shift),
            None if because is None else Span(because.start - shift, because.end - shift),
            None if because is None else because.text,
        )


def sides_of(view: "View") -> dict[str | None, int]:
    """The side of each label. Raises InputError for labels that are no scale of sentiment."""
    if view.polarity is None:
        raise InputError(
            f"expected a model of sentiment, whose classes are negative and positive, found the "
            f"classes {', '.join(view.labels):.80}: a report cannot say what is praised and what "
            "is not; choose another with --model (in Python model=), such as sentiment"
        )
    pairs = zip(view.labels, view.polarity, strict=True)
    return {label: (place > 0) - (place < 0) for label, place in pairs}
