"""The task of classes of phrases."""

from collections.abc import Sequence
from typing import ClassVar

from thinstack.core.scale import Scale
from thinstack.training.tasks._treebank import Treebank

__all__ = ["Phrases"]


class Phrases(Treebank):
    """Learns the classes of all labelled phrases of trees, which go from negative to positive."""

    name: ClassVar[str] = "phrases.v1"
    summary: ClassVar[str] = "classes of all labelled phrases of trees, from negative to positive"
    figures: ClassVar = {
        "root_accuracy": "root",
        "root_binary_accuracy": "root, binary",
        "phrase_accuracy": "phrases",
        "phrase_binary_accuracy": "phrases, binary",
    }
    watched: ClassVar = ("root_accuracy", "root_binary_accuracy", "phrase_accuracy")
    takes_lessons: ClassVar[bool] = True

    def columns(self, labels: Sequence[str]) -> dict[str, str]:
        headings = {
            "root_accuracy": "sentences",
            "root_binary_accuracy": "binary",
            "phrase_accuracy": "phrases",
        }
        return {key: name for key, name in headings.items() if key in self.names(labels)}

    def explained(self, labels: Sequence[str]) -> str:
        if Scale.of(labels) is None:
            return ""
        return "*Binary* is positive against negative mass, neutral sentences left out. "
