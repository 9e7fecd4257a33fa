"""The files of a bundle that learning goes on from, damaged."""

import pytest
from bundle_folders import replaced
from tiny_texts import start

from thinstack.bundle import open_bundle
from thinstack.errors import BundleError
from thinstack.integrations.spacy_training.text_learner import TextLearner


@pytest.mark.parametrize(
    "content",
    [b"9" * 5000, b"[" * 100_000, b"\xff", b"", b"null", b'{"epochs": []}', b'{"\\u001b": 1}'],
    ids=["digits", "deep", "bytes", "empty", "null", "field", "escape"],
)
def test_how_it_learns(content, tmp_path):
    folder = start(tmp_path / "model")
    replaced("training.json", content)(folder)
    with pytest.raises(BundleError, match=r"training\.json: "):
        TextLearner.resume(open_bundle(folder), rates={}, average=0.5)
