"""Scored rows in columns, against the predictions that the library gives sentence by sentence."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from thinstack.errors import BundleError, InputError
from thinstack.integrations.corpora.rows import Problem, Row
from thinstack.integrations.corpora.scoring import NOTHING, Output, TextScorer
from thinstack.runtime.documents import document_data
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.text import predict_text

TEXTS = ["  So good.   Very awful film!", "", "film", "\t", "a b c d e f. It is (good)"]


@pytest.fixture(scope="module")
def predictor(parsing):
    return Predictor(parsing, threads=1, max_words=4, abstain=0.5)


def expected(predictor: Predictor, output: Output) -> list[tuple[Any, ...]]:
    """Text, sentence, the text of the row, label and scores; of phrases the parent's text too."""
    rows: list[tuple[Any, ...]] = []
    for place, sentences in enumerate(predict_text(predictor, TEXTS)):
        if not sentences:
            rows.append((place, NOTHING, TEXTS[place], None, None))
        elif output == "documents":
            found = document_data(sentences)
            scores = list(found["scores"].values())
            rows.append((place, NOTHING, TEXTS[place], found["label"], scores))
        for number, one in enumerate(sentences if output != "documents" else []):
            nodes = one.to_dict()["nodes"]
            for node in nodes if output == "phrases" else nodes[-1:]:
                scores = list(node["scores"].values())
                rows.append((place, number, node["text"], node["label"], scores))
    return rows


@pytest.mark.parametrize("output", ["phrases", "sentences", "documents"])
def test_rows_are_what_is_predicted(predictor, output):
    found = TextScorer(predictor, output).score(TEXTS)
    wanted = expected(predictor, output)
    assert len(found.text) == len(wanted) > len(TEXTS) - 1
    for row, (text, sentence, part, label, scores) in enumerate(wanted):
        assert (found.text[row], found.sentence[row]) == (text, sentence)
        assert TEXTS[text][found.start[row] : found.end[row]] == part
        number = found.label[row]
        assert (None if number == NOTHING else predictor.labels[number]) == label
        if scores is None:
            assert np.isnan(found.scores[row]).all()
        else:
            assert found.scores[row].tolist() == pytest.approx(scores, abs=1e-5)
    assert NOTHING in found.label[~np.isnan(found.scores[:, 0])], "a row that abstains is tested"


def test_phrases_have_their_place_in_the_tree(predictor):
    found = TextScorer(predictor, "phrases").score(TEXTS)
    first = found.text == 0
    for number, sentence in enumerate(next(predict_text(predictor, TEXTS))):
        rows = np.flatnonzero(first & (found.sentence == number))
        tree = sentence.tree
        assert tree is not None
        assert found.node[rows].tolist() == list(range(len(rows)))
        assert found.parent[rows].tolist() == tree.parents.tolist()
    assert found.parent[found.text == 1].tolist() == [NOTHING]


def test_models_without_phrases_and_unknown_sources_are_refused(predictor, last_word, monkeypatch):
    with pytest.raises(InputError, match="self"):
        TextScorer(Predictor(last_word), "sentences", "self")
    monkeypatch.setattr(predictor, "phrases", False)
    with pytest.raises(InputError, match="--output sentences"):
        TextScorer(predictor, "phrases")


def test_a_text_that_the_model_cannot_score_costs_no_other(predictor, monkeypatch):
    def fail(words: Sequence[Sequence[str]], *rest: object) -> Any:
        if any("poison" in sentence for sentence in words):
            raise BundleError("the model failed" + 1000 * "!")
        return score(words, *rest)

    score = predictor.trees_and_scores
    monkeypatch.setattr(predictor, "trees_and_scores", fail)
    problem = Problem("missing", "no text")
    rows = [Row("a", "good"), Row("b", "", problem), Row("c", "poison. film"), Row("d", "a. b")]
    found, problems = TextScorer(predictor, "sentences")(rows)
    assert found.text.tolist() == [0, 3, 3]
    assert problems[1] == problem
    other = problems[2]
    assert other.kind == "failed"
    assert other.message.startswith("BundleError: the model failed!!!")
    assert len(other.message) == 500
    by_itself, _ = TextScorer(predictor, "sentences")(rows[3:])
    assert np.array_equal(found.scores[1:], by_itself.scores)
