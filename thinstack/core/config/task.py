"""What a model can learn."""

from typing import Final, Literal

__all__ = ["PAIR_TASKS", "TABLE", "Task"]

Task = Literal["phrases", "sentences", "texts", "relatedness", "entailment"]
"""What is learnt and measured: classes of phrases that go from negative to positive, classes of
whole sentences, classes of texts of any number of sentences, ratings of pairs of sentences, or
classes of pairs."""

PAIR_TASKS: tuple[Task, ...] = ("relatedness", "entailment")

TABLE: Final = "table.v1"
"""The format of pairs of sentences in a table."""
