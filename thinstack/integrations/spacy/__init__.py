"""spaCy components that run bundles, their results, and trees of Docs."""

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
