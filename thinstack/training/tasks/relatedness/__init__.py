"""The task of ratings of pairs of sentences."""

from thinstack.training.tasks.relatedness.task import Relatedness

__all__ = ["Relatedness"]
