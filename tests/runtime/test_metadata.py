"""What an ONNX file says of itself, where that is no text."""

import shutil
from pathlib import Path

import pytest
from bundle_folders import replaced

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.manifest import ONNX_FILE
from thinstack.errors import BundleError
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.reference import check_cases

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1" / "words"


def entry(key: bytes, value: bytes) -> bytes:
    """A `metadata_props` of ONNX's ModelProto, field 14; key and value are fields 1 and 2."""
    pair = b"\x0a" + bytes([len(key)]) + key + b"\x12" + bytes([len(value)]) + value
    return b"\x72" + bytes([len(pair)]) + pair


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    return shutil.copytree(GOLDEN, tmp_path / "model")


@pytest.mark.parametrize("pair", [(b"\xff", b"a"), (b"a", b"\xff\xfe")], ids=["key", "value"])
def test_metadata_that_is_not_utf8(golden: Path, pair: tuple[bytes, bytes]) -> None:
    content = (golden / ONNX_FILE).read_bytes()
    replaced(ONNX_FILE, content + entry(b"fine", b"text"))(golden)
    assert Predictor(open_bundle(golden), threads=1).labels
    replaced(ONNX_FILE, content + entry(*pair))(golden)
    bundle: Bundle = open_bundle(golden)
    for use in (lambda: Predictor(bundle, threads=1), lambda: check_cases(bundle)):
        with pytest.raises(BundleError, match=r"model\.onnx: .*'utf-8'"):
            use()
