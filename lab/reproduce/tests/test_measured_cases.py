"""Cases on disk, and negations against lists made by hand."""

from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pytest

from reproduce.cases import NEGATIONS, NOT, Cases, negated
from thinstack.errors import DataError


def some_cases():
    return Cases(
        gold=np.array([0, 4, 2]),
        predicted=np.array([0, 3, 2]),
        words=np.array([1.5, 20, 3]),
        depth=np.array([0, 7, 2]),
        whole=np.array([False, True, False]),
        negated=np.array([True, False, False]),
        likelihood=np.array([0.5, 0.125, 0.75], np.float32),
        confidence=np.array([0.5, 0.75, 0.75], np.float32),
    )


def test_cases_are_read_as_they_were_saved(tmp_path):
    path, cases = tmp_path / "new" / "cases.npz", some_cases()
    cases.save(path)
    found = Cases.load(path)
    assert len(found) == 3
    for field in fields(Cases):
        saved, read = getattr(cases, field.name), getattr(found, field.name)
        assert (read.dtype, read.tolist()) == (saved.dtype, saved.tolist())
    assert [file.name for file in path.parent.iterdir()] == ["cases.npz"]


def test_a_write_that_fails_leaves_the_old_cases(tmp_path, monkeypatch):
    path, cases = tmp_path / "cases.npz", some_cases()
    cases.save(path)
    old = path.read_bytes()
    monkeypatch.setattr(np, "savez_compressed", lambda file, **_: file.write(b"half") / 0)
    with pytest.raises(ZeroDivisionError):
        replace(cases, gold=cases.predicted).save(path)
    assert path.read_bytes() == old


def without_depth(path):
    arrays = asdict(some_cases())
    del arrays["depth"]
    np.savez(path, **arrays)


def test_cases_of_older_runs_have_no_probabilities(tmp_path):
    path, arrays = tmp_path / "cases.npz", asdict(some_cases())
    del arrays["likelihood"], arrays["confidence"]
    np.savez(path, **arrays)
    found = Cases.load(path)
    assert found.gold.tolist() == [0, 4, 2]
    assert np.isnan([found.likelihood, found.confidence]).all()


@pytest.mark.parametrize("places", [[2, 0, 2], [True, False, True]])
def test_some_of_the_cases(places):
    cases = some_cases()
    found = cases.only(np.array(places))
    numbers = [2, 0, 2] if places[0] == 2 else [0, 2]
    for field in fields(Cases):
        values = getattr(cases, field.name).tolist()
        assert getattr(found, field.name).tolist() == [values[number] for number in numbers]


def one_array(path):
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


DAMAGES = {
    "halved": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "without depth": without_depth,
    "pickled": lambda path: np.savez(
        path, **asdict(some_cases()) | {"gold": np.array([None, 1, 2], object)}
    ),
    "one array": one_array,
    "uneven": lambda path: np.savez(path, **asdict(some_cases()) | {"gold": np.zeros(2)}),
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_cases_are_refused(tmp_path, damage):
    path = tmp_path / "cases.npz"
    some_cases().save(path)
    DAMAGES[damage](path)
    with pytest.raises(DataError, match=r"cases\.npz: cannot be read as cases .*; delete it"):
        Cases.load(path)


def test_arrays_of_other_lengths_or_shapes_are_refused():
    with pytest.raises(DataError, match=r"of one length, found .*'words': \(2,\)"):
        replace(some_cases(), words=np.array([1, 2]))
    with pytest.raises(DataError, match="flat arrays"):
        Cases(*(getattr(some_cases(), field.name)[None] for field in fields(Cases)))


NEGATED = ("it is n't so", "I can not", "NEVER again", "Nobody came", "one without the other")
PLAIN = ("", "a notable film", "nowadays it is known", "nothingness", "cannons", "not-for-profit")


@pytest.mark.parametrize("text", [*NEGATED, "don’t go", *PLAIN])
def test_a_negation_is_found(text):
    assert negated(text.split()) is (text not in PLAIN)


def test_other_words_may_be_those_that_negate():
    texts = (
        "I can not",
        "it is n't so",
        "I don't",
        "NOT so",
        "nobody came",
        "never",
        "a notable film",
    )
    assert [negated(text.split(), NOT) for text in texts] == [True] * 4 + [False] * 3


def test_negations_are_lower_case():
    assert all(negated([word]) and word == word.lower() for word in NEGATIONS)
    assert {"n't", "not", "no", "never", "cannot", "nor", "without"} <= NEGATIONS


@pytest.mark.parametrize(
    ("places", "accuracy"),
    [([1, 1, 0], 50.0), ([0, 1, 0], 0.0), ([1, 0, 1], 100.0), ([0, 0, 0], None)],
)
def test_figures_at_some_places(places, accuracy):
    found = some_cases().figures_at("some_accuracy", "some", np.array(places, bool))
    assert found == {"some_accuracy": accuracy, "some": sum(places)}
