"""One run of a table: what is kept of it, that it is not done twice, and that a killed one goes
on."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import tiny_tree_pairs
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from tiny_table import tiny, write_all

from reproduce.attempts import Failure
from reproduce.parser import PARSERS
from reproduce.provenance import commit_of, recipe_digest
from reproduce.run import (
    Job,
    Outcome,
    _datasets,
    attempt,
    cases_of,
    digests_of,
    finished,
    job_of,
    run_one,
)
from reproduce.table import Table
from thinstack.core import Tree
from thinstack.errors import DataError
from thinstack.plugins.build import build_model
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.examples.inputs import data_digests
from thinstack.training.loop.learner import _digest
from thinstack.training.loop.seeds import run_seed


@pytest.fixture(autouse=True)
def as_in_a_process_of_its_own(monkeypatch):
    monkeypatch.setattr("reproduce.run._last", {})


def job(folder, place="lstm", table=None):
    folder.mkdir(exist_ok=True)
    path, data = write_all(folder, table or tiny())
    name, _, variant = place.partition("/")
    run = next(
        run for run in Table.read(path).runs() if (run.row.name, run.variant) == (name, variant)
    )
    return job_of(run, data=data, folder=folder / "work", commit="c0ffee")


def saved(job):
    return {path.name for path in job.folder.iterdir()}


KEPT = {"result.json", "digest.txt", "cases-gold.npz", "cases-balanced.npz"}


def test_a_run_is_that_of_its_recipe_and_seed(tmp_path):
    done = job(tmp_path)
    outcome = run_one(done)
    direct = run_seed(done.recipe, load_datasets(done.recipe, done.data), 1, tmp_path / "direct")
    assert outcome.figures == direct.dev
    assert (outcome.seed, outcome.epoch, outcome.epochs, outcome.commit) == (1, 2, 2, "c0ffee")
    assert outcome.seconds > 0
    whole = cases_of(done, "gold").whole
    assert int(whole.sum()) == 10  # sentences of dev.txt
    assert (cases_of(done, "gold").gold == direct.answers["gold"].gold).all()
    assert saved(done) == KEPT
    model = build_model(done.recipe.model, entries=7)
    leaves = 7 * 4
    assert (
        outcome.parameters["model"] == sum(value.numel() for value in model.parameters()) - leaves
    )
    head = 5 * 3 + 3
    assert outcome.parameters["encoder"] == outcome.parameters["model"] - head


SECONDS = {"name": "seconds", "title": "By seconds", "x": "seconds", "rows": ["lstm"]}


def test_a_traced_run_is_measured_after_each_epoch_and_learns_the_same(tmp_path):
    plain = run_one(job(tmp_path / "plain"))
    traced = run_one(job(tmp_path / "traced", table=tiny() | {"curves": [SECONDS]}))
    assert traced.figures == plain.figures
    assert (len(traced.trace), plain.trace) == (2, [])
    assert sum(at["seconds"] or 0 for at in traced.trace) == pytest.approx(traced.seconds)
    last = {key: value for key, value in traced.trace[-1].items() if key != "seconds"}
    assert last == traced.figures["gold"]
    assert traced.trace[0] != traced.trace[1]


ON_TRAIN = {"key": "left/train_accuracy", "title": "Trained on"}


def test_a_column_of_training_accuracy_has_it_measured_once_trained(tmp_path):
    table = tiny()
    table["columns"].append(ON_TRAIN)
    plain, done = job(tmp_path, "lstm/left"), job(tmp_path, "lstm/left", table)
    figures = run_one(done).figures
    datasets = load_datasets(done.recipe, done.data)
    model = run_seed(done.recipe, datasets, 1, tmp_path / "direct").model.eval()
    right = []
    for example in datasets.train:  # one sentence at a time; the root is the last node
        with torch.no_grad():
            scores = model(model.inputs(example.gold.forest))["node_scores"]
        right.append(int(scores[-1].argmax()) == int(example.gold.targets[-1]))
    assert 0 < sum(right) < len(right)
    assert figures["gold"].pop("train_accuracy") == pytest.approx(100 * sum(right) / len(right))
    assert figures == run_one(plain).figures


@pytest.mark.parametrize(
    ("more", "anew"),
    [({"columns": [*tiny()["columns"], ON_TRAIN]}, "lstm/left"), ({"curves": [SECONDS]}, "lstm")],
)
def test_more_figures_ask_for_new_runs_of_their_rows_alone(tmp_path, more, anew):
    for place in ("lstm", "lstm/left", "rvnn"):
        before, now = job(tmp_path, place), job(tmp_path, place, tiny() | more)
        assert (before.digest != now.digest) == (place == anew)


def test_what_was_done_is_not_done_again(tmp_path, monkeypatch):
    done = job(tmp_path)
    outcome = run_one(done)
    monkeypatch.setattr("reproduce.run.run_seed", None)
    assert run_one(done) == outcome == finished(done)


def test_seeds_of_a_row_share_what_is_trained_on(tmp_path, monkeypatch):
    first, other = job(tmp_path), job(tmp_path, "lstm/left")
    prepared = []

    def counted(recipe, data):
        prepared.append(recipe.name)
        return load_datasets(recipe, data)

    monkeypatch.setattr("reproduce.run.load_datasets", counted)
    second = replace(first, seed=2, folder=first.folder.parent / "2")
    outcomes = [run_one(each) for each in (first, second, other)]
    assert prepared == ["tiny.lstm", "tiny.lstm.left"]
    datasets = load_datasets(second.recipe, second.data)
    alone = run_seed(second.recipe, datasets, 2, tmp_path / "direct")
    assert outcomes[1].figures == alone.dev


def test_another_recipe_or_other_data_make_a_run_anew(tmp_path):
    first = job(tmp_path)
    run_one(first)
    changed = tiny()
    changed["recipe"]["training"]["epochs"] = 1
    second = job(tmp_path, table=changed)
    assert (second.folder, finished(second)) == (first.folder, None)
    assert run_one(second).epochs == 1
    with (first.data / "dev.txt").open("a", encoding="utf-8") as file:
        file.write("(2 good)\n")
    run = next(iter(Table.read(tmp_path / "tiny.toml").runs()))
    third = job_of(run, data=first.data, folder=tmp_path / "work", commit=None)
    assert (third.folder, finished(third)) == (first.folder, None)
    run_one(third)
    assert int(cases_of(third, "gold").whole.sum()) == 11


def interrupted(done):
    """Leave in the folder of a job what a kill after the first of its epochs does, which took 1000
    seconds."""
    training = done.recipe.training.model_copy(update={"epochs": 1})
    short = done.recipe.model_copy(update={"training": training})
    run_seed(short, load_datasets(short, done.data), done.seed, done.folder)
    path = done.folder / "checkpoint.safetensors"
    with safe_open(path, framework="pt") as file:
        noted = file.metadata()
    state = json.loads(noted["state"])
    state["history"][0]["seconds"] = 1000.0
    tensors, noted["state"] = load_file(path), json.dumps(state)
    save_file(tensors, path, noted | {"sha256": _digest(tensors, noted)})


def test_a_killed_run_goes_on_and_ends_as_if_it_had_not_been_killed(tmp_path):
    done = job(tmp_path)
    whole = run_one(done)
    shutil.rmtree(done.folder)
    interrupted(done)
    (done.folder / "digest.txt").write_text(done.digest, encoding="utf-8")
    resumed = run_one(done)
    assert (resumed.figures, resumed.epochs) == (whole.figures, 2)
    assert resumed.seconds > 1000
    assert saved(done) == KEPT


@pytest.mark.parametrize("note", [None, "of another recipe"])
def test_a_checkpoint_of_something_else_is_not_gone_on_from(tmp_path, note):
    done = job(tmp_path)
    interrupted(done)
    if note is not None:
        (done.folder / "digest.txt").write_text(note, encoding="utf-8")
    assert run_one(done).seconds < 1000


@pytest.mark.parametrize("text", ["", "{}", '{"digest": 1}', "[]"])
def test_a_damaged_result_counts_as_none(tmp_path, text):
    done = job(tmp_path)
    run_one(done)
    (done.folder / "result.json").write_text(text, encoding="utf-8")
    assert finished(done) is None
    assert run_one(done).epochs == 2


def test_a_result_whose_cases_are_gone_counts_as_none(tmp_path):
    done = job(tmp_path)
    run_one(done)
    (done.folder / "cases-balanced.npz").unlink()
    assert finished(done) is None
    assert run_one(done) == finished(done)
    assert saved(done) == KEPT


def test_an_error_is_an_answer(tmp_path, monkeypatch):
    done = job(tmp_path)
    (done.data / "train.txt").write_text("(2 good\n", encoding="utf-8")
    answer = attempt(done)
    assert isinstance(answer, Failure)
    assert "train.txt:1" in answer.reason
    assert not (done.folder / "error.txt").exists()
    monkeypatch.setattr("reproduce.run.load_datasets", lambda *_: 1 // 0)
    answer = attempt(done)
    assert isinstance(answer, Failure)
    assert answer.reason.startswith("ZeroDivisionError: ")
    assert "in _datasets" in (done.folder / "error.txt").read_text(encoding="utf-8")
    monkeypatch.undo()
    (done.data / "train.txt").write_text("(2 good)\n(1 film)\n", encoding="utf-8")
    assert isinstance(attempt(done), Outcome)
    assert not (done.folder / "error.txt").exists()


def test_a_rival_is_run_once_on_the_tables_data(tmp_path, monkeypatch):
    table = tiny()
    table["rows"].append({"name": "plain", "title": "Words", "rival": "tfidf"})
    done = job(tmp_path, "plain", table)
    asked = []

    def rival(name, recipe, data):
        asked.append((name, recipe.data.train, data))
        return {"root_accuracy": 61.5, "parameters": 77.0}

    monkeypatch.setattr("reproduce.run.run_rival", rival)
    outcome = run_one(done)
    assert run_one(done) == outcome
    assert asked == [("tfidf", "train.txt", done.data)]
    assert outcome.figures == {"gold": {"root_accuracy": 61.5}}
    assert (outcome.parameters, outcome.epoch, outcome.epochs) == ({"model": 77}, None, 0)


# -- other trees, and negations


PARSER = {"train": "ud/train.conllu", "dev": "ud/dev.conllu"}


def parsed(folder, monkeypatch, **recipe):
    """A job of the tiny table whose sentences get dependency trees, in which the last word is the
    head, and what its parser is asked."""
    asked = []

    def train_parser(train, dev, folder):
        asked.append((train, dev, folder))
        return Path("parser")

    def parse(parser, sentences):
        asked.append(parser)
        heads = ([*[len(words) - 1] * (len(words) - 1), -1] for words in sentences)
        return [Tree.from_parents(*pair) for pair in zip(heads, sentences, strict=True)]

    monkeypatch.setattr("reproduce.run.train_parser", train_parser)
    monkeypatch.setattr("reproduce.parser.parse", parse)
    table, cell = tiny(), {"name": "child_sum_lstm.v1", "options": {}}
    model = {"trees": "dependency", "cell": cell, **recipe.pop("model", {})}
    row = {"name": "parsed", "title": "Dependency", "parser": PARSER, "variants": []}
    table["rows"].append({**row, "recipe": {"model": model, **recipe}})
    (folder / "data" / "ud").mkdir(parents=True)
    for file in PARSER.values():
        (folder / "data" / file).write_text(f"stands for {file}\n", encoding="utf-8")
    return job(folder, "parsed", table), asked


def test_parsed_sentences_have_the_labels_of_phrases_over_the_same_words(tmp_path, monkeypatch):
    done, asked = parsed(tmp_path, monkeypatch)
    sentences = "(2 (1 the) (0 (2 good) (1 film)))\n(0 bad)\n"
    (done.data / "train.txt").write_text(sentences, encoding="utf-8")
    (done.data / "dev.txt").write_text("(1 (2 (1 the) (2 good)) (0 film))\n", encoding="utf-8")
    material, _ = _datasets(done)
    files = tuple(done.data / file for file in PARSER.values())
    assert asked == [(*files, PARSERS), Path("parser"), Path("parser")]
    (first, second), (third,) = material.train, material.dev
    targets = [example.trees["gold"].targets.tolist() for example in (first, second, third)]
    assert targets == [[1, 2, 2], [0], [1, 2, 1]]
    assert first.trees["gold"].forest.parents.tolist() == [2, 2, -1]


def test_a_phrase_within_a_parse_keeps_its_other_name(tmp_path, monkeypatch):
    names = {"0": "bad", "1": "", "2": "good"}
    model = {"labels": ["bad", "good"]}
    done, _ = parsed(tmp_path, monkeypatch, task={"relabel": names}, model=model)
    sentences = "(2 (1 the) (2 (2 good) (1 film)))\n(1 (1 the) (1 film))\n(0 (0 bad) (1 film))\n"
    (done.data / "train.txt").write_text(sentences, encoding="utf-8")
    found = _datasets(done)[0].train
    assert [example.trees["gold"].targets.tolist() for example in found] == [[-1, 1, 1], [0, 0]]


def test_a_parsed_row_is_made_anew_with_other_files_of_its_parser(tmp_path, monkeypatch):
    done, _ = parsed(tmp_path, monkeypatch)
    outcome = run_one(done)
    assert finished(done) == outcome
    run = next(run for run in Table.read(tmp_path / "tiny.toml").runs() if run.row.parser)
    assert digests_of(run, done.data).keys() == {"train.txt", "dev.txt", *PARSER.values()}
    (done.data / PARSER["dev"]).write_text("other\n", encoding="utf-8")
    assert job_of(run, data=done.data, folder=tmp_path / "work", commit=None).digest != done.digest


def test_negations_are_those_of_the_second_sentence_alone(tmp_path):
    data = tiny_tree_pairs.write_data(tmp_path / "data")
    recipe = tiny_tree_pairs.recipe("entailment", epochs=1)
    folder = tmp_path / "work"
    done = Job(recipe, None, None, 1, data, folder, "digest", None)
    figures = run_one(done).figures["gold"]
    pairs = tiny_tree_pairs.pairs(6, seed=2)
    negated = ["not" in pair.second and "not" not in pair.first for pair in pairs]
    assert set(negated) == {True, False}
    cases = cases_of(done, "gold")
    assert cases.negated.tolist() == negated
    right = [
        guess == tiny_tree_pairs.CLASSES.index(pair.label)
        for guess, pair, negative in zip(cases.predicted, pairs, negated, strict=True)
        if negative
    ]
    assert figures["negations"] == len(right)
    assert figures["negation_accuracy"] == pytest.approx(100 * sum(right) / len(right))
    assert figures["not_accuracy"] == figures["negation_accuracy"]  # there is no other negation
    assert (figures["long_accuracy"], figures["long_premises"]) == (None, 0)


def test_the_process_keeps_its_random_numbers_out_of_a_run(tmp_path):
    first, second = job(tmp_path / "a"), job(tmp_path / "b")
    torch.manual_seed(5)
    figures = run_one(first).figures
    torch.manual_seed(6)
    assert run_one(second).figures == figures


# -- what a run comes from


def recipe_of(train, dev):
    """A recipe with these files."""
    table = Table.parse(tiny(), source="")
    recipe = table.recipe_of(table.rows[0])
    data = recipe.data.model_copy(update={"train": train, "dev": dev})
    return recipe.model_copy(update={"data": data})


def test_digests_of_files_and_folders(tmp_path):
    folder, recipe = tmp_path / "sick", recipe_of("sick/train", "sick/dev")
    for name in ("train", "dev"):
        (folder / name).mkdir(parents=True)
    for name in ("train/sim.txt", "dev/sim.txt"):
        (folder / name).write_text("1.0\n", encoding="utf-8")
    before = data_digests(recipe, tmp_path)
    assert list(before) == ["sick/train", "sick/dev"]
    (folder / "train" / "a.toks").write_text("", encoding="utf-8")
    added = data_digests(recipe, tmp_path)
    assert [name for name in added if added[name] != before[name]] == ["sick/train"]


def test_the_digest_of_a_file_is_its_sha_256(tmp_path):
    done = job(tmp_path)
    (done.data / "train.txt").write_text("abc", encoding="utf-8")
    digest = data_digests(done.recipe, done.data)["train.txt"]  # FIPS 180-2, B.1:
    assert digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert len(recipe_digest(done.recipe)) == 64


def test_data_that_are_missing_are_named(tmp_path):
    done = job(tmp_path)
    (done.data / "dev.txt").unlink()
    with pytest.raises(DataError, match=r"dev\.txt: cannot be read: No such file.* --data"):
        data_digests(done.recipe, done.data)


def test_the_commit_is_that_of_the_tables_repository(tmp_path, monkeypatch):
    if shutil.which("git") is None:
        pytest.skip("needs git")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    table = tmp_path / "repository" / "lab" / "recipes" / "tiny.toml"
    table.parent.mkdir(parents=True)
    table.write_text("", encoding="utf-8")
    assert commit_of(table) is None
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")

    def git(*words):
        subprocess.run(["git", *author, *words], cwd=tmp_path / "repository", check=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    commit = commit_of(table)
    assert len(commit) == 40
    (table.parent / "new.toml").write_text("", encoding="utf-8")
    assert commit_of(table) == commit
    table.write_text("name = 1", encoding="utf-8")
    assert commit_of(table) == f"{commit}-dirty"
