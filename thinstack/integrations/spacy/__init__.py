"""The components that run a bundle in spaCy, their results, and trees of Docs."""

from typing import TYPE_CHECKING

from thinstack._lazy import lazy

if TYPE_CHECKING:
    from thinstack.integrations.spacy.aspects_component import TreeAspects, about, aspects
    from thinstack.integrations.spacy.component import TreeSentiment
    from thinstack.integrations.spacy.doc_results import Results, predictions, results
    from thinstack.integrations.spacy.trees import (
        constituency_tree,
        constituency_trees,
        dependency_tree,
        dependency_trees,
    )
    from thinstack.integrations.spacy.vectors_component import TreeVectors
    from thinstack.runtime.phrase import Phrase
else:
    __getattr__ = lazy(
        __name__,
        {
            "integrations.spacy.aspects_component": "TreeAspects about aspects",
            "integrations.spacy.component": "TreeSentiment",
            "integrations.spacy.doc_results": "Results predictions results",
            "integrations.spacy.trees": "constituency_tree constituency_trees dependency_tree "
            "dependency_trees",
            "integrations.spacy.vectors_component": "TreeVectors",
            "runtime.phrase": "Phrase",
        },
    )

__all__ = [
    "Phrase",
    "Results",
    "TreeAspects",
    "TreeSentiment",
    "TreeVectors",
    "about",
    "aspects",
    "constituency_tree",
    "constituency_trees",
    "dependency_tree",
    "dependency_trees",
    "predictions",
    "results",
]
