"""What the documentation site needs beyond mkdocs: a hook that `mkdocs.yml` names.

The pages are written for a reader of the repository: links are relative, and may lead to any of
its files. The hook adds pages that lie outside of `docs/`, makes a link to a page one within the
site, and a link to another file one to the repository's address. Two spaces make a nested list, as
in the repository, where Python's Markdown wants four. A code block that names its file
(```` ```python use.py ````) shows the name. The page of recipes gets the reference of all fields,
which is written for the site only. The home page gets a live tree, which runs the npm package in
the reader's browser if `js/demo` has been built.
"""

import posixpath
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
BESIDE = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""Pages outside of `docs/` and `lab/`: path in the repository, path in the site."""

DEMO = ROOT / "js" / "demo" / "dist"
LIVE_FILES = ("worker.js", "onnxruntime.js", "ort-wasm-simd-threaded.wasm")
PICTURE = "![A tree over the sentence"
"""What the live tree of the home page is above, and replaces."""

LIVE_TREE = """
<form class="live" hidden>
<label for="live-text">Type a sentence. The model runs in your browser, and your text stays
there.</label>
<textarea id="live-text" rows="2" spellcheck="false">
The acting is strong, but the plot never comes alive.</textarea>
<p role="status"></p>
<div class="live-tree"></div>
</form>
<script type="module" src="assets/live.js"></script>

"""

FENCED = re.compile(r"^(?P<fence>```+).*?^(?P=fence)$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ +(?=\S)", re.MULTILINE)
LINK = re.compile(r"(`[^`\n]*`)|(\]\()([^()\s]+)(\))")
NAMED = re.compile(r"^(```\w+) ([\w./-]+)$", re.MULTILINE)


def place_in_site(path: str) -> str | None:
    """Where a file of the repository lies in the site; None if it is not there."""
    if path in BESIDE:
        return BESIDE[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return path if re.fullmatch(r"lab/(results/)?[\w-]+\.(md|svg)", path) else None


def place_in_repository(place: str) -> str:
    """The path in the repository of a page of the site."""
    for path, other in BESIDE.items():
        if place == other:
            return path
    return place if place.startswith("lab/") else f"docs/{place}"


def link_of(target: str, place: str, repository: str) -> str:
    """What a link of the page at `place` in the site becomes. Raises FileNotFoundError if no file
    of the repository is there."""
    parts = urlsplit(target)
    if parts.scheme or not parts.path:
        return target
    source = place_in_repository(place)
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), parts.path))
    anchor = f"#{parts.fragment}" if parts.fragment else ""
    if path.startswith("..") or not (ROOT / path).exists():
        raise FileNotFoundError(f"{source}: expected a file at the link {target}, found none")
    if (other := place_in_site(path)) is not None and (ROOT / path).is_file():
        return posixpath.relpath(other, posixpath.dirname(place) or ".") + anchor
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{repository}/{kind}/main/{path}{anchor}"


def outside_of_code(text: str, change: Callable[[str], str]) -> str:
    """The text of a page, changed wherever no fenced code stands."""
    parts, end = [], 0
    for block in FENCED.finditer(text):
        parts += [change(text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, change(text[end:])])


def on_page_markdown(markdown: str, *, page: "Page", config: "MkDocsConfig", **_: Any) -> str:
    """Mkdocs' event: the text of a page before it becomes HTML."""
    place, repository = page.file.src_uri, config.extra["repository"]

    if place == "recipes.md":
        reference = run_path(str(ROOT / "lab" / "scripts" / "recipe_reference.py"))["page"]()
        markdown = f"{markdown.rstrip()}\n\n{reference}"
    if place == "index.md":
        markdown = markdown.replace(PICTURE, LIVE_TREE + PICTURE)

    def linked(match: re.Match[str]) -> str:
        code, start, target, end = match.groups()
        return code or start + link_of(target, place, repository) + end

    def changed(part: str) -> str:
        return LINK.sub(linked, INDENTED.sub(lambda spaces: 2 * spaces[0], part))

    text = outside_of_code(markdown, changed)
    return NAMED.sub(r'\1 title="\2"', text)


def on_files(files: "Files", *, config: "MkDocsConfig") -> "Files":
    """Mkdocs' event: the files of the site."""
    from mkdocs.structure.files import File

    lab = [ROOT / "lab", ROOT / "lab" / "results"]
    pages = [path.relative_to(ROOT).as_posix() for folder in lab for path in folder.iterdir()]
    for path in [*BESIDE, *pages]:
        if (place := place_in_site(path)) is not None:
            files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    return files


def on_post_build(*, config: "MkDocsConfig", **_: Any) -> None:
    """Mkdocs' event: the site is written. Adds the model of the live tree, if it has been built."""
    if not DEMO.is_dir():
        return
    live = Path(config.site_dir) / "live"
    live.mkdir(exist_ok=True)
    for name in LIVE_FILES:
        shutil.copyfile(DEMO / name, live / name)
    shutil.copytree(DEMO / "sentiment", live / "sentiment", dirs_exist_ok=True)
