"""Each export takes seconds, so the tests share three."""

import pytest
from export_models import ChildSum, Exported, make_config, make_model

from thinstack.config import ModelConfig
from thinstack.export.onnx_model import export_onnx
from thinstack.models import TreeModel


def _export(kind: str, model: TreeModel, config: ModelConfig, quantize: str, index_type: str) -> Exported:
    file = export_onnx(model, config, quantize=quantize, index_type=index_type, vocabulary_digest="0123abcd")
    return Exported(kind, model, config, quantize, file)


@pytest.fixture(scope="session")
def words() -> Exported:
    """N-ary LSTM over words, nothing rounded, int32."""
    return _export("words", make_model("words"), make_config("words"), "none", "int32")


@pytest.fixture(scope="session")
def pieces() -> Exported:
    """N-ary LSTM over wordpieces, int8, int64."""
    return _export("wordpieces", make_model("wordpieces"), make_config("wordpieces"), "int8", "int64")


@pytest.fixture(scope="session")
def child_sum() -> Exported:
    """A cell of any arity over words, fp16, int32."""
    config = make_config("words", cell="child_sum.v1")
    return _export("words", make_model("words", ChildSum()), config, "fp16", "int32")


@pytest.fixture(scope="session", params=["words", "pieces", "child_sum"])
def exported(request: pytest.FixtureRequest) -> Exported:
    """Each of the three."""
    found: Exported = request.getfixturevalue(request.param)
    return found
