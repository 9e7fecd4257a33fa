"""What a result comes from: the digest of the recipe, the commit, the versions of what computed
it."""

import hashlib
import json
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from reproduce.learning import AS_RECIPES, Learning
from thinstack._version import __version__
from thinstack.training.recipe import Recipe

UNREAD: dict[str, Any] = {
    "name": True,
    "description": True,
    "export": True,
    "card": True,
    "data": {"statement"},
    "training": {"seeds"},
}
"""What of a recipe no figure depends on."""

READ_BY_RIVALS: dict[str, Any] = {
    "task": True,
    "data": True,
    "model": {"labels", "trees"},
    "training": {"stop_on"},
}
"""What of a recipe the figures of rivals depend on; `stop_on` says what is held out."""

DEFAULTS = 1
"""Raise this number where a default of a recipe changes that figures depend on. Digests leave out
defaults, so that a new field does not make old figures stale."""

WATCHED = ("thinstack", "lab")
"""Folders of a repository where a change that is not committed makes the commit `-dirty`."""


def recipe_digest(recipe: Recipe, rival: str | None = None, own: Learning = AS_RECIPES) -> str:
    """SHA-256 of all in a recipe, and in what a table's `own` training adds, that its figures
    depend on, but the seed: those of its model, or of a `rival`, which reads only the data."""
    include = None if rival is None else READ_BY_RIVALS
    read = recipe.model_dump(mode="json", include=include, exclude=UNREAD, exclude_defaults=True)
    if rival is None and (training := own.said()):
        if own.decoupled_decay:
            del read["training"]["weight_decay"]  # 0, as what `own` has takes its place
        read["training"] = read.get("training", {}) | training
    said = {part: fields for part, fields in read.items() if fields != {}}
    parts = {"defaults": DEFAULTS, "recipe": said}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def commit_of(file: Path) -> str | None:
    """The commit of the git repository that holds `file`, with "-dirty" where its `WATCHED`
    folders differ from that."""
    folder = file.resolve().parent
    top, commit = (_git(folder, "rev-parse", what) for what in ("--show-toplevel", "HEAD"))
    if top is None or commit is None:
        return None
    changed = _git(Path(top), "status", "--porcelain", "--untracked-files=no", "--", *WATCHED)
    return f"{commit}-dirty" if changed else commit


def _git(folder: Path, *words: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that figures depend on."""
    own = {"python": platform.python_version(), "thinstack": __version__}
    return own | {name: version(name) for name in ("torch", "numpy")}
