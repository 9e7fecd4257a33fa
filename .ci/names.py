"""No variable of thinstack/ has a name that says that it was computed, and not what it is. A field
of a class may have one, beside the other fields (`expected`, `found`)."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

BANNED = {"each", "found", "given", "kept", "known", "made", "own", "told"}


def variables(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and name of each variable and parameter."""
    fields = {
        statement.target
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if node in fields:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def main() -> None:
    listed = subprocess.run(["git", "ls-files", "thinstack"], stdout=subprocess.PIPE, check=True)
    paths = [path for path in listed.stdout.decode().splitlines() if path.endswith(".py")]
    wrong = [
        f"{path}:{line}: {name}"
        for path in paths
        for line, name in variables(ast.parse(Path(path).read_text(encoding="utf-8")))
        if name in BANNED
    ]
    if wrong:
        sys.exit("\n".join([*wrong, "Name the value: rows, scores, label."]))


if __name__ == "__main__":
    main()
