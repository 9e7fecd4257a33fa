"""The package with the lowest versions that `pyproject.toml` allows, and with the newest there are.

Each runs, in an environment of its own, the tests that touch a dependency.
"""

import json
import os
import subprocess

import pytest
from bounds import ROOT, lowest, project, pythons, requirements
from environments import environment, interpreter, said
from packaging.version import Version

# What a user can have beside the rest: not the build of onnxruntime for GPUs, nor Spark, which
# needs Java and has a job of its own.
EXTRAS = ["cpu", "spacy", "data", "sklearn", "trees", "testing", "transformers", "hub"]
# Of `dev`, what the tests below import.
TOOLS = ["conllu", "hypothesis", "tokenizers", "pytest-xdist"]
LOWEST, *LATER = pythons()

TESTS = [
    "tests/bundle/test_golden.py",
    "tests/bundle/test_onnx_gate.py",
    "tests/integrations/test_batches.py",
    "tests/data/test_conllu.py",
    "tests/data/test_nltk.py",
    "tests/data/test_tables.py",
    "tests/export/test_onnx_model.py",
    "tests/bundle/test_remote.py",
    "tests/bundle/test_tokenizer.py",
    "tests/integrations/test_doc_bins.py",
    "tests/integrations/test_sklearn.py",
    "tests/integrations/test_spacy.py",
    "tests/integrations/test_spacy_bundle.py",
    "tests/evaluate/test_accuracy.py",
    "tests/bundle/test_weights.py",
    "tests/plugins/test_manager.py",
    "tests/runtime/test_predictor.py",
    "tests/integrations/test_tree_classifier.py",
    "tests/cli/test_cli.py",
    "tests/cli/test_cli_train.py",
    "tests/test_config.py",
    "tests/training/test_calibrate.py",
    "tests/plugins/test_pretrained_encoder.py",
]


def pins() -> dict[str, str]:
    """The lowest versions, of the tools too."""
    tools = {one.name: one for one in requirements(["dev"]) if one.name in TOOLS}
    assert tools.keys() == set(TOOLS)
    found = lowest([*EXTRAS, "dev"])
    return {one.name: found[one.name] for one in [*requirements(EXTRAS), *tools.values()]}


def test_the_lowest_python_is_the_one_that_is_required():
    assert project()["requires-python"] == f">={LOWEST}"


def test_every_dependency_of_every_extra_has_a_lower_bound():
    """One bound where extras are installed together; that of `webgpu` needs a later onnxruntime."""
    extras = project()["optional-dependencies"]
    assert pins().items() <= lowest([*EXTRAS, "dev"]).items()
    for extra in extras:
        assert lowest([extra]).keys() == {one.name for one in requirements([extra])}


@pytest.mark.parametrize(
    ("python", "bounds"), [(LOWEST, True), *((python, False) for python in LATER)]
)
def test_what_touches_a_dependency(python, bounds):
    found = interpreter(python)
    if found is None:
        pytest.skip(f"needs Python {python}: put python{python} on the path")
    wanted = ["-e", f".[{','.join(EXTRAS)}]", *TOOLS]
    kind = "lowest" if bounds else "newest"
    # spaCy 3.7 brings typer-slim, whose files are typer's, whichever is installed last.
    limits = {**pins(), "typer-slim": pins()["typer"]} if bounds else {}
    inside = environment(f"{kind}-{python}", found, wanted, limits)
    program = (
        "import importlib.metadata as m, json, typer; "
        f"print(json.dumps({{n: m.version(n) for n in {list(pins())}}} | "
        "{'typer': typer.__version__}))"
    )
    have = {name: Version(version) for name, version in json.loads(said(inside, program)).items()}
    need = {name: Version(version) for name, version in pins().items()}
    if bounds:
        assert {name: Version(version.public) for name, version in have.items()} == need
    # Packages of years ago use what others have since called deprecated.
    options = ["-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning"] if bounds else []
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [inside, "-m", "pytest", "-q", "-rs", *options, *TESTS],
        cwd=ROOT,
        env={**plain, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{kind} on Python {python}\n{done.stdout[-8000:]}{done.stderr}"
