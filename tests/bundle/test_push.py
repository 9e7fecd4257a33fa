"""`thinstack push`, to a stub of the hub on this machine, and back."""

import json

import pytest
from bundle.stub_hub import TOKEN, run, running_hub
from bundle_folders import GOLDEN, replaced

from thinstack.bundle import open_bundle
from thinstack.bundle.manifest import GPU_FILE
from thinstack.bundle.reading import pack
from thinstack.bundle.writing import write_packed
from thinstack.errors import BundleError
from thinstack.integrations.push import push

PARSER = GOLDEN / "wordpiece-parser"


@pytest.fixture
def hub():
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


def test_a_bundle_goes_up_and_comes_back(hub, model, tmp_path):
    before = pack(open_bundle(model))
    command = ["push", str(model), "user/films", "--private"]
    (pushed,) = run(hub, tmp_path / "home", command, HF_TOKEN=TOKEN)
    repository = hub.repositories["user/films"]
    commit = repository.branches["main"]
    url = f"{hub.url}/user/films/commit/{commit}"
    load = f"load it: thinstack.load('hf://user/films@{commit}')\n"
    assert pushed == (0, f"{url}\n{load}", "")
    assert repository.private
    files = dict(repository.commits[commit])
    del files[".gitattributes"]
    assert files == before == pack(open_bundle(model))
    assert files[GPU_FILE] == b"what only GPUs read"

    again = ["push", f"hf://user/films@{commit}", "user/copy", "--revision", "v1"]
    (copied,) = run(hub, tmp_path / "home", again, HF_TOKEN=TOKEN)
    assert copied[0] == 0
    copy = hub.repositories["user/copy"]
    assert not copy.private
    assert copy.commits[copy.branches["v1"]] == repository.commits[commit]
    assert copy.commits[copy.branches["main"]] == {".gitattributes": b""}


def test_a_bundle_that_is_wrong_stays_here(hub, model, tmp_path):
    cases = json.loads((model / "cases.json").read_bytes())
    cases["cases"][0]["outputs"]["root_scores"][0][0] += 0.01
    replaced("cases.json", json.dumps(cases).encode())(model)
    damaged = tmp_path / "damaged"
    write_packed(pack(open_bundle(PARSER)), damaged)
    (damaged / "vocabulary.txt").write_bytes(b"")
    commands = [["push", str(folder), "user/films"] for folder in (model, damaged)]
    otherwise, broken = run(hub, tmp_path / "home", *commands, HF_TOKEN=TOKEN)
    assert otherwise[0] == broken[0] == 2
    assert "scores differ by 0.01 from those of its reference cases" in otherwise[2]
    assert "vocabulary.txt" in broken[2]
    assert hub.requests == []


def test_without_a_token_it_says_how_to_get_one(hub, model, tmp_path):
    command = ["push", str(model), "user/films"]
    for token in ("", "hf_wrong"):
        (answer,) = run(hub, tmp_path / "home", command, HF_TOKEN=token)
        assert answer[0] == 2
        assert answer[2].startswith("error: hf://user/films: ")
        assert "hf auth login" in answer[2]
        assert answer[2].count("\n") == 1


@pytest.mark.parametrize("name", ["films", "user/films@v1", "hf://user/films", "a/b/c", "", "/"])
def test_what_is_no_repository(name):
    with pytest.raises(BundleError, match="user/name"):
        push(PARSER, name)
