"""The npm package's drawings are XML that any program can read, whatever the text."""

import re
import shutil
from xml.etree import ElementTree

import pytest
from js.package import JS, asked
from js.texts import hostile, own

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
