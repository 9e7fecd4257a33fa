"""Models of pairs: what they say of two texts, by batches, and what they refuse."""

import csv
import json
import pickle
import re

import numpy as np
import pandas
import pytest
import torch
from pair_models import SIZE, write_pair_bundle

import thinstack
from thinstack.core.transitions import balanced, breaks_of
from thinstack.errors import InputError, LanguageWarning
from thinstack.runtime import stream
from thinstack.runtime.pairs import PairReader
from thinstack.runtime.units import cut

FIRST = ["The film is good.", "It is dull", "The plot. It is fine.", "who", "film is bad"]
SECOND = ["It is fine.", "The film is good .", "bad", "who is it?", "The plot is the plot"]
WORDS = [
    "The film is good .;It is fine .",
    "It is dull;The film is good .",
    "The plot . It is fine .;bad",
    "who;who is it ?",
    "film is bad;The plot is the plot",
]


@pytest.fixture(scope="module", params=["rating", "label"])
def trained(request, tmp_path_factory):
    return write_pair_bundle(tmp_path_factory.mktemp("pairs") / "bundle", request.param)


@pytest.mark.parametrize(
    ("target", "parses", "vectors"),
    [("rating", True, True), ("label", True, False), ("label", False, True)],
)
def test_pairs_have_the_scores_of_torch(tmp_path, monkeypatch, target, parses, vectors):
    monkeypatch.setitem(stream.BATCH_TEXTS, "cpu", 4)  # two pairs at a time
    made = write_pair_bundle(tmp_path / "bundle", target, parses=parses, vectors=vectors)
    model = thinstack.load(made.bundle.path, threads=1, isolated=False)
    results = model.pairs(FIRST, SECOND)
    expected = made.scores(*(side.split() for pair in WORDS for side in pair.split(";")))
    assert len({*results, results[0]}) == len(results), "they can be hashed"
    assert [result.text_a for result in results] == FIRST
    assert [result.text_b for result in results] == SECOND
    scores = np.array([[*result.scores.values()] for result in results])
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-6)
    assert np.ptp(scores[:, 0]) > 0.01
    for result, row in zip(results, expected, strict=True):
        assert [*result.scores] == [*model.labels]
        if target == "rating":
            assert result.label is None
            assert result.rating == pytest.approx(row[1] + 2 * row[2], abs=1e-6)
        else:
            assert (result.rating, result.label) == (None, ("no", "yes")[row.argmax()])
    assert model.pairs(FIRST[1], SECOND[1]).scores == pytest.approx(results[1].scores, abs=1e-6)
    assert model.pairs(iter(()), []) == []


def test_a_long_side_is_read_in_parts_by_a_model_that_joins_them(tmp_path):
    made, words = write_pair_bundle(tmp_path / "bundle"), ["good", "fine", "bad", "dull", "film"]
    model = thinstack.load(made.bundle.path, max_words=2, isolated=False)
    lengths = [end - start for start, end in cut(words, [1] * 5, 2)]
    assert len(lengths) > 2
    tree = breaks_of(balanced(len(lengths))).tolist()
    inputs = {"lengths": [1, *lengths], "breaks": [0, *tree], "transitions": []}
    inputs |= made.bundle.vocabulary().fields(["good", *words])
    with torch.no_grad():
        given = {name: torch.tensor(values, dtype=torch.long) for name, values in inputs.items()}
        (row,) = made.model(given)["pair_scores"].tolist()
    scores = model.pairs("good", " ".join(words)).scores
    assert [*scores.values()] == pytest.approx(row, abs=1e-6)


def test_a_model_of_balanced_trees_reads_a_long_side_as_a_whole(tmp_path):
    made, text = write_pair_bundle(tmp_path / "bundle", parses=False), "good fine bad dull film"
    (row,) = made.scores(["good"], text.split()).tolist()
    scores = thinstack.load(made.bundle.path, max_words=2).pairs("good", text).scores
    assert [*scores.values()] == pytest.approx(row, abs=1e-6)


def test_a_head_of_pairs_reads_the_vectors_of_both_texts(tmp_path):
    model = write_pair_bundle(tmp_path / "bundle").model
    inputs = {"pieces_per_word": [1] * 4, "piece_ids": [1, 2, 3, 4], "lengths": [2, 2]}
    inputs |= {"breaks": [0, 0], "transitions": []}
    with torch.no_grad():
        given = {name: torch.tensor(values, dtype=torch.long) for name, values in inputs.items()}
        outputs, roots = model(given), model.encode(given, False).roots
    vectors = outputs["sentence_vectors"].numpy()
    rows = roots.numpy() @ model.vectors.linear.weight.detach().numpy().T
    expected = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-6)
    assert model.head.hidden_size == vectors.shape[1] == SIZE


def test_a_process_of_its_own_and_a_pickle_say_the_same(trained):
    model = thinstack.load(trained.bundle.path, isolated=False)
    expected = model.pairs(FIRST, SECOND)
    assert thinstack.load(trained.bundle.path, isolated=True).pairs(FIRST, SECOND) == expected
    assert pickle.loads(pickle.dumps(model)).pairs(FIRST, SECOND) == expected
    assert pickle.loads(pickle.dumps(expected)) == expected


@pytest.mark.parametrize(
    ("a", "b", "problem"),
    [
        (["good", "good"], ["bad", " "], "text_b of pair 1: expected a text with words, found ' '"),
        (["good", None], ["bad", "bad"], "text_a of pair 1: expected a text, .*None"),
        (["good"] * 9, ["bad"] * 8 + ["\t"], "text_b of pair 8: expected a text with words"),
        ("good", "\ud800", "text_b of pair 0: not valid Unicode"),
        ("good", ["bad"], "found one text as text_a: "),
        (["good"], ["bad", "bad"], "of the same length, found 1 and 2"),
        (None, "bad", "expected several texts, found None"),
    ],
)
def test_pairs_that_cannot_be_read(trained, monkeypatch, a, b, problem):
    monkeypatch.setitem(stream.BATCH_TEXTS, "cpu", 4)
    with pytest.raises(InputError, match=problem):
        thinstack.load(trained.bundle.path, threads=1).pairs(a, b)


def test_pairs_come_as_batches_are_read(trained):
    model = thinstack.load(trained.bundle.path, threads=1)
    asked = iter([("good", "bad")] * 5000)
    next(PairReader(model).results(asked))
    assert len(list(asked)) > 4000


def test_a_language_is_doubted_once(trained):
    model, text = thinstack.load(trained.bundle.path), "Der Film ist ein Meisterwerk der Kunst"
    with pytest.warns(LanguageWarning, match="text_b of pair 1: ") as caught:
        model.pairs(["good", "good", text], ["good", text, "good"])
    assert len(caught) == 1


def test_a_model_reads_single_texts_or_pairs(trained):
    model = thinstack.load(trained.bundle.path)
    for call in (
        lambda: model("good"),
        lambda: model(["good"]),
        lambda: model.stream(["good"]),
        lambda: model.predict([["good"]]),
        lambda: model.encode("good"),
        lambda: thinstack.score_frame(pandas.DataFrame({"text": ["good"]}), model=model),
    ):
        with pytest.raises(InputError, match=r"reads pairs of texts.*model\.pairs\(a, b\)"):
            call()
    with pytest.raises(InputError, match=r"reads single texts: call model\(text\)"):
        thinstack.load().pairs("a", "b")


def table(path, *, columns=("text_a", "text_b")):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *zip(FIRST, SECOND, strict=True)])
    return path


def test_a_pair_on_the_command_line(cli, trained):
    model, path = thinstack.load(trained.bundle.path), trained.bundle.path
    result = model.pairs(FIRST[0], SECOND[0])
    asking = ("predict", "--model", path, "--pair", FIRST[0], SECOND[0])
    data = cli(*asking, "--json").json
    assert data == json.loads(cli(*asking, "--jsonl").out) == result.to_dict()
    shown, row = cli(*asking).out, cli(*asking, "--csv").out.splitlines()[1]
    if result.rating is not None:
        assert shown == f"{result.rating:.2f} (from 0 to 2)\n"
        assert row == f"{FIRST[0]},{SECOND[0]},{round(result.rating, 6)}"
    else:
        assert shown.startswith(f"{result.label} ({result.label} 0.")
        assert row.startswith(f"{FIRST[0]},{SECOND[0]},{result.label},0.")


def test_a_table_of_pairs_on_the_command_line(cli, trained, tmp_path):
    model, path = thinstack.load(trained.bundle.path), trained.bundle.path
    expected = [result.to_dict() for result in model.pairs(FIRST, SECOND)]
    own = table(tmp_path / "own.csv", columns=("premise", "text"))
    asking = ("predict", "--model", path, "--input")
    printed = cli(*asking, table(tmp_path / "pairs.csv")).out
    assert cli(*asking, "-", stdin=(tmp_path / "pairs.csv").read_bytes()).out == printed
    named = ("--text", "premise", "--text", "text")
    for out in ("rows.csv", "rows.jsonl"):
        assert cli(*asking, own, *named, "--out", tmp_path / out).code == 0
    assert (tmp_path / "rows.csv").read_text(encoding="utf-8") == printed
    lines = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == expected
    what = "rating" if model.rates_pairs else "label"
    rows = [*csv.DictReader(printed.splitlines())]
    assert [row[what] for row in rows] == [str(row[what]) for row in expected]
    assert [row["text_b"] for row in rows] == SECOND


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--input", "pairs.csv", "--text", "text_a"], "expected two different columns.*text_a"),
        (["--input", "pairs.csv", *["--text", "text_b"] * 2], "found text_b, text_b; pass --text"),
        (["--input", "pairs.csv", "--text", "x", "--text", "text_b"], "expected the column 'x'"),
        (["--input", "pairs.csv", "--jobs", "2"], "--jobs: does not work with a table of pairs"),
        (["--input", "pairs.csv", "--json"], "--json: does not work with a table of pairs"),
        (["--input", "pairs.csv", "--out", "rows"], "expected a .csv or .jsonl file"),
        (["--input", "pairs.csv", "--out", "pairs.csv"], "would replace"),
        (["--input", "pairs.csv", "--out", "there.csv"], "already exists"),
        (["--pair", "a", "b", "--why"], "--why: does not work with --pair"),
        (["--pair", "a", "b", "c"], "the texts: does not work with --pair"),
        (["--pair", "a", " "], "text_b of pair 0"),
        (["a"], r"reads pairs of texts.*thinstack predict --pair A B"),
    ],
)
def test_pairs_that_a_command_refuses(cli, trained, tmp_path, monkeypatch, arguments, problem):
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "pairs.csv")
    (tmp_path / "there.csv").touch()
    before = sorted(path.name for path in tmp_path.iterdir())
    answer = cli("predict", "--model", trained.bundle.path, *arguments)
    assert answer.code == 2
    assert re.search(problem, answer.err)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert not (tmp_path / "there.csv").read_bytes()


def test_two_columns_are_for_a_model_of_pairs(cli, trained, tmp_path):
    path = table(tmp_path / "pairs.csv")
    command = ("predict", "--input", path, "--text", "text_a", "--text", "text_b")
    answer = cli(*command, "--out", tmp_path / "out.csv")
    assert (answer.code, "--text: expected one column" in answer.err) == (2, True)
    answer = cli("evaluate", trained.bundle.path, path)
    assert (answer.code, "reads pairs of texts" in answer.err) == (2, True)


def test_a_pair_without_words_is_left_out_and_named(trained):
    model = thinstack.load(trained.bundle.path, threads=1, isolated=False)
    pairs, errors = [("film", "plot"), ("who", " "), ("bad", "good")], {}
    results = list(PairReader(model).results(pairs, errors.__setitem__))
    assert [(one.text_a, one.text_b) for one in results] == [pairs[0], pairs[2]]
    assert results[1].scores == pytest.approx(model.pairs("bad", "good").scores, abs=1e-6)
    assert [*errors] == [1]
    assert "text_b" in str(errors[1])


def test_a_table_of_pairs_loses_only_the_rows_that_cannot_be_read(trained, cli, tmp_path):
    rows = 'text_a,text_b\nfilm,plot\nwho,NA\n"a","<br>"\nbad,good\n'
    (tmp_path / "p.csv").write_text(rows, encoding="utf-8")
    out = tmp_path / "out.csv"
    table = "--input", tmp_path / "p.csv", "--out", out
    answer = cli("predict", "--model", trained.bundle.path, *table)
    assert answer.code == 1
    assert answer.err.startswith("2 rows failed, the first: ")
    assert "p.csv:3" in answer.err
    kept = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert [row["text_b"] for row in kept] == ["plot", "good"]
