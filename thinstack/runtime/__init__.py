"""Load bundles, run models and read their results, without torch."""

from typing import TYPE_CHECKING

from thinstack._lazy import lazy

if TYPE_CHECKING:
    from thinstack.bundle import Bundle, bundled_names, is_installed, open_bundle, write_bundle
    from thinstack.core.scale import Scale
    from thinstack.core.transitions import balanced, parents_of, spans_of
    from thinstack.runtime.aspects import Aspect
    from thinstack.runtime.categories import Category
    from thinstack.runtime.pairs import PairResult
    from thinstack.runtime.phrase import Phrase
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.result import Result
    from thinstack.runtime.scored import Scored, Spans
    from thinstack.runtime.session import available_providers
    from thinstack.runtime.stream import OnError
    from thinstack.runtime.views import View
    from thinstack.runtime.why import Contribution
    from thinstack.text.given_trees import Trees
    from thinstack.text.sentences import Sentence, Splitter, splitter
else:
    __getattr__ = lazy(
        __name__,
        {
            "bundle": "Bundle bundled_names is_installed open_bundle write_bundle",
            "core.scale": "Scale",
            "core.transitions": "balanced parents_of spans_of",
            "runtime.aspects": "Aspect",
            "runtime.categories": "Category",
            "runtime.pairs": "PairResult",
            "runtime.phrase": "Phrase",
            "runtime.prediction": "Prediction",
            "runtime.predictor": "Predictor",
            "runtime.result": "Result",
            "runtime.scored": "Scored Spans",
            "runtime.session": "available_providers",
            "runtime.stream": "OnError",
            "runtime.views": "View",
            "runtime.why": "Contribution",
            "text.given_trees": "Trees",
            "text.sentences": "Sentence Splitter splitter",
        },
    )

__all__ = [
    "Aspect",
    "Bundle",
    "Category",
    "Contribution",
    "OnError",
    "PairResult",
    "Phrase",
    "Prediction",
    "Predictor",
    "Result",
    "Scale",
    "Scored",
    "Sentence",
    "Spans",
    "Splitter",
    "Trees",
    "View",
    "available_providers",
    "balanced",
    "bundled_names",
    "is_installed",
    "open_bundle",
    "parents_of",
    "spans_of",
    "splitter",
    "write_bundle",
]
