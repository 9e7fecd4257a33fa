"""`.ci/sizes.py`: the sizes of the project beside their budgets."""

import importlib.util
import subprocess

import pytest
from pages import ROOT

spec = importlib.util.spec_from_file_location("sizes", ROOT / ".ci" / "sizes.py")
sizes = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sizes)

TABLE = """# Contributing

| size | budget | now |
|---|---|---|
| `thinstack`, lines | 1,004 | 0 |
| `thinstack`, files | 2 | 0 |
| `thinstack/core`, lines | 1,000 | 0 |
| `docs`, words | 3 | 0 |
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A package of two files, with 1,003 lines in all, and a page of three words."""
    monkeypatch.chdir(tmp_path)
    for path, content in {
        "CONTRIBUTING.md": TABLE,
        "thinstack/__init__.py": "line\n" * 3,
        "thinstack/core/tree.py": "line\n" * 1000,
        "thinstack/core/data.txt": "line\n" * 9,
        "docs/page.md": "one two\nthree\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], check=True)
    subprocess.run(["git", "add", "--all"], check=True)
    return tmp_path


def test_the_table_gets_the_sizes_of_now(project):
    sizes.main("write")
    rows = (project / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()[4:]
    assert [row.split(" | ")[2].strip(" |") for row in rows] == ["1,003", "2", "1,000", "3"]
    sizes.main("check")


@pytest.mark.parametrize(
    ("file", "content", "named"),
    [
        ("thinstack/core/tree.py", "line\n" * 1001, "thinstack/core: 1,001 lines, budget 1,000"),
        ("docs/page.md", "one two three four", "docs: 4 words, budget 3"),
        ("CONTRIBUTING.md", TABLE.replace("thinstack/core", "docs"), "thinstack/core has no"),
        ("CONTRIBUTING.md", "# Contributing", "no table of sizes"),
    ],
)
def test_a_budget_that_is_passed_is_an_error(project, file, content, named):
    (project / file).write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit, match=named):
        sizes.main("check")


def test_the_budgets_hold(monkeypatch):
    if not (ROOT / ".git").exists():
        pytest.skip("needs a clone: the files that git tracks are counted")
    monkeypatch.chdir(ROOT)
    sizes.main("check")
