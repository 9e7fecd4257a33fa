"""Imports point one way, and what must run without torch does: the sources are read, not run."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "thinstack"

TORCH_IN_CORE = [
    "core.cell",
    "core.head",
    "core.gates",
    "core.kernels",
    "core.schedule",
    "core.depth_ordered",
    "core.top_down",
]
TORCH_IN_CORE += [
    "core.embedding",
    "core.subtree_mean",
    "core.encoder",
    "core.reference",
    "core.tracking_lstm",
    "core.beam",
]
TORCH_IN_CORE += ["core.hypotheses", "core.dropout"]
TORCH_IN_CORE += [
    "core.thin_stack",
    "core.stack_schedule",
    "core.stack_encoding",
    "core.shift_reduce",
    "core.stack_encoder",
]
TORCH = (
    *TORCH_IN_CORE,
    "plugins.cells",
    "plugins.heads",
    "plugins.embeddings",
    "models",
    "export",
    "training",
    "tables",
    "testing",
)
ENTRANCES = (
    "",
    "cli",
    "__main__",
)  # these may import anything, but torch and what needs it only inside functions

BASE = ("core", "errors")
UPPER = ("plugins", "models", "export", "training", "tables", "testing", "cli", "__main__")
# What a module may import, by the longest prefix of its name; "=name" is that module alone, not
# those below it.
ALLOWED = {
    "errors": (),
    "_version": (),
    "config": ("errors", "config"),
    "config.base": ("errors",),
    "config.model": ("errors", "config.base"),
    "core": BASE,
    "plugins": (
        *BASE,
        "_version",
        "=plugins",
        "plugins.specs",
        "plugins.hookspecs",
        "plugins.isolation",
        "plugins.manager",
    ),
    "plugins.cells": (*BASE, "=plugins", "plugins.specs", "plugins.hookspecs"),
    "plugins.heads": (*BASE, "=plugins", "plugins.specs", "plugins.hookspecs"),
    "plugins.embeddings": (*BASE, "=plugins", "plugins.specs", "plugins.hookspecs"),
    "plugins.readers": (*BASE, "data", "=plugins", "plugins.specs", "plugins.hookspecs"),
    "data": (*BASE, "config", "data"),
    "models": (
        *BASE,
        "config",
        "data",
        "limits",
        "manifest",
        "bundles",
        "onnx_file",
        "models",
        "=plugins",
        "plugins.specs",
        "plugins.manager",
    ),
}
# What any other module may not import.
FORBIDDEN = {
    "export": ("training", "tables", "testing", "cli", "__main__"),
    "training": ("tables", "testing", "cli", "__main__"),
    "tables": ("testing", "cli", "__main__"),
    "testing": ("training", "tables", "cli", "__main__"),
}

LIGHT = {
    "numpy",
    "pluggy",
    "pydantic",
    "rich",
    "typer",
    "thinstack",
}  # all that a torch-free module imports at its top
NAMED_ONLY_IN = {
    "torch.jit": (
        "export.torchscript",
        "testing.export_checks",
        "core.kernels",
    ),  # the last asks whether it is being scripted or traced
    "torch.onnx": ("export.onnx",),
    "onnx": ("export.onnx",),
    "spacy": ("integrations.spacy", "integrations.text", "training.parser"),
}
IN_FUNCTIONS = (
    "spacy",
    "thinc",
    "matplotlib",
)  # of extras that whoever imports the module may do without


class Use(NamedTuple):
    target: str
    lazy: bool
    line: int


def within(name: str, prefixes: tuple[str, ...] | list[str]) -> bool:
    return any(
        name == p[1:] if p.startswith("=") else name == p or name.startswith(p + ".")
        for p in prefixes
    )


class Reader(ast.NodeVisitor):
    """Collects the imports of one module and the dotted names that it uses of imported modules."""

    def __init__(self, name: str, modules: set[str]):
        self.package = (
            name
            if any(other.startswith(name + ".") for other in modules)
            else name.rpartition(".")[0]
        )
        self.modules, self.functions, self.imports, self.names, self.aliases = (
            modules,
            0,
            [],
            [],
            {},
        )

    def add(self, target: str, node: ast.AST) -> None:
        self.imports.append(Use(target, self.functions > 0, node.lineno))

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        self.functions += 1
        self.generic_visit(node)
        self.functions -= 1

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_If(self, node: ast.If) -> None:
        typing_only = ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
        for child in node.orelse if typing_only else [node.test, *node.body, *node.orelse]:
            self.visit(child)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.add(alias.name, node)
            self.aliases[alias.asname or alias.name.partition(".")[0]] = (
                alias.name if alias.asname else alias.name.partition(".")[0]
            )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            parents = self.package.split(".")
            base = ".".join(parents[: len(parents) - node.level + 1] + ([base] if base else []))
        for alias in node.names:
            full = f"{base}.{alias.name}"
            self.add(
                full if full in self.modules or not within(base, ["thinstack"]) else base, node
            )
            self.aliases[alias.asname or alias.name] = full

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.names.append((ast.unparse(node), node.lineno))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func).rpartition(".")[2]
        if (
            called in {"import_module", "__import__"}
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            self.add(str(node.args[0].value), node)
        self.generic_visit(node)

    def used(self) -> list[Use]:
        """Imports, and dotted names with their alias resolved."""
        names = [(name.partition("."), line) for name, line in self.names]
        found = [
            Use(f"{self.aliases[root]}.{rest}", True, line)
            for (root, _, rest), line in names
            if root in self.aliases
        ]
        return self.imports + found


def wrong_direction(name: str, target: str) -> bool:
    """Whether module `name` may not import `target`; both without the leading `thinstack.`."""
    layer = max((prefix for prefix in ALLOWED if within(name, [prefix])), key=len, default=None)
    if layer is not None:
        return target not in ("", name) and not within(target, ALLOWED[layer])
    if within(target, ["plugins.cells", "plugins.heads", "plugins.embeddings", "plugins.readers"]):
        return True  # reached by their registered names, as anyone's
    top = name.partition(".")[0]
    return top not in ENTRANCES and within(target, FORBIDDEN.get(top, UPPER))


def short(name: str) -> str:
    return name.removeprefix("thinstack").removeprefix(".")


def loaded_by(target: str) -> list[str]:
    """A module of this package and the packages above it, whose `__init__` runs first."""
    parts = target.split(".")
    return [short(".".join(parts[: i + 1])) for i in range(len(parts))]


def violations(sources: dict[str, str]) -> list[str]:
    """What the modules {name: source} import against the rules."""
    problems = []
    for full, source in sources.items():
        name, reader = short(full), Reader(full, set(sources))
        reader.visit(ast.parse(source))
        for target, lazy, line in reader.imports:
            own = within(target, ["thinstack"])
            if own and wrong_direction(name, short(target)):
                problems.append(f"{full}:{line} may not import {target}")
            if not lazy and within(target, IN_FUNCTIONS):
                problems.append(f"{full}:{line} may import {target} inside functions only")
            if within(name, TORCH) or (lazy and name in ENTRANCES):
                continue
            needs_torch = (
                any(within(part, TORCH) for part in loaded_by(target))
                if own
                else within(target, ["torch", "accelerate"])
            )
            root = target.partition(".")[0]
            if needs_torch or (
                not lazy and root not in LIGHT and root not in sys.stdlib_module_names
            ):
                problems.append(f"{full}:{line} may not import {target}: it must run without it")
        for target, _, line in reader.used():
            for reserved, homes in NAMED_ONLY_IN.items():
                at_home = any(
                    name == home or name.startswith((home + ".", home + "_")) for home in homes
                )
                if within(target, [reserved]) and not at_home:
                    problems.append(
                        f"{full}:{line} names {reserved}, which belongs in {' and '.join(homes)}"
                    )
    return problems


def package_sources() -> dict[str, str]:
    sources = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        sources[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(
            encoding="utf-8"
        )
    return sources


def test_the_package_keeps_the_rules() -> None:
    sources = package_sources()
    named = {f"thinstack.{name}" for name in (*TORCH, *ALLOWED)}
    assert named <= set(sources), (
        f"the rules name modules that are not there: {sorted(named - set(sources))}"
    )
    assert violations(sources) == []


BAD = [
    ("core.tree", "import torch"),
    ("core.tree", "import torch.nn as nn"),
    ("core.tree", "def f():\n    from torch import nn"),
    ("core.tree", "from thinstack.core.cell import Cell"),
    ("core.tree", "from . import cell"),
    ("core.tree", "from .cell import Cell"),
    ("core.tree", "from thinstack.config import Recipe"),
    ("config.model", "from thinstack.config.recipe import Recipe"),
    ("config.base", "from thinstack.config.model import ModelConfig"),
    ("config.recipe", "def f():\n    from thinstack.training import loop"),
    ("config.model", "from thinstack.data import treebank"),
    ("config.base", "import torch"),
    ("core.cell", "from thinstack.plugins import hookimpl"),
    ("core.tree", "import importlib\nimportlib.import_module('torch')"),
    ("data.sst", "import scipy"),
    ("data.sst", "import onnxruntime"),
    ("data.sst", "def f():\n    from thinstack.models import build_model"),
    ("data.sst", "from thinstack.integrations import prediction"),
    ("integrations.prediction", "from thinstack.plugins.manager import manager"),
    ("integrations.prediction", "def f():\n    import spacy"),
    ("integrations.spacy", "import spacy"),
    ("training.loop", "def f():\n    import spacy"),
    ("training.parser", "import spacy"),
    ("training.parser", "from thinc.api import Adam"),
    ("tables.run", "import matplotlib.pyplot as plt"),
    ("tables.run", "def f():\n    from spacy.tokens import Doc"),
    ("training.recipe", "from thinstack.tables import run"),
    ("export.bundle", "def f():\n    from thinstack.tables.run import job"),
    ("models.build", "from thinstack.tables import run"),
    ("testing.cells", "from thinstack.tables import run"),
    ("data.sst", "def f():\n    from thinstack.tables import run"),
    ("config.recipe", "from thinstack.tables import run"),
    ("tables.run", "from thinstack.cli import main"),
    ("tables.run", "from thinstack.testing import cells"),
    ("tables.run", "from thinstack.plugins.cells.a import A"),
    ("cli", "from thinstack.tables import run"),
    ("integrations.spacy", "def f():\n    import thinstack.training.loop"),
    ("metrics", "from thinstack.training import loop"),
    ("plugins.manager", "from thinstack.core.cell import Cell"),
    ("plugins.manager", "from thinstack.plugins.cells import a"),
    ("plugins.cells.a", "from thinstack.plugins.manager import manager"),
    ("plugins.cells.a", "from thinstack.plugins import manager"),
    ("plugins.cells.a", "from thinstack.plugins.cells.b import B"),
    ("plugins.cells.a", "from .b import B"),
    ("plugins.heads.a", "from thinstack.plugins.cells.b import B"),
    ("core.tree", "from thinstack.core.embedding import Embedding"),
    ("plugins.embeddings.a", "from thinstack.plugins.manager import manager"),
    ("plugins.embeddings.a", "from thinstack.plugins.embeddings.b import B"),
    ("plugins.embeddings.a", "from thinstack.models import build_model"),
    ("models.build", "from thinstack.plugins.embeddings.a import A"),
    ("plugins.manager", "from thinstack.plugins.embeddings import a"),
    ("plugins.readers.a", "import torch"),
    ("plugins.readers.a", "def f():\n    import torch"),
    ("plugins.readers.a", "import nltk"),
    ("plugins.readers.a", "from thinstack.core.cell import Cell"),
    ("plugins.readers.a", "from thinstack.plugins.manager import readers"),
    ("plugins.readers.a", "from thinstack.plugins.readers.b import read"),
    ("plugins.readers.a", "from thinstack.plugins.cells.b import B"),
    ("plugins.readers.a", "from thinstack.integrations import prediction"),
    ("plugins.cells.a", "from thinstack.data.sst import read"),
    ("plugins.manager", "from thinstack.plugins.readers import a"),
    ("training.loop", "from thinstack.plugins.readers.a import read"),
    ("data.sst", "from thinstack.plugins.readers.a import read"),
    ("cli", "def f():\n    from thinstack.plugins.readers.a import read"),
    ("models.build", "from thinstack.export import bundle"),
    ("models.build", "from thinstack.plugins.cells.a import A"),
    ("export.onnx", "from thinstack.training import loop"),
    ("training.loop", "from thinstack.cli import main"),
    ("training.loop", "from thinstack.testing import cells"),
    ("models.build", "def f():\n    from thinstack.testing import cells"),
    ("testing.cells", "from thinstack.training import loop"),
    ("testing.cells", "from thinstack.plugins.cells.a import A"),
    ("metrics", "from thinstack.testing import cells"),
    ("core.top_down", "from thinstack.models import build"),
    ("core.encoder", "import torch\n@torch.jit.export\ndef f(): ..."),
    ("core.encoder", "from torch import jit"),
    ("core.encoder", "import torch as t\nt.jit.is_scripting()"),
    ("export.onnx_export", "import torch.jit"),
    ("export.torchscript", "import torch\ntorch.onnx.is_in_onnx_export()"),
    ("export.torchscript", "import onnx"),
    ("export.torchscript", "def f():\n    from onnx import helper"),
    ("cli", "import torch"),
    ("", "from thinstack.training import loop"),
]

GOOD = [
    (
        "core.tree",
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\nelse:\n    import "
            "numpy"
        ),
    ),
    ("core.cell", "import torch\nfrom torch import nn"),
    (
        "plugins.cells.a",
        (
            "import torch\nfrom thinstack.core.cell import Cell\nfrom thinstack.plugins import "
            "hookimpl"
        ),
    ),
    (
        "plugins.readers.a",
        (
            "from thinstack.core import Tree\nfrom thinstack.data.sst import read\nfrom "
            "thinstack.plugins import x"
        ),
    ),
    ("plugins.readers.a", "def f():\n    import nltk"),
    (
        "plugins.manager",
        "from importlib import import_module\ndef f(name):\n    return import_module(name)",
    ),
    ("integrations.spacy", "def f():\n    import spacy, onnxruntime"),
    ("training.parser", "def f():\n    from spacy.tokens import Doc\n    import thinc"),
    (
        "training.parser",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from spacy.tokens import Doc",
    ),
    (
        "tables.run",
        "import scipy\nfrom thinstack.training import recipe\nfrom thinstack.config import Recipe",
    ),
    ("config", "from thinstack.config.recipe import Recipe"),
    (
        "config.recipe",
        "from thinstack.config.model import ModelConfig\nfrom thinstack.errors import ConfigError",
    ),
    ("cli", "def f():\n    from thinstack.tables import run"),
    ("integrations.prediction", "import numpy as np\nfrom thinstack.core import Tree"),
    ("export.onnx.graph", "import onnx\nimport torch\ntorch.onnx.export"),
    ("export.torchscript", "import torch\ntorch.jit.script"),
    ("core.encoder", "import torch\nfrom onnxruntime import jit\njit.torch"),
    ("core.top_down", "import torch\nfrom thinstack.core.schedule import Schedule"),
    (
        "testing.cells",
        (
            "import torch\nfrom thinstack.export import bundle\nfrom thinstack.plugins.manager import "
            "manager"
        ),
    ),
    ("cli", "def f():\n    import torch\n    from thinstack.training import loop"),
]

SKELETON = [
    "",
    "core",
    "core.cell",
    "core.tree",
    "data",
    "data.sst",
    "models",
    "export",
    "export.bundle",
    "cli",
]
SKELETON += ["plugins", "plugins.cells", "plugins.cells.a", "plugins.cells.b", "plugins.manager"]
SKELETON += ["plugins.embeddings", "plugins.embeddings.a", "plugins.embeddings.b"]
SKELETON += ["plugins.readers", "plugins.readers.a", "plugins.readers.b"]
SKELETON += ["config", "config.base", "config.model", "config.recipe"]
SKELETON += [
    "training",
    "training.loop",
    "training.recipe",
    "training.parser",
    "tables",
    "tables.run",
    "testing",
    "testing.cells",
    "integrations",
    "integrations.prediction",
]


def checked(name: str, source: str) -> list[str]:
    return violations(
        {f"thinstack.{part}".strip("."): "" for part in SKELETON}
        | {f"thinstack.{name}".strip("."): source}
    )


@pytest.mark.parametrize(("name", "source"), BAD)
def test_the_checker_finds_a_violation(name: str, source: str) -> None:
    assert checked(name, source)


@pytest.mark.parametrize(("name", "source"), GOOD)
def test_the_checker_leaves_what_is_allowed(name: str, source: str) -> None:
    assert checked(name, source) == []


def test_importing_thinstack_is_light() -> None:
    heavy = ["torch", "onnx", "onnxruntime", "spacy", "thinc", "scipy", "sklearn", "rich", "typer"]
    code = f"import sys, thinstack; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    assert result.stdout.strip() == "[]"


def test_torch_free_modules_import_where_the_extras_are_missing() -> None:
    names = [
        name
        for name in package_sources()
        if not within(short(name), TORCH) and short(name) != "__main__"
    ]
    assert "thinstack.plugins.readers.brackets" in names
    code = (
        "import importlib, sys\n"
        "for name in ('torch', 'spacy', 'thinc', 'onnxruntime', 'onnx', 'safetensors'): "
        "sys.modules[name] = None\n"
        f"for name in {names}: importlib.import_module(name)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=PACKAGE.parent,
    )
    assert result.returncode == 0, result.stderr
