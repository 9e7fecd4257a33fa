"""The command line: what it prints, and that every bad input ends in one message and exit code
2."""

import io
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from command_line import Answer, run_command
from last_word_model import LABELS, best, expected, own_parse, write_last_word_bundle

import thinstack
from thinstack.cli import main
from thinstack.plugins.manager import PluginRecord, manager

Cli = Callable[..., Answer]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_last_word_bundle(tmp_path_factory.mktemp("bundle") / "model").path


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return partial(run_command, monkeypatch, capsys)


def refused(answer: Answer, *parts: str) -> None:
    """One message on the error output, none of it on the other, and exit code 2."""
    assert (answer.code, answer.out) == (2, "")
    message = answer.err.removeprefix("error: ")
    assert message != answer.err
    for part in parts:
        assert part in message
    assert message.count("\n") == 1


def test_json_has_the_sentence_its_tree_and_all_its_phrases(cli: Cli, bundle: Path) -> None:
    text = "A good film. It's awful"
    first, second = cli("predict", text, "--json", "--model", bundle, "--source", "left").json
    assert (
        list(first) == list(second) == ["text", "label", "scores", "tree", "transitions", "nodes"]
    )
    assert [first["text"], second["text"]] == ["A good film.", "It's awful"]
    words = ["It", "'s", "awful"]
    spans = [(0, 2), (2, 4), (0, 4), (5, 10), (0, 10)]
    assert [(node["start"], node["end"]) for node in second["nodes"]] == spans
    phrases = [("It", 1), ("'s", 1), ("'s", 2), ("awful", 1), ("awful", 3)]
    for node, (word, size) in zip(second["nodes"], phrases, strict=True):
        assert list(node) == ["start", "end", "text", "label", "scores"]
        assert node["text"] == second["text"][node["start"] : node["end"]]
        assert node["scores"] == pytest.approx(expected(word, size), abs=1e-5)
        assert node["label"] == best(expected(word, size))
    assert second["scores"] == second["nodes"][-1]["scores"]
    assert second["label"] == second["nodes"][-1]["label"] == "bad"
    tree = thinstack.from_brackets(second["tree"])
    assert list(tree.words) == words
    labels = [LABELS[int(label or -1)] for label in tree.labels]
    assert labels == [node["label"] for node in second["nodes"]]


def test_the_drawing_has_the_label_the_probabilities_and_the_words(cli: Cli, bundle: Path) -> None:
    answer = cli("predict", "The plot is awful", "--model", bundle)
    assert (answer.code, answer.err) == (0, "")
    assert "bad" in answer.out
    assert f"{100 * expected('awful', 4)['bad']:.0f}" in answer.out
    assert all(word in answer.out for word in ("The", "plot", "is", "awful"))
    assert "\x1b" not in answer.out


def test_several_texts_and_the_lines_of_standard_input_are_the_same(cli: Cli, bundle: Path) -> None:
    texts = ["good film", "Awful. Good!", "naïve – “film”"]
    options = ("--json", "--model", bundle)
    several = cli("predict", *texts, *options).json
    assert [item["text"] for item in several] == ["good film", "Awful.", "Good!", "naïve – “film”"]
    assert cli("predict", *options, stdin="\n".join(texts).encode()).json == several


def test_an_empty_text_keeps_its_neighbours(cli: Cli, bundle: Path) -> None:
    answer = cli("predict", "good", "", " \t\n", "awful", "--json", "--model", bundle)
    assert [item["label"] for item in answer.json] == ["good", "bad"]
    assert answer.err == "warning: text 2 has no words\nwarning: text 3 has no words\n"


@pytest.mark.parametrize("text", ["", "   ", " \t\n\u00a0"])
def test_without_words_there_is_nothing_to_predict(cli: Cli, bundle: Path, text: str) -> None:
    answer = cli("predict", text, "--model", bundle)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(
        "warning: text 1 has no words\nerror: there are no words to predict from: give a text"
    )


def test_empty_standard_input_is_nothing_to_predict_from(cli: Cli, bundle: Path) -> None:
    refused(cli("predict", "--model", bundle), "no words to predict from")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("good", 1),
        ("😀", 1),
        ("🙃 good 👍!", 4),
        ("xqzw vbnk", 2),
        ("(good) [film]", 6),
        ("!?", 1),
        ("! ?", 2),
    ],
)
def test_odd_texts_have_a_tree_as_any(cli: Cli, bundle: Path, text: str, words: int) -> None:
    (found,) = cli("predict", text, "--json", "--model", bundle).json
    assert found["text"] == text
    assert len(found["nodes"]) == 2 * words - 1
    assert sum(found["scores"].values()) == pytest.approx(1, abs=1e-5)
    assert found["nodes"][-1]["text"] == text
    assert cli("predict", text, "--model", bundle).code == 0


def test_ten_thousand_words_without_a_full_stop_are_one_sentence(cli: Cli, bundle: Path) -> None:
    text = " ".join(["good", "film"] * 5000)
    (found,) = cli("predict", text, "--json", "--model", bundle).json
    assert len(found["nodes"]) == 2 * 10_000 - 1
    assert found["nodes"][-1]["text"] == text
    assert cli("predict", text, "--model", bundle).code == 0


def test_a_page_is_written(cli: Cli, bundle: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert cli("predict", "An <awful> film", "--html", page, "--model", bundle) == Answer(0, "", "")
    html = page.read_text(encoding="utf-8")
    assert html.lower().startswith("<!doctype html>")
    assert "&lt;" in html
    assert "so-so" in html
    assert len(cli("predict", "awful", "--html", page, "--json", "--model", bundle).json) == 1
    assert page.read_text(encoding="utf-8") != html


def test_a_page_that_cannot_be_written_is_an_error(cli: Cli, bundle: Path, tmp_path: Path) -> None:
    page = tmp_path / "none" / "page.html"
    refused(cli("predict", "good", "--html", page, "--model", bundle), "No such file", "page.html")


@pytest.mark.parametrize("args", [["--json"], []])
def test_an_output_of_ascii_only_holds_any_text(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, args: list[str]
) -> None:
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


def test_what_is_no_unicode_is_refused(cli: Cli, bundle: Path) -> None:
    answer = cli("predict", "good", "caf\udce9", "--model", bundle)
    refused(answer, "text 2: no Unicode text, character 3")
    answer = cli("predict", "--model", bundle, stdin=b"good\ncaf\xe9\n")
    refused(answer, "standard input is no text in utf-8")


@pytest.fixture(scope="module")
def parsing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "parsing"
    return write_last_word_bundle(path, parser="capped").path


def test_own_parses_are_the_default_of_a_model_that_has_them(cli: Cli, parsing: Path) -> None:
    text = "What a good film"
    (own,) = cli("predict", text, "--json", "--model", parsing, "--source", "self").json
    assert cli("predict", text, "--json", "--model", parsing).json == [own]
    assert own["transitions"] == own_parse(4)
    assert [node["text"] for node in own["nodes"]][3:5] == ["a good", "What a good"]
    assert thinstack.from_brackets(own["tree"]).transitions.tolist() == own_parse(4)
    (left,) = cli("predict", text, "--json", "--model", parsing, "--source", "left").json
    assert left["transitions"] == [0, 0, 1, 0, 1, 0, 1]


def test_the_agreement_of_own_parses_is_shown(cli: Cli, parsing: Path, trees: Path) -> None:
    # Of three words the own parse is left-branching, the treebank's is not.
    figures = json.loads(cli("evaluate", parsing, trees, "--json", "--source", "self").out)
    assert (figures["span_f1"], figures["span_f1_with_root"]) == (0.0, pytest.approx(100 * 2 / 3))
    assert (figures["exact_trees"], figures["trees"]) == (0.0, 1)
    shown = cli("evaluate", parsing, trees, "--source", "self").out
    assert [part in shown for part in ("F1 of spans", "66.67", "trees the same")] == [True] * 3
    assert "F1" not in cli("evaluate", parsing, trees).out
    assert "F1" not in cli("evaluate", parsing, trees, "--source", "self", "--text").out


def test_own_parses_of_a_model_that_has_none_are_refused(
    cli: Cli, bundle: Path, trees: Path
) -> None:
    message = "no parser for the tree source 'self'; this model has balanced, left, right"
    refused(cli("predict", "good", "--model", bundle, "--source", "self"), message)
    refused(cli("evaluate", bundle, trees, "--source", "self"), message)
    refused(cli("evaluate", bundle, trees, "--source", "self", "--text"), message)


@pytest.fixture
def bundled(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that brings one model along, named sst."""
    folder = tmp_path / "bundled"
    write_last_word_bundle(folder / "sst")
    monkeypatch.setattr("thinstack.bundle.reading.BUNDLED", folder)
    return folder


def test_the_model_is_sst_unless_another_is_named(cli: Cli, bundled: Path) -> None:
    assert cli("predict", "awful", "--json").json[0]["label"] == "bad"


def test_an_unknown_model_is_refused_with_the_known_ones(cli: Cli, bundled: Path) -> None:
    refused(cli("predict", "good", "--model", "stt"), "unknown model 'stt'; known: sst")
    refused(cli("evaluate", "stt", "trees.txt"), "unknown model 'stt'; known: sst")


@pytest.mark.parametrize(
    "name", ["onnx/model.onnx", "vocabulary.txt", "config.json", "manifest.json"]
)
def test_a_bundle_with_one_byte_changed_is_refused(cli: Cli, tmp_path: Path, name: str) -> None:
    path = write_last_word_bundle(tmp_path / "model").path
    content = bytearray((path / name).read_bytes())
    content[len(content) // 2] ^= 1
    (path / name).write_bytes(bytes(content))
    for answer in (cli("predict", "good", "--model", path), cli("evaluate", path, "trees.txt")):
        refused(answer, str(path / name), "export, copy or install the bundle anew")


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "trees.txt"
    path.write_text(
        "(2 (1 film) (2 good))\n(0 (2 good) (1 (1 film) (0 awful)))\n(1 film)\n", encoding="utf-8"
    )
    return path


def test_figures_of_a_model_on_a_file(cli: Cli, bundle: Path, trees: Path) -> None:
    figures = json.loads(cli("evaluate", bundle, trees, "--json").out)
    assert [figures[key] for key in ("roots", "binary_roots", "phrases")] == [3, 2, 9]
    assert (figures["root_accuracy"], figures["root_binary_accuracy"]) == (100.0, 100.0)
    assert figures["phrase_accuracy"] == pytest.approx(100 * 8 / 9)
    shown = cli("evaluate", bundle, trees).out
    assert all(part in shown for part in ("100.00", "88.89", "sentences, binary", "phrases"))


def test_the_file_is_named_as_it_is(cli: Cli, bundle: Path, trees: Path) -> None:
    odd = trees.rename(trees.parent / "a [red] :bug:.txt")
    assert f"on {odd}, source gold" in cli("evaluate", bundle, odd).out
    odd.unlink()
    refused(cli("evaluate", bundle, odd), f"{odd}: cannot be read")


def test_a_file_alone_is_measured_with_sst(cli: Cli, bundled: Path, trees: Path) -> None:
    assert cli("evaluate", trees, "--json") == cli("evaluate", bundled / "sst", trees, "--json")


def test_sources_and_raw_text(cli: Cli, bundle: Path, trees: Path) -> None:
    left = json.loads(cli("evaluate", bundle, trees, "--json", "--source", "left").out)
    assert (left["phrases"], left["phrase_accuracy"]) == (8, 100.0)
    text = json.loads(cli("evaluate", bundle, trees, "--json", "--source", "auto", "--text").out)
    assert (text["roots"], text["root_accuracy"], text["phrase_accuracy"]) == (3, 100.0, None)
    assert "-" in cli("evaluate", bundle, trees, "--source", "auto", "--text").out
    refused(cli("evaluate", bundle, trees, "--text"), "raw text has no gold trees", "auto")


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        (b"(1 film)\n(2 (2 good) (1 film)\n", ":2:21: ", "unbalanced"),
        (b"(1 film)\n(5 good)\n", ":2: ", "label '5'; expected one of bad, so-so, good"),
        (b"\n", ": ", "found no tree"),
        (b"(1 caf\xe9)\n", ":1: ", "expected text in utf-8"),
    ],
)
def test_a_bad_treebank_is_placed(
    cli: Cli, bundle: Path, trees: Path, content: bytes, place: str, message: str
) -> None:
    trees.write_bytes(content)
    refused(cli("evaluate", bundle, trees), f"{trees}{place}", message)


def test_a_missing_treebank_is_named(cli: Cli, bundle: Path, tmp_path: Path) -> None:
    refused(
        cli("evaluate", bundle, tmp_path / "none.txt"), "none.txt: cannot be read: No such file"
    )


def test_plugins_are_listed(cli: Cli) -> None:
    records = cli("plugins", "--json").json
    own = [record for record in records if record["distribution"] == "thinstack"]
    found = {(record["kind"], record["name"]) for record in own}
    assert {("cell", "nary_lstm.v1"), ("head", "node_classifier.v1")} <= found
    shown = cli("plugins")
    assert shown.code == 0
    assert "nary_lstm" in shown.out


def test_an_error_in_the_list_of_plugins_is_printed_as_it_is(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = 'pip install "thinstack[train]" :bug: [/]'
    named = {"distribution": "[red]", "version": "1", "kind": "cell", "name": "magic"}
    record = PluginRecord(**named, status="unavailable", error=error)
    monkeypatch.setattr(manager(), "records", lambda: [record])
    monkeypatch.setenv("COLUMNS", "200")
    shown = cli("plugins").out
    assert error in shown
    assert "[red]" in shown


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("--version") == Answer(0, f"{thinstack.__version__}\n", "")


@pytest.mark.parametrize(
    "args",
    [
        "predict good --source sideways",
        "evaluate a b --source sideways",
        "predict good --source gold",
        "predict good --threads 0",
        "predict good --threads 257",
        "evaluate",
        "fly",
        "train",
    ],
)
def test_wrong_usage_ends_with_code_2(cli: Cli, args: str) -> None:
    answer = cli(*args.split())
    assert (answer.code, answer.out) == (2, "")
    assert "Usage:" in answer.err
