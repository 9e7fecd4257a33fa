"""The npm package joins the file for GPUs to the file for CPUs as Python does."""

from base64 import b64decode

import onnx
import pytest
from js.package import JS, asked, needs_package

from thinstack.bundle import open_bundle
from thinstack.bundle.gpu_file import host_nodes, joined
from thinstack.bundle.manifest import ONNX_FILE

ROOT = JS.parent
SST = ROOT / "thinstack" / "bundle" / "bundled" / "sentiment"
GOLDEN = ROOT / "tests" / "golden" / "schema-1" / "words"

pytestmark = needs_package


@pytest.mark.parametrize("bundle", [SST, GOLDEN], ids=["with", "without"])
def test_what_onnxruntime_gets(bundle):
    opened = open_bundle(bundle)
    content, gpu = opened.read(ONNX_FILE), opened.for_gpu()
    expected = joined(gpu, content, source="x") if gpu else content
    found = asked("onGpu", bundle=str(bundle))
    assert onnx.load_from_string(b64decode(found["model"])) == onnx.load_from_string(expected)
    assert "\n".join(found["names"]) == host_nodes(expected)
    assert bool(found["names"]) == bool(gpu)
