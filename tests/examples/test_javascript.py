"""The JavaScript example, installed and run by the line of its README."""

import json
import re
import shutil
import unicodedata
from pathlib import Path

import numpy as np
import onnx
import pytest
from predict_program import CASES, bundle_of_pairs, command

import thinstack
from thinstack.bundle import open_bundle
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.words.letters import plain_letters
from thinstack.data.words.readings import reading

ROOT = Path(__file__).parents[2]
PROGRAMS = ("node.mjs", "web.mjs")

pytestmark = pytest.mark.skipif(
    not (shutil.which("node") and shutil.which("npm")), reason="needs Node.js and npm"
)


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A copy of the example, a bundle where it looks for one, and what the line of the README
    printed."""
    root = tmp_path_factory.mktemp("javascript")
    folder = root / "examples" / "javascript"
    shutil.copytree(
        ROOT / "examples" / "javascript", folder, ignore=shutil.ignore_patterns("node_modules")
    )
    bundle = Path("thinstack", "bundle", "bundled", "sentiment")
    shutil.copytree(ROOT / bundle, root / bundle)
    _require_all_inputs(root / bundle / "onnx" / "model.onnx")
    (line,) = re.findall(
        r"^```sh\n(.+)\n```$", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    done = run(folder, line)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def _require_all_inputs(path):
    model = onnx.load(path)
    inputs = {value.name for value in model.graph.input}
    kept = [weight for weight in model.graph.initializer if weight.name not in inputs]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    onnx.save(model, path)


def run(folder, line):
    return command(["bash", "-c", line], folder)


def evaluate(folder, names, expression, *arguments):
    """The value of an expression that may use names of thinstack.mjs, and the arguments as
    `given`."""
    (folder / "given.json").write_text(json.dumps(arguments), encoding="utf-8")
    program = (
        f"import {{ {names} }} from './thinstack.mjs'; import {{ readFileSync }} from 'node:fs';"
        "const given = JSON.parse(readFileSync('given.json', 'utf8'));"
        f"console.log(JSON.stringify({expression}))"
    )
    done = command(["node", "--input-type=module", "-e", program], folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_phrases(printed, sentence):
    """That the phrases are those of Python, in the order in which brackets open."""
    found = re.findall(r"^(\w[\w ]*?) +(0\.\d+|1\.0+) +(.+)$", printed, re.M)
    (expected,) = thinstack.load("sentiment").predict([sentence.split()])
    nodes = expected.to_dict()["nodes"]
    order = sorted(range(len(nodes)), key=lambda i: (nodes[i]["start"], -nodes[i]["end"]))
    assert [(label, text) for label, _, text in found] == [
        (nodes[i]["label"], nodes[i]["text"]) for i in order
    ]
    scores = [float(score) for _, score, _ in found]
    np.testing.assert_allclose(scores, expected.node_scores[order].max(1), rtol=0, atol=6e-4)


def test_the_line_of_the_readme(installed):
    line = r"^(onnxruntime-\w+): (\d+) cases, largest difference (\S+), allowed 0.0001$"
    reports = re.findall(line, installed[1], re.M)
    names = ("onnxruntime-node", "onnxruntime-web")
    assert [(name, int(number)) for name, number, _ in reports] == [(name, CASES) for name in names]
    assert all(float(difference) < 1e-5 for _, _, difference in reports)
    for printed in installed[1].split("onnxruntime-web"):
        assert_phrases(printed, "A wonderful film")


def test_another_sentence(installed):
    sentence = "The plot 's crème brûlée never comes alive ."
    done = run(installed[0], f'node node.mjs ../../thinstack/bundle/bundled/sentiment "{sentence}"')
    assert_phrases(done.stdout, sentence)


@pytest.mark.parametrize(
    ("program", "output", "wrong"),
    [
        ("node.mjs", "root_scores", "a little more"),
        ("web.mjs", "root_scores", "a little more"),
        ("node.mjs", "node_scores", "one row less"),
        ("node.mjs", "parse", "otherwise"),
        ("node.mjs", "other_scores", "not there"),
    ],
)
def test_a_wrong_case_fails(installed, tmp_path, program, output, wrong):
    bundle = tmp_path / "bundle"
    shutil.copytree(
        installed[0].parents[1] / "thinstack" / "bundle" / "bundled" / "sentiment", bundle
    )
    reference = json.loads((bundle / "cases.json").read_text())
    outputs = reference["cases"][-1]["outputs"]
    if wrong == "a little more":
        outputs[output][1][2] += 1.5e-4
    elif wrong == "one row less":
        del outputs[output][-1]
    elif wrong == "otherwise":
        outputs[output][1] = 1 - outputs[output][1]
    else:
        outputs[output] = [[0.5]]
    (bundle / "cases.json").write_text(json.dumps(reference))
    done = run(installed[0], f"node {program} {bundle}")
    assert (done.returncode, len(done.stdout.splitlines())) == (1, 1)


def test_a_folder_that_is_no_bundle(installed, tmp_path):
    done = run(installed[0], f"node node.mjs {tmp_path}")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"onnxruntime-node: ENOENT.*model\.onnx'\n", done.stderr)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_model_of_another_kind(installed, tmp_path, program):
    done = run(installed[0], f"node {program} {bundle_of_pairs(tmp_path / 'pairs')}")
    assert done.returncode == 0, done.stderr
    assert re.search(
        r": 3 cases, largest difference \d\.\de-\d, allowed 0.0001\nno phrases", done.stdout
    )


@pytest.mark.parametrize(
    ("data", "dims", "rows", "expected"),
    [
        ("[0.5, NaN]", [2], [0.5, 0], "NaN"),
        ("[0.5, 1]", [1, 2], [[0.5], [1]], "Infinity"),
        ("[-0.5, 1]", [2, 1], [[0.5], [1]], "1"),
        ("[0.5, 300]", [2], [0.5, 200], "0.5"),
    ],
)
def test_the_largest_difference(installed, data, dims, rows, expected):
    session = (
        "{ inputNames: [], outputNames: [], inputMetadata: [], run: () => ({ a: { data: "
        f"{data}, dims: {dims} }} }}) }}"
    )
    call = f"String(await largestDifference({{}}, {session}, given))"
    case = {"inputs": {}, "outputs": {"a": rows}}
    assert evaluate(installed[0], "largestDifference", call, case) == expected


def test_pieces_are_those_of_python(installed):
    codes = [*range(1, 0x3000), 0x4E00, 0xE000, 0x20000, 0xF900, 0xFB01, 0xFFFD, 0x1F600]
    words = [f"a{chr(c)}B" for c in codes if unicodedata.category(chr(c)) not in ("Cn", "Cs")]
    words += ["unwatchably", "naïve", "İstanbul", "ΣΊΣΥΦΟΣ", "don't-care", "##ing", "[UNK]"]
    words += ["x" * 100, "x" * 101, "𝒳" * 51, " \t"]
    # The program is given plain letters, and the words of emoji (docs/runtimes.md).
    words = [word for word in words if reading(plain_letters(word)) == word]
    assert len(words) > 9000
    file = "../../thinstack/bundle/bundled/sentiment/vocabulary.txt"
    read = f"new Wordpieces(readFileSync('{file}', 'utf8'))"
    call = f"given[0].map((word, i, all) => (all.v ??= {read}).pieces(word))"
    found = dict(zip(words, evaluate(installed[0], "Wordpieces", call, words), strict=True))
    vocabulary = open_bundle("sentiment").vocabulary()
    assert found == {word: list(vocabulary.pieces_of(word)) for word in words}


def test_phrases_are_the_spans_of_the_tree(installed):
    brackets = "(a (b (c x) (d y)) (e (f z) (g (h v) (i w))))"
    tree = from_brackets(brackets)
    (found,) = evaluate(installed[0], "phrases", "given.map(phrases)", tree.transitions.tolist())
    assert [tree.labels[phrase["node"]] for phrase in found] == list("abcdefghi")
    assert [phrase["depth"] for phrase in found] == [0, 1, 2, 2, 1, 2, 2, 3, 3]
    assert all(
        tree.spans[phrase["node"]].tolist() == [phrase["start"], phrase["end"]] for phrase in found
    )
