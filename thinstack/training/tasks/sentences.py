"""The task of classes of whole sentences that have trees."""

from typing import ClassVar

from thinstack.training.tasks._treebank import Treebank

__all__ = ["Sentences"]


class Sentences(Treebank):
    """Learns the classes of whole sentences that have trees."""

    name: ClassVar[str] = "sentences.v1"
    summary: ClassVar[str] = "classes of whole sentences that have trees"
    figures: ClassVar = {"root_accuracy": "accuracy"}
    watched: ClassVar = ("root_accuracy",)
