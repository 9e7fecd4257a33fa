"""What a reranking's report says of choices that are made by hand."""

import numpy as np
import pytest
from test_rerank import PLAN

from reproduce.cases import Cases
from reproduce.rerank_report import build
from reproduce.rerank_run import Job, Outcome, cases_file
from reproduce.reranking import Reranking

RIGHT = {"before": 5, "oracle": 9, "lex": 8, "lex-alone": 7}
"""Of ten phrases of each sentence, by what chose."""


def done(folder, seed):
    """A seed in which every sentence has equally many right phrases."""
    job = Job(Reranking.model_validate(PLAN), seed, folder, folder / str(seed), "digest", None)
    job.folder.mkdir()
    count, no = 6, np.full(6, np.nan)
    for name, right in RIGHT.items():
        gold, predicted = np.full(count, 10), np.full(count, right)
        whole, words = np.ones(count, bool), np.full(count, 12)
        cases = Cases(gold, predicted, words, words, whole, ~whole, no, no)
        cases.save(cases_file(job, name))
    figures = {name: 10.0 * right for name, right in RIGHT.items()}
    each = {"before": 1.0, "lex": 1.0}
    sizes, parts = {"before": 1, "lex": 1}, {"train": 1, "held": 1, "dev": count}
    about = figures, figures, {"lex": 1.0}, {"lex": 1}, sizes, parts, each
    return job, Outcome("digest", None, seed, *about)


def test_rankers_are_compared_with_the_parser_s_probability_and_without(tmp_path):
    jobs = [done(tmp_path, seed) for seed in (1, 2)]
    found = build(Reranking.model_validate(PLAN), jobs, {})["comparisons"]
    assert [(one["key"], one["difference"], one["error"]) for one in found] == [
        ("f1", 30.0, 0.0),
        ("alone", 20.0, 0.0),
    ]
    # every draw of sentences and seeds has the same difference
    assert [one["interval"] for one in found] == [pytest.approx([30, 30]), pytest.approx([20, 20])]
    # the paper ranks without the parser's probability: 81.5 less 80.0
    assert [one["paper"] for one in found] == [None, pytest.approx(1.5)]
