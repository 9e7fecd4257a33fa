"""The npm package draws what `thinstack.render` draws, byte for byte, whatever the text."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from js.package import JS, asked
from js.texts import hostile, own
from sentence_models import PLAIN, write_sentence_bundle

import thinstack
from thinstack.runtime.text import predict_text

GOLDEN = JS.parent / "tests" / "golden" / "schema-1" / "words"
LONG = ["good " * 100, "not " * 700, "a well-made, " * 600, "word" * 200]

pytestmark = pytest.mark.skipif(
    not (shutil.which("node") and (JS / "dist" / "node.js").is_file()),
    reason="needs Node.js and the built package: npm ci && npm run build in js/",
)


def compare(bundle: Path, texts: list[str], options: dict[str, Any] | None = None) -> None:
    predictor = thinstack.load(bundle, threads=1, **(options or {}))
    found = asked("drawn", bundle=str(bundle), texts=texts, options=options or {})
    for (tree, text), sentences in zip(found, predict_text(predictor, texts), strict=True):
        assert tree == thinstack.render(sentences)
        assert text == thinstack.render(sentences, "text")


@pytest.mark.parametrize("options", [{}, {"classes": 3, "abstain": 0.7}, {"classes": 2}], ids=str)
def test_the_same_in_both_languages(options):
    bundle = thinstack.load("sst", threads=1).bundle.path
    compare(bundle, [*own()[:150], *hostile(300, seed=7), "", *LONG], options)


def test_other_classes_and_sentences_alone(tmp_path):
    texts = ["good awful film .", "A film (good)", "good. A film."]
    compare(GOLDEN, [*texts, *hostile(30, seed=8)])
    compare(write_sentence_bundle(tmp_path / "roots").bundle.path, [*texts, "good film " * 60])
    compare(write_sentence_bundle(tmp_path / "plain", **PLAIN).bundle.path, texts)
