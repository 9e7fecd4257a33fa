"""What commands print; every bad input ends in one message and exit code 2."""

import io
import json
import os
import re
import subprocess
import sys

import pytest
from command_line import Answer
from last_word_model import write_last_word_bundle

import thinstack
from thinstack.cli import main


@pytest.fixture(scope="module")
def bundle(last_word):
    return last_word.path


def test_json_is_the_result_of_each_text(cli, bundle):
    texts = ["A good film. It's awful", "film", ""]
    answer = cli("predict", *texts, "--json", "--model", bundle, "--source", "left")
    assert answer.err == "warning: text 2 has no words\n"
    results = thinstack.load(bundle)(texts, source="left")
    assert answer.json == [result.to_dict() for result in results]
    assert [item["text"] for item in answer.json] == texts


def test_lines_of_json_tell_the_text_of_each_sentence(cli, bundle):
    options = ("--model", bundle, "--source", "left")
    answer = cli("predict", *options, "--jsonl", stdin=b"A good film. It's awful\n\nfilm")
    assert (answer.code, answer.err) == (0, "warning: text 1 has no words\n")
    found = [json.loads(line) for line in answer.out.splitlines()]
    documents = [item.pop("document") for item in found]
    places = [(item.pop("text_index"), item.pop("sentence_index")) for item in found]
    assert places == [(0, 0), (0, 1), (2, 0)]
    texts = cli("predict", "A good film. It's awful", "film", *options, "--json").json
    assert found == [sentence for text in texts for sentence in text["sentences"]]
    first, second = ([*found[place]["scores"].values()] for place in (0, 1))
    mean = [(4 * one + 3 * other) / 7 for one, other in zip(first, second, strict=True)]
    assert documents[0] == documents[1] != documents[2]
    assert [*documents[0]["scores"].values()] == pytest.approx(mean, abs=1e-5)
    assert documents[0]["label"] == thinstack.load(bundle).labels[mean.index(max(mean))]
    assert documents[2]["scores"] == found[2]["scores"]


def test_lines_of_json_are_there_before_what_cannot_be_read(cli, bundle):
    answer = cli("predict", "--jsonl", "--model", bundle, stdin=b"good\nawful\ncaf\xe9\nfilm\n")
    assert [json.loads(line)["label"] for line in answer.out.splitlines()] == ["good", "bad"]
    answer._replace(out="").check_refused("standard input:3: expected text in utf-8")


@pytest.mark.parametrize(
    ("encoding", "data"),
    [("latin-1", b"caf\xe9\r\n"), ("utf-8", b"\xef\xbb\xbfcaf\xc3\xa9"), ("utf-16", None)],
)
def test_standard_input_in_other_encodings(cli, bundle, encoding, data):
    data = data or "caf\xe9\n".encode(encoding)
    (found,) = cli("predict", "--json", "--encoding", encoding, "--model", bundle, stdin=data).json
    assert found["text"] == "caf\xe9"


def test_who_stops_reading_gets_no_error(bundle):
    command = [sys.executable, "-m", "thinstack", "predict", "--jsonl", "--model", str(bundle)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    _, errors = process.communicate(b"good\n" * 200)
    assert (process.returncode, errors) == (0, b"")


def test_a_long_sentence_is_read_in_parts(cli, bundle):
    options = ("good film ; it is awful", "film", "--model", bundle, "--max-words", 4)
    (first,), (second,) = (text["sentences"] for text in cli("predict", *options, "--json").json)
    assert first["parts"] == [[0, 3], [3, 6]]
    assert (len(first["nodes"]), "parts" in second) == (11, False)
    note = "6 words, read in 2 parts; a balanced tree joins them"
    assert cli("predict", *options).out.count(note) == 1


@pytest.mark.parametrize("option", ["--html", "--svg"])
def test_a_page_replaces_nothing_that_is_read(cli, bundle, tmp_path, option):
    texts = tmp_path / "t.html"
    texts.write_text("good\n")
    before = os.dup(0)
    try:
        with texts.open("rb") as file:
            os.dup2(file.fileno(), 0)
        inputs = {path: path.read_bytes() for path in (texts, bundle / "config.json")}
        for path in inputs:
            answer = cli("predict", "--model", bundle, option, path, stdin=b"good\n")
            answer.check_refused(str(path))
        assert inputs == {path: path.read_bytes() for path in inputs}
    finally:
        os.dup2(before, 0)
        os.close(before)
    pages = ("--html", tmp_path / "p", "--svg", tmp_path / "p")
    cli("predict", "good", "--model", bundle, *pages).check_refused(str(tmp_path / "p"))
    assert cli("predict", "good", "--model", bundle, option, texts).code == 0, "it is not read"


def test_why_names_what_turns_the_sentence(cli, bundle, tmp_path):
    page = tmp_path / "page.html"
    options = ("predict", "The film is good", "--model", bundle, "--source", "left", "--why")
    found = cli(*options, "--json").json[0]["sentences"][0]
    assert [item["text"] for item in found["why"]][:3] == ["The", "film", "The film"]
    assert [item["text"] for item in found["why"] if item["turning"]] == ["good"]
    assert "why" not in cli(*options[:-1], "--json").json[0]["sentences"][0]
    lines = cli(*options).out.splitlines()
    assert lines[1] == "because of: good"
    assert [line.split()[-2] for line in lines if line.endswith(" ◄")] == ["└╴good"]
    assert "because of" not in cli(*options[:-1]).out
    cli(*options, "--html", page)
    assert re.findall(' turning"', page.read_text(encoding="utf-8")) == [' turning"']


def test_why_of_a_sentence_in_parts_is_not_told(cli, bundle):
    answer = cli(
        "predict", "a b c. So good", "--why", "--max-words", 3, "--json", "--model", bundle
    )
    first, second = answer.json[0]["sentences"]
    assert answer.err.startswith("warning: --why skipped a sentence of 4 words")
    assert first["why"] == []
    assert len(second["why"]) == 2


@pytest.mark.parametrize("texts", [[""], ["   "], [" \t\n\u00a0"], []])
def test_without_words_there_is_nothing_to_predict(cli, bundle, texts):
    answer = cli("predict", *texts, "--model", bundle)
    warning = "warning: text 0 has no words\n" if texts else ""
    answer = answer._replace(err=answer.err.removeprefix(warning))
    answer.check_refused("found no words to score")


@pytest.mark.parametrize("args", [["--json"], []])
def test_an_output_of_ascii_only_holds_any_text(bundle, monkeypatch, args):
    output, command = io.BytesIO(), ["thinstack", "predict", "naïve 😀 film", *args]
    stdout = io.TextIOWrapper(output, encoding="ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(sys, "argv", [*command, "--model", str(bundle)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code in (0, None)
    text = output.getvalue().decode("ascii")
    if args:
        assert json.loads(text)[0]["text"] == "naïve 😀 film"
    assert "film" in text


def test_what_is_no_unicode_is_refused(cli, bundle):
    answer = cli("predict", "good", "caf\udce9", "--model", bundle)
    assert answer.out.startswith("good: good\n"), "texts before it are drawn"
    answer._replace(out="").check_refused("text 1: not valid Unicode: character 3")
    answer = cli("predict", "--model", bundle, stdin=b"good\ncaf\xe9\n")
    assert answer.out.startswith("good: good\n")
    answer._replace(out="").check_refused("standard input:2: ", "found the byte 0xe9", "--encoding")


def test_the_agreement_of_own_parses_is_shown(cli, parsing, trees):
    # Of three words the own parse is left-branching, the treebank's is not.
    evaluate = ("evaluate", parsing.path, trees)
    figures = json.loads(cli(*evaluate, "--json", "--source", "self").out)
    assert (figures["span_f1"], figures["span_f1_with_root"]) == (0.0, pytest.approx(100 * 2 / 3))
    shown = cli(*evaluate, "--source", "self").out
    assert all(part in shown for part in ("F1 of spans", "66.67", "identical trees"))
    assert "F1" not in cli(*evaluate).out
    assert "F1" not in cli(*evaluate, "--source", "self", "--raw-text").out


@pytest.fixture
def trees(tmp_path):
    path = tmp_path / "trees.txt"
    path.write_text("(2 (1 film) (2 good))\n(0 (2 good) (1 (1 film) (0 awful)))\n(1 film)\n")
    return path


def test_figures_of_a_model_on_a_file(cli, bundle, trees, tmp_path):
    plain = cli("evaluate", bundle, trees).out  # its classes are bad, so-so and good
    assert "sentences" in plain
    assert "phrases" in plain
    assert "binary" not in plain
    assert "phrases" not in cli("evaluate", bundle, trees, "--source", "auto", "--raw-text").out
    sides = ("negative", "so-so", "positive")
    bundle = write_last_word_bundle(tmp_path / "sides", labels=sides).path
    figures = json.loads(cli("evaluate", bundle, trees, "--json").out)
    assert [figures[key] for key in ("roots", "binary_roots", "phrases")] == [3, 2, 9]
    assert (figures["root_accuracy"], figures["root_binary_accuracy"]) == (100.0, 100.0)
    assert figures["phrase_accuracy"] == pytest.approx(100 * 8 / 9)
    shown = cli("evaluate", bundle, trees).out
    assert all(part in shown for part in ("100.00", "88.89", "sentences, binary", "phrases"))


def test_sources_and_raw_text(cli, bundle, trees):
    left = json.loads(cli("evaluate", bundle, trees, "--json", "--source", "left").out)
    assert (left["phrases"], left["phrase_accuracy"]) == (8, 100.0)
    raw_text = ("evaluate", bundle, trees, "--source", "auto", "--raw-text")
    text = json.loads(cli(*raw_text, "--json").out)
    assert (text["roots"], text["root_accuracy"], text["phrase_accuracy"]) == (3, 100.0, None)
    assert "-" in cli(*raw_text).out


def test_plugins_are_listed(cli):
    records = cli("plugins", "--json").json
    own = [record for record in records if record["distribution"] == "thinstack"]
    found = {(record["kind"], record["name"]) for record in own}
    assert {("cell", "nary_lstm.v1"), ("head", "node_classifier.v1")} <= found
    shown = cli("plugins")
    assert shown.code == 0
    assert "nary_lstm" in shown.out


def test_the_version_is_printed(cli):
    assert cli("--version") == Answer(0, f"{thinstack.__version__}\n", "")


WRONG = ("source sideways", "source gold", "threads 0", "threads 257")
USAGES = [*(f"predict good --{option}" for option in WRONG), "evaluate a b --source sideways"]
USAGES += ["predict good --aggregation best"]


@pytest.mark.parametrize("args", [*USAGES, "evaluate", "fly", "train"])
def test_wrong_usage_ends_with_code_2(cli, args):
    answer = cli(*args.split())
    assert (answer.code, answer.out) == (2, "")
    assert "Usage:" in answer.err
