"""How far an accuracy may be off."""

import pytest

from thinstack.evaluate.figures import interval_line, wilson


@pytest.mark.parametrize(
    ("right", "cases", "low", "high"),
    # Newcombe (1998), Table I, and the exact ends of no and of all cases.
    [(81, 263, 25.53, 36.62), (15, 148, 6.24, 16.05), (0, 20, 0.0, 16.11), (20, 20, 83.89, 100.0)],
)
def test_the_interval_of_wilson(right, cases, low, high):
    ends = [100 * end for end in wilson(right / cases, cases)]
    assert ends == pytest.approx([low, high], abs=0.01)


def test_without_texts_there_is_none():
    assert interval_line({"accuracy": None, "texts": 0}) == ""
    assert interval_line({"root_accuracy": 50.0}) == ""
    assert "of 1,000 texts" in interval_line({"accuracy": 50.0, "texts": 1000})
