"""The task of classes of texts."""

from thinstack.training.tasks.texts.task import Texts

__all__ = ["Texts"]
