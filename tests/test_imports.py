"""What import-linter cannot check: what imports cost, and who names the parts of a feature."""

import re
import tomllib

import pytest
from command_line import python
from pages import ROOT, read

PACKAGE = ROOT / "thinstack"
TOOLS = tomllib.loads(read("pyproject.toml"))["tool"]
CONTRACTS = TOOLS["importlinter"]["contracts"]
EXTRAS = ["torch", "spacy", "thinc", "onnxruntime", "onnx", "safetensors", "nltk", "pyarrow"]
EXTRAS += ["pyspark", "huggingface_hub"]
SCORING = """
from thinstack.__main__ import main
sys.argv = ["", "predict", "--brief", "A good film"]
try: main()
except SystemExit: pass
from thinstack.text.english import rules
assert len(rules().compiled) < 10
"""
UNUSED = {
    "import thinstack": "torch onnx onnxruntime spacy thinc scipy sklearn rich typer numpy "
    "pydantic huggingface_hub tempfile narwhals pandas",
    "import thinstack.cli": "thinstack.data.tables.table thinstack.data.tables.json_tables "
    "thinstack.data.tables.separated thinstack.training.recipe",
    SCORING: "torch onnx spacy sklearn filelock jinja2 asyncio urllib.request pluggy gzip "
    "huggingface_hub rich.table tomllib webbrowser thinstack.bundle.gate.onnx_gate "
    "thinstack.plugins.manager thinstack.export thinstack.training.recipe",
}


def said(code):
    """What a program prints."""
    done = python(code, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(("code", "unused"), UNUSED.items(), ids=["package", "cli", "scoring"])
def test_what_is_not_used_is_not_imported(code, unused):
    asked = f"print([name for name in {unused.split()} if name in sys.modules])"
    assert said(f"import sys\n{code}\n{asked}").splitlines()[-1] == "[]"


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
    paths = (path.relative_to(ROOT).with_suffix("").parts for path in PACKAGE.rglob("*.py"))
    modules = sorted(".".join(parts).removesuffix(".__init__") for parts in paths)
    names += [name for name in modules if f"{name}.".startswith(tuple(f"{at}." for at in free))]
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
