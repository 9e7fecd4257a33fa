"""What import-linter cannot say: what imports cost, and who names what is in the folder of a
feature."""

import re
import tomllib
from pathlib import Path

import pytest
from command_line import python

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "thinstack"
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
CONTRACTS = TOOLS["importlinter"]["contracts"]
EXTRAS = ["torch", "spacy", "thinc", "onnxruntime", "onnx", "safetensors", "nltk", "pyarrow"]
EXTRAS += ["pyspark", "huggingface_hub"]


def said(code):
    """What a program prints."""
    done = python(code, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def modules():
    """Every module of the package, by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def test_importing_thinstack_is_light():
    heavy = ["torch", "onnx", "onnxruntime", "spacy", "thinc", "scipy", "sklearn", "rich", "typer"]
    heavy += ["huggingface_hub", "numpy", "pydantic", "tempfile", "narwhals", "pandas"]
    code = f"import sys, thinstack; print([name for name in {heavy} if name in sys.modules])"
    assert said(code) == "[]"


def test_the_command_line_reads_nothing_of_training_and_tables_before_it_needs_them():
    names = [f"thinstack.data.tables.{name}" for name in ("table", "json_tables", "separated")]
    names += ["thinstack.training.recipe"]
    code = f"import sys, thinstack.cli; print([name for name in {names} if name in sys.modules])"
    assert said(code) == "[]"


def test_scoring_a_text_imports_no_more_than_that_needs():
    unused = [
        "torch",
        "onnx",
        "spacy",
        "sklearn",
        "filelock",
        "jinja2",
        "asyncio",
        "urllib.request",
        "pluggy",
        "huggingface_hub",
        "gzip",
        "rich.table",
        "tomllib",
        "webbrowser",
    ]
    names = ("bundle.gate.onnx_gate", "plugins.manager", "export", "training.recipe")
    unused += [f"thinstack.{name}" for name in names]
    code = "import sys\nfrom thinstack.__main__ import main\n"
    code += "sys.argv = ['', 'predict', '--brief', 'A good film']\n"
    code += "try: main()\nexcept SystemExit: pass\n"
    code += "from thinstack.text.english import rules\n"
    code += f"print([name for name in {unused} if name in sys.modules])\n"
    code += "print(len(rules().compiled) < 10)"
    assert said(code).splitlines()[1:] == ["[]", "True"]


def test_the_program_collects_garbage_again_once_it_is_imported():
    code = "import gc, thinstack.cli\nfrom thinstack.__main__ import main\n"
    code += "thinstack.cli.main = lambda: print(gc.isenabled(), gc.get_freeze_count() > 0)\nmain()"
    assert said(code) == "True True"


def test_loading_weights_does_not_import_the_compiler_of_torch():
    """It takes a second. A table without memory has nothing to draw that needs it."""
    code = "import sys; from thinstack.bundle.weights import load_model; load_model('sentiment'); "
    assert said(f"{code}print('torch._dynamo' in sys.modules)") == "False"


def test_torch_free_modules_import_where_the_extras_are_missing():
    (contract,) = (found for found in CONTRACTS if "torch" in found.get("forbidden_modules", ()))
    free = tuple(contract["source_modules"])
    names = ["thinstack", "thinstack.cli"]
    names += [name for name in modules() if f"{name}.".startswith(tuple(f"{at}." for at in free))]
    excepted = [imports.partition(" -> ")[0] for imports in contract["ignore_imports"]]
    names = [
        name
        for name in names
        if name not in excepted
        and not name.startswith(("thinstack.integrations.spacy", "thinstack.sklearn"))
    ]
    assert {"thinstack.runtime.predictor", "thinstack.plugins.readers"} <= set(names)
    said(
        f"import importlib, sys\nfor name in {EXTRAS}: sys.modules[name] = None\n"
        f"for name in {names}: importlib.import_module(name)"
    )


SLICES = {
    "embeddings/transformer": "TransformerEmbedding|Transformer|TransformerLayer",
    "encoders/spinn": "StackEncoder|TrackingLSTM",
    "parsers/distances": "Padding",
}


@pytest.mark.parametrize("folder", SLICES)
def test_only_the_folder_of_a_slice_names_what_is_in_it(folder):
    place = PACKAGE / "plugins" / folder
    module = re.escape(f"plugins.{folder.replace('/', '.')}")
    named = re.compile(rf"{module}\b|\b(class |import )?({SLICES[folder]})\b")
    files = [file for file in PACKAGE.rglob("*.py") if named.search(file.read_text("utf-8"))]
    assert files
    assert [file for file in files if place not in file.parents] == []


# Beside the registered name, which recipes and bundles hold, the table of configurations knows
# that a tracker is SPINN's.
KNOWN = {"transformer.v1": set(), "spinn.v1": {"core/config/__init__.py"}}


@pytest.mark.parametrize("name", KNOWN)
def test_a_slice_is_reached_by_its_name(name):
    files = [file for file in PACKAGE.rglob("*.py") if name in file.read_text("utf-8")]
    outside = {file.relative_to(PACKAGE).as_posix() for file in files}
    assert {file for file in outside if not file.startswith("plugins/")} == KNOWN[name]
