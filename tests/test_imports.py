"""What imports cost, who names the parts of a feature, and which names are public."""

import ast
import re
import tomllib
from importlib import import_module

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


API = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/api/*.md"))
SHOWN = re.findall(r"^::: (\S+)$", API, re.MULTILINE)
PUBLIC = {
    "thinstack",
    "thinstack.errors",
    "thinstack.integrations.corpora",
    "thinstack.integrations.spacy",
    "thinstack.integrations.spark",
    "thinstack.plugins",
    "thinstack.runtime",
    "thinstack.sklearn",
    "thinstack.testing",
}
NAME = re.compile(r"\bthinstack(?:\.[A-Za-z_]\w*)+")
IMPORT = re.compile(r"from (thinstack(?:\.[\w.]*)?) import \(?([\w, \n]+)")


def inside(text):
    """What a text names or imports of thinstack and is not public."""
    names = set(NAME.findall(text))
    for home, imported in IMPORT.findall(text):
        names |= {f"{home}.{name.strip()}" for name in imported.split("\n")[0].split(",")}
    return sorted(name for name in names if not is_public(name))


def is_public(name):
    """Whether this is a public module, or begins with a name of one, such as a class."""
    home = max((each for each in PUBLIC if f"{name}.".startswith(f"{each}.")), key=len)
    first, *_ = name.removeprefix(home).strip(".").split(".")
    return name in PUBLIC or first in import_module(home).__all__


@pytest.mark.parametrize("module", sorted(PUBLIC))
def test_public_names_are_there_and_shown(module):
    home = import_module(module)
    for name in home.__all__:
        assert not isinstance(getattr(home, name), type(home)), name
    assert SHOWN.count(module) == 1


def test_completion_lists_public_names():
    for module in PUBLIC:
        home = import_module(module)
        if hasattr(home, "__getattr__"):
            assert dir(home) == sorted(home.__all__)
    assert {"score_frame", "report", "load", "Result", "Phrase"} <= {
        *dir(import_module("thinstack"))
    }


def test_the_help_of_the_package_shows_what_the_model_says():
    thinstack = import_module("thinstack")
    text, label, polarity = re.search(
        r"model\(\"(.*)\"\)\n.*# '(.*)', (-?[0-9.]+):", thinstack.__doc__
    ).groups()
    result = thinstack.load(threads=1)(text)
    assert (result.label, round(result.polarity, 2)) == (label, float(polarity))


def test_nothing_else_is_shown():
    assert set(SHOWN) == PUBLIC | {"thinstack.plugins.kinds"}


PAGES = [ROOT / "README.md", *ROOT.glob("examples/**/*.py"), *ROOT.glob("docs/*.md")]


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: page.name)
def test_pages_and_examples_name_public_things(page):
    assert inside(page.read_text(encoding="utf-8")) == []


def test_messages_name_public_things():
    for path in ROOT.glob("thinstack/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise | ast.Return | ast.Assign):
                texts = [x.value for x in ast.walk(node) if isinstance(x, ast.Constant)]
                told = [x for x in texts if isinstance(x, str) and " " in x and "import " not in x]
                assert inside("\n".join(told)) == [], path
