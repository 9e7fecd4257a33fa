"""The pictures of the documentation, in `docs/assets`.

    python lab/scripts/pictures.py            # the drawings (SVG), by thinstack and spaCy
    python lab/scripts/pictures.py --browser  # the photographs of pages too, by Chromium

`tests/test_pictures.py` says whether they are current: it makes the drawings again. Of a photograph
it compares the digest of what it shows, which `photographs.json` holds.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from random import Random
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Final
from xml.etree import ElementTree

import pyarrow
import typer

import thinstack
from thinstack.core.scale import FIVE, sentiment_sets
from thinstack.runtime import Predictor, View, splitter

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT: Final = Path(__file__).parents[2]
ASSETS: Final = ROOT / "docs" / "assets"
DIGESTS: Final = ASSETS / "photographs.json"

TREE: Final = "The acting is strong, but the plot never comes alive."
WHY: Final = "The room was lovely, but the staff were rude."
REVIEW: Final = (
    "We came for the view, and it is gorgeous. The waiters were friendly, but nobody could say "
    "when our food would arrive. It came cold after an hour. The soup was bland and far too salty. "
    "Still, the cake was the best that I have had in years."
)
TYPED: Final = (
    "<p>Dr. Lee wasn't amused&nbsp;&ndash; $5 for that?!</p> I can't recommend it (or its "
    "well-made cousin)..."
)
SPANS: Final = "The acting is strong, but the plot never comes alive."
ROWS: Final = (
    "A wonderful camera with a sharp screen.",
    "It stopped working after two days. Awful!",
    "The box has a cable and a manual.",
    "Friendly staff, great food, fair prices.",
)
STAYS: Final = {
    "room": ("The room was {}.", "clean", "spacious", "noisy", "dirty", "small but quiet"),
    "staff|reception": ("The {} staff.", "lovely", "friendly", "helpful", "rude", "kind"),
    "breakfast": ("Breakfast was {}.", "great", "delicious", "cold", "bland", "at eight"),
    "price": ("I found the price {}.", "fair", "too high", "shocking", "on the door", "absurd"),
}
"""Made-up reviews of a hotel: a term, a sentence, and what is said in it."""
COLUMNS: Final = {340: "label", 560: "polarity"}


@cache
def model() -> Predictor:
    return thinstack.load("sentiment", threads=1, isolated=False)


def tree() -> str:
    return model()(TREE).svg()


def why() -> str:
    result = model()(WHY)
    return str(thinstack.render(result, whys=[each.why() for each in result.sentences]))


def text() -> str:
    return framed(model()(REVIEW).html(), 760, 270)


def views() -> str:
    """The probabilities of one sentence with five, three and two classes, and its polarity."""
    sentence = "The staff were friendly, though the room was a little small."
    lines, y = [f'<text x="16" y="28" class="heading">{escape(sentence)}</text>'], 48
    for classes in (5, 3, 2):
        result = thinstack.load("sentiment", classes=classes, threads=1, isolated=False)(sentence)
        lines.append(f'<text x="16" y="{y + 14}" class="small">classes={classes}</text>')
        y += 24
        for label, share in result.scores.items():
            bold = ' class="heading"' if label == result.label else ""
            lines += [
                f'<text x="16" y="{y + 13}"{bold}>{label}</text>',
                f'<rect x="130" y="{y}" width="{round(400 * share)}" height="16"/>',
                f'<text x="{140 + round(400 * share)}" y="{y + 13}">{share:.0%}</text>',
            ]
            y += 22
        y += 10
    style = "text { font: 14px Arial, sans-serif; fill: #1d2126; } .heading { font-weight: 700; } "
    style += ".small { fill: #5a626d; font-size: 12px; } rect { fill: #7fb4e6; }"
    return svg("".join(lines), 600, y, style)


def words() -> str:
    """A typed text, and a row of the words of each of its sentences."""
    lines, y = [f'<text x="16" y="28" class="typed">{escape(TYPED)}</text>'], 50
    ((*sentences,),) = splitter()([TYPED])
    for sentence in sentences:
        x = 16
        for word in sentence.words:
            width = 14 + 9 * len(word)
            lines += [
                f'<rect x="{x}" y="{y}" width="{width}" height="24" rx="5"/>',
                f'<text x="{x + 7}" y="{y + 17}">{escape(word)}</text>',
            ]
            x += width + 6
        y += 36
    style = "text { font: 15px monospace; fill: #1d2126; } rect { fill: #e4e7ea; } "
    style += ".typed { font-size: 13px; }"
    return svg("".join(lines), 860, y + 4, style)


def spans() -> str:
    import spacy
    from spacy import displacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_sentiment", config={"spans_key": "sentiment"})
    options = {"spans_key": "sentiment"}
    markup = displacy.render(nlp(SPANS), style="span", options=options, jupyter=False)
    return framed(markup, 760, 120)


def own_labels() -> str:
    """A tree with the labels of a user, each of which stands for classes of the model."""
    sets = sentiment_sets(("bad", "neutral", "good"))
    (sentence,) = model()(WHY).sentences
    view = View.choose(FIVE, None, None, sets)
    scores, weight = view.scores(sentence.node_scores)
    return replace(sentence, node_scores=scores, view=view, weight=weight).svg()


def rows() -> str:
    """Rows of scored texts: the label, and the polarity as a bar to the left or the right."""
    lines, y = ['<text x="16" y="26" class="heading">text</text>'], 40
    lines += [f'<text x="{x}" y="26" class="heading">{n}</text>' for x, n in COLUMNS.items()]
    for result in model().stream(ROWS):
        place = result.polarity or 0.0
        width = round(90 * abs(place))
        left = 590 - width * (place < 0)
        lines += [
            f'<text x="16" y="{y + 14}">{escape(result.text)}</text>',
            f'<text x="340" y="{y + 14}">{result.label}</text>',
            f'<rect x="{left}" y="{y}" width="{width}" height="18" class="t{int(place > 0)}"/>',
            f'<text x="700" y="{y + 14}">{place:+.2f}</text>',
        ]
        y += 28
    style = "text { font: 14px Arial, sans-serif; fill: #1d2126; } .heading { font-weight: 700; } "
    style += ".t0 { fill: #f0955a; } .t1 { fill: #7fb4e6; }"
    return svg("".join(lines), 760, y + 4, style)


def framed(markup: str, width: int, height: int) -> str:
    """HTML as a picture of this size."""
    body = f'<div xmlns="http://www.w3.org/1999/xhtml">{markup}</div>'
    return svg(
        f'<foreignObject width="{width}" height="{height}">{body}</foreignObject>', width, height
    )


def svg(inner: str, width: int, height: int, style: str = "") -> str:
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><style>{style}</style>'
        f'<rect width="{width}" height="{height}" style="fill: #fff"/>{inner}</svg>\n'
    )
    ElementTree.fromstring(picture)
    return picture


DRAWINGS: Final[dict[str, Callable[[], str]]] = {
    "tree.svg": tree,
    "why.svg": why,
    "text.svg": text,
    "views.svg": views,
    "words.svg": words,
    "spans.svg": spans,
    "own-labels.svg": own_labels,
    "rows.svg": rows,
}


def digests() -> dict[str, str]:
    """Of what the photographs show: the files of the pages, the model and the texts."""
    folder = ROOT / "thinstack" / "integrations"
    files = {
        "page.png": [*(folder / "serving/page").iterdir(), *(folder / "show").glob("*.css")],
        "report.png": [
            folder / "report" / name for name in ("page.css", "page.html", "page.py", "parts.html")
        ],
    }
    shown, model = {"page.png": TREE, "report.png": repr(STAYS)}, "sentiment/manifest.json"
    found = {}
    for name, some in files.items():
        some.append(ROOT / "thinstack/bundle/bundled" / model)
        content = b"".join(path.read_bytes() for path in sorted(some))
        found[name] = hashlib.sha256(content + shown[name].encode()).hexdigest()
    return found


def photograph_page(browser: "Browser", path: Path) -> None:
    """The page of `thinstack serve` with a text, as Chromium shows it."""
    from thinstack.integrations.serving.server import PageServer

    with PageServer(0) as server:
        server.predictor, server.name = model(), "sentiment"
        Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page(viewport={"width": 860, "height": 700})
        page.goto(f"{server.url}?text={TREE}")
        page.locator(".thinstack-tree").wait_for()
        page.screenshot(path=path)
        server.shutdown()


def photograph_report(browser: "Browser", path: Path) -> None:
    """The top of a report over made-up reviews of hotels, in which a breakfast becomes worse."""
    rng, columns = Random(2), dict[str, list[str]](text=[], hotel=[], day=[])
    for number in range(1_200):
        month, hotel = 1 + number % 12, rng.choice(["Harbour", "Park", "Station"])
        said = {name: rng.choice(words) for name, (_, *words) in STAYS.items()}
        if hotel == "Harbour" and month > 6:
            said["breakfast"] = rng.choice(["cold", "bland"])
        some = ["breakfast", *rng.sample([name for name in STAYS if name != "breakfast"], 1)]
        columns["text"].append(" ".join(STAYS[name][0].format(said[name]) for name in some))
        columns["hotel"].append(hotel)
        columns["day"].append(f"2025-{month:02}-{1 + number % 28:02}")
    page = browser.new_page(viewport={"width": 860, "height": 520})
    options = {"by": "hotel", "over": "day", "model": model(), "themes": False}
    page.set_content(thinstack.report(pyarrow.table(columns), about=[*STAYS], **options).html())
    page.screenshot(path=path)


def main(
    browser: Annotated[bool, typer.Option("--browser", help="The photographs too.")] = False,
) -> None:
    """Make the pictures of the documentation."""
    for name, draw in DRAWINGS.items():
        (ASSETS / name).write_text(draw(), encoding="utf-8")
    if browser:
        from playwright.sync_api import sync_playwright

        program = os.environ.get("THINSTACK_CHROMIUM") or shutil.which("chromium")
        with sync_playwright() as playwright:
            opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            photograph_page(opened, ASSETS / "page.png")
            photograph_report(opened, ASSETS / "report.png")
            opened.close()
        DIGESTS.write_text(json.dumps(digests(), indent=1) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    typer.run(main)
