"""Bundles by their address on a hub, and `thinstack push`: a stub on this machine is asked."""

import json
import sys
from pathlib import Path

import pytest
import spacy
from bundle.stub_hub import TOKEN, Repository, run, running_hub
from bundle_folders import GOLDEN, replaced, write
from training import tiny_recipe

import thinstack
from thinstack.bundle import open_bundle, opening
from thinstack.bundle.hub import is_address
from thinstack.bundle.manifest import GPU_FILE
from thinstack.bundle.reading import pack
from thinstack.bundle.writing import write_packed
from thinstack.errors import BundleError, MissingExtraError
from thinstack.integrations.push import push
from thinstack.training.loop.initial import first_leaves
from thinstack.training.recipe import InitConfig

FILMS = "hf://user/films"


@pytest.fixture(scope="module")
def hub(files):
    with running_hub() as hub:
        for name in ("films", "gated", "bare", "damaged", "lacking", "broken", "wide"):
            hub.repositories[f"user/{name}"] = Repository()
        hub.repositories["user/films"].commit(files | {"big.bin": b"x", "a/b.txt": b"y"})
        hub.repositories["user/gated"].commit(files)
        hub.repositories["user/gated"].gated = True
        hub.repositories["user/bare"].commit({"README.md": b"# none"})
        hub.repositories["user/damaged"].commit(files | {"vocabulary.txt": b"other\n"})
        less = {name: content for name, content in files.items() if name != "cases.json"}
        hub.repositories["user/lacking"].commit(less)
        hub.repositories["user/broken"].commit(files | {"manifest.json": b"{}"})
        hub.repositories["user/wide"].commit({"manifest.json": bytes((1 << 20) + 1)})
        yield hub


def test_what_is_downloaded_is_the_bundle_and_nothing_else(hub, files, tmp_path):
    hub.requests.clear()
    predict = ["predict", "--model", FILMS, "--json", "the film"]
    (opened, predicted) = run(hub, tmp_path, ["open", FILMS], predict)
    assert hub.downloaded() == sorted(files)  # once, though two commands used them
    assert opened[0] == predicted[0] == 0
    folder = Path(opened[1])
    assert tmp_path in folder.parents
    found = [path for path in folder.rglob("[!.]*") if not path.is_dir()]
    found = [path for path in found if ".cache" not in path.relative_to(folder).parts]
    assert not any(path.is_symlink() for path in found)
    assert {path.relative_to(folder).as_posix(): path.read_bytes() for path in found} == files
    own = thinstack.load(GOLDEN / "words").predict([["the", "film"]])[0]
    (shown,) = json.loads(predicted[1])
    assert shown["label"] == own.label


def test_a_commit_stays_and_a_branch_moves_and_both_are_kept(files, tmp_path):
    other = pack(write(tmp_path / "other"))
    address = "hf://user/moving"
    with running_hub() as hub:
        repository = hub.repositories["user/moving"] = Repository()
        old = repository.commit(files, "main")
        repository.branches["v1"] = old
        (first,) = run(hub, tmp_path / "home", ["open", address])
        new = repository.commit(other)
        hub.requests.clear()
        commands = [["open", f"{address}@{old}"], ["open", address], ["open", f"{address}@v1"]]
        pinned, moved, _ = run(hub, tmp_path / "home", *commands)
        assert (first[1], pinned[1]) == (moved[1].replace(new, old),) * 2
        assert (
            open_bundle(Path(moved[1])).manifest.digest
            == open_bundle(tmp_path / "other").manifest.digest
        )
        assert hub.requests[0].endswith("/resolve/main/manifest.json")  # nothing for the commit
    # The hub is gone.
    commands = [["open", address], ["open", f"{address}@{old}"], ["open", "hf://user/never"]]
    branch, commit, never = run(hub, tmp_path / "home", *commands)
    assert (branch, commit) == (moved, pinned)
    assert never[0].startswith("BundleError: hf://user/never: the hub cannot be reached: ")


def test_what_cannot_be_had_is_told_in_a_line(hub, tmp_path):
    expected = {
        "user/nobody": "no such repository, or it is private: log in with hf auth login",
        "user/films@v9": "no such revision",
        "user/gated": "request access",
        "user/bare": "not a bundle",
    }
    of_files = {
        "user/lacking": "cases.json: missing, though the manifest lists it",
        "user/broken": "manifest.json: not a thinstack bundle manifest",
        "user/wide": "limit is 1,048,576",
        "user/damaged": "the manifest says",
    }
    commands = [["open", f"hf://{name}"] for name in expected]
    predict = ["predict", "--model", "hf://user/nobody", "film"]
    opened = [["open", f"hf://{name}"] for name in of_files]
    predicted, *answers = run(hub, tmp_path, predict, *commands, *opened)
    answers = [answer for answer, _, _ in answers]
    for (name, problem), answer in zip(expected.items(), answers, strict=False):
        assert answer.startswith(f"BundleError: hf://{name}: {problem}")
        assert "\n" not in answer
    for (name, problem), answer in zip(of_files.items(), answers[len(expected) :], strict=True):
        assert answer.startswith(f"BundleError: hf://{name}, as uploaded by its author: ")
        assert problem in answer
    assert predicted == (2, "", f"error: hf://user/nobody: {expected['user/nobody']}\n")


@pytest.mark.parametrize(
    "text",
    [
        *("hf://", "hf://user", "hf://user/", "hf:///name", "hf://a/b/c", "hf://a/b@"),
        *("hf://../b", "hf://a/..", "hf://a/b@../../c", "hf://a/b@c d", "hf://a/b@c@d"),
        *("hf://é/b", "hf://a/b\n"),
    ],
)
def test_what_is_no_address(text):
    assert is_address(text)
    with pytest.raises(BundleError, match="hf://user/name@revision"):
        open_bundle(text)


@pytest.fixture
def fetched(last_word, monkeypatch):
    """Every address leads to one bundle; returns those that were asked for."""
    asked = []

    def fetch(address):
        asked.append(address)
        return last_word

    monkeypatch.setattr(opening, "fetch", fetch)
    return asked


def test_an_address_is_a_name_wherever_there_is_one(fetched, cli, tmp_path):
    pinned = f"{FILMS}@v1"
    (found,) = cli("predict", "good", "--model", pinned, "--json").json
    assert found["label"] == "good"
    (tmp_path / "trees.txt").write_text("(2 (1 film) (2 good))\n", encoding="utf-8")
    assert cli("evaluate", pinned, tmp_path / "trees.txt").code == 0
    recipe = tiny_recipe.recipe().model_copy(update={"init": InitConfig(bundle=pinned)})
    assert first_leaves(recipe, tmp_path, [], 1).vocabulary.entries[0] == "good"
    assert set(fetched) == {pinned}


def test_spacy_notes_the_address_and_a_saved_pipeline_needs_no_hub(fetched, monkeypatch, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_sentiment", config={"model": FILMS})
    assert nlp("good").cats["good"] > 0.5
    nlp.to_disk(tmp_path / "pipeline")
    assert (
        spacy.load(tmp_path / "pipeline").config["components"]["tree_sentiment"]["model"] == FILMS
    )

    def gone(address):
        raise AssertionError("nothing is to be fetched")

    monkeypatch.setattr(opening, "fetch", gone)
    again = spacy.load(tmp_path / "pipeline")
    assert again("good").cats == nlp("good").cats
    with pytest.raises(AssertionError, match="fetched"):
        spacy.blank("en").add_pipe("tree_sentiment", config={"model": FILMS})


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"pip install huggingface_hub, .*'hub'"):
        open_bundle(FILMS)


PARSER = GOLDEN / "wordpiece-parser"


@pytest.fixture
def empty_hub():
    with running_hub() as found:
        yield found


@pytest.fixture
def model(tmp_path):
    """A bundle with a file for GPUs, and a file beside it that is none of
    its own."""
    folder = tmp_path / "model"
    write_packed(pack(open_bundle(PARSER)), folder)
    (folder / GPU_FILE).write_bytes(b"")
    replaced(GPU_FILE, b"what only GPUs read")(folder)
    (folder / ".notes").write_text("of mine")
    return folder


def test_a_bundle_goes_up_and_comes_back(empty_hub, model, tmp_path):
    before = pack(open_bundle(model))
    command = ["push", str(model), "user/films", "--private"]
    (pushed,) = run(empty_hub, tmp_path / "home", command, HF_TOKEN=TOKEN)
    repository = empty_hub.repositories["user/films"]
    commit = repository.branches["main"]
    url = f"{empty_hub.url}/user/films/commit/{commit}"
    load = f"load it: thinstack.load('hf://user/films@{commit}')\n"
    assert pushed == (0, f"{url}\n{load}", "")
    assert repository.private
    files = dict(repository.commits[commit])
    del files[".gitattributes"]
    assert files == before == pack(open_bundle(model))
    assert files[GPU_FILE] == b"what only GPUs read"

    again = ["push", f"hf://user/films@{commit}", "user/copy", "--revision", "v1"]
    (copied,) = run(empty_hub, tmp_path / "home", again, HF_TOKEN=TOKEN)
    assert copied[0] == 0
    copy = empty_hub.repositories["user/copy"]
    assert not copy.private
    assert copy.commits[copy.branches["v1"]] == repository.commits[commit]
    assert copy.commits[copy.branches["main"]] == {".gitattributes": b""}


def test_a_bundle_that_is_wrong_stays_here(empty_hub, model, tmp_path):
    cases = json.loads((model / "cases.json").read_bytes())
    cases["cases"][0]["outputs"]["root_scores"][0][0] += 0.01
    replaced("cases.json", json.dumps(cases).encode())(model)
    damaged = tmp_path / "damaged"
    write_packed(pack(open_bundle(PARSER)), damaged)
    (damaged / "vocabulary.txt").write_bytes(b"")
    commands = [["push", str(folder), "user/films"] for folder in (model, damaged)]
    otherwise, broken = run(empty_hub, tmp_path / "home", *commands, HF_TOKEN=TOKEN)
    assert otherwise[0] == broken[0] == 2
    assert "scores differ by 0.01 from its reference cases" in otherwise[2]
    assert "vocabulary.txt" in broken[2]
    assert empty_hub.requests == []


def test_without_a_token_it_says_how_to_get_one(empty_hub, model, tmp_path):
    command = ["push", str(model), "user/films"]
    for token in ("", "hf_wrong"):
        (answer,) = run(empty_hub, tmp_path / "home", command, HF_TOKEN=token)
        assert answer[0] == 2
        assert answer[2].startswith("error: hf://user/films: ")
        assert "hf auth login" in answer[2]
        assert answer[2].count("\n") == 1


@pytest.mark.parametrize("name", ["films", "user/films@v1", "hf://user/films", "a/b/c", "", "/"])
def test_what_is_no_repository(name):
    with pytest.raises(BundleError, match="user/name"):
        push(PARSER, name)
