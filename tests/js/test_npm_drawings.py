"""The npm package's drawings are those of docs/drawing.md, and XML, whatever the text."""

import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from js.drawn import drawn
from js.package import JS, asked
from js.texts import hostile, own
from sentence_models import PLAIN, write_sentence_bundle

import thinstack
from thinstack.runtime.text import predict_text

SVG = "{http://www.w3.org/2000/svg}"

pytestmark = pytest.mark.skipif(
    not (shutil.which("node") and (JS / "dist" / "node.js").is_file()),
    reason="needs Node.js and the built package: npm ci && npm run build in js/",
)


def test_each_phrase_is_drawn_once_in_reading_order() -> None:
    predictor = thinstack.load("sst", threads=1)
    texts = [*own()[:40], *hostile(300, seed=6)]
    drawings = asked("svg", bundle=str(predictor.bundle.path), texts=texts)
    for drawing, sentences in zip(drawings, predict_text(predictor, texts), strict=True):
        image = ElementTree.fromstring(drawing)
        assert image.tag == f"{SVG}svg"
        groups = image.findall(f"{SVG}g")
        assert len(groups) == len(sentences)
        for group, sentence in zip(groups, sentences, strict=True):
            titles = [title.text or "" for title in group.iter(f"{SVG}title")]
            spans, names = sentence.spans, [sentence.labels[i] for i in sentence.label_ids]
            order = sorted(range(len(spans)), key=lambda i: (spans[i][0], -i))
            assert [title.partition(":")[0] for title in titles] == [names[i] for i in order]
            shares = [int(share) for share in re.findall(r"(\d+)%", titles[0].rpartition("(")[2])]
            assert shares == pytest.approx((100 * sentence.scores[-1]).tolist(), abs=0.51)
            words = group.findall(f"{SVG}g")[-1]
            assert len(words) == len(sentence.words)


def compare(bundle: Path, texts: list[str], options: dict[str, Any] | None = None) -> None:
    predictor = thinstack.load(bundle, threads=1, **(options or {}))
    found = asked("svg", bundle=str(bundle), texts=texts, options=options or {})
    assert found == [drawn(sentences) for sentences in predict_text(predictor, texts)]


@pytest.mark.parametrize("options", [{}, {"classes": 3, "abstain": 0.7}, {"classes": 2}], ids=str)
def test_by_the_rules_byte_for_byte(options: dict[str, Any]) -> None:
    bundle = thinstack.load("sst", threads=1).bundle.path
    compare(bundle, [*own()[:150], *hostile(300, seed=7), "", "good " * 100], options)


def test_other_classes_and_sentences_alone(tmp_path: Path) -> None:
    texts = ["good awful film .", "A film (good)", "good. A film."]
    compare(JS.parent / "tests" / "golden" / "schema-1" / "words", [*texts, *hostile(30, seed=8)])
    compare(write_sentence_bundle(tmp_path / "roots").bundle.path, texts)
    compare(write_sentence_bundle(tmp_path / "plain", **PLAIN).bundle.path, texts)
