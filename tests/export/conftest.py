"""Each export takes seconds, so the tests share six."""

import pytest
import torch
from export_models import ChildSum, Exported, H, V, make_config, make_model, randomised

from thinstack.export.onnx.model import export_onnx
from thinstack.export.onnx.verify import export_verified_onnx
from thinstack.plugins.build import build_model


def _export(model, config, quantize, index_type="int32"):
    file = export_onnx(
        model, config, quantize=quantize, index_type=index_type, vocabulary_digest="0123abcd"
    )
    return Exported(model, config, quantize, file)


@pytest.fixture(scope="session")
def words():
    """N-ary LSTM over words, nothing rounded, int32."""
    return _export(make_model("words"), make_config("words"), "none")


@pytest.fixture(scope="session")
def pieces():
    """N-ary LSTM over wordpieces, int8, int64."""
    model, config = make_model("wordpieces"), make_config("wordpieces")
    return _export(model, config, "int8-tables", "int64")


@pytest.fixture(scope="session")
def child_sum():
    """A cell of any arity over words, fp16, int32."""
    config = make_config("words", cell="child_sum.v1")
    return _export(make_model("words", ChildSum()), config, "fp16")


@pytest.fixture(scope="session", params=["words", "pieces", "child_sum"])
def exported(request):
    """Each of the three."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def verified():
    """A bidirectional model of trees over words, and the report of its verification."""
    torch.manual_seed(0)
    encoder = {
        "top_down": {"name": "top_down_lstm.v1", "hidden_size": H - 1},
        "readout": ["down", "up"],
    }
    head = {"name": "root_classifier.v1", "options": {"hidden": 7}}
    config = make_config("words", "lexicalized_lstm.v1", encoder=encoder, head=head)
    model = randomised(build_model(config, entries=V), std=0.4)
    file, report = export_verified_onnx(model, config, vocabulary_digest="0123abcd")
    return Exported(model, config, "none", file), report


@pytest.fixture(scope="session")
def pairs():
    """A model of pairs of dependency trees with relations, over words, fp16, int32."""
    torch.manual_seed(0)
    settings = {"trees": "dependency", "relations": ["nsubj", "det"]}
    config = make_config("words", "sdt_rnn.v1", head={"name": "similarity.v1"}, **settings)
    return _export(randomised(build_model(config, entries=V)), config, "fp16")


@pytest.fixture(scope="session")
def parser():
    """SPINN over wordpieces, int8, int32."""
    torch.manual_seed(0)
    encoder = {"tracker": {"size": 4, "lookahead": 2}}
    config = make_config("wordpieces", "spinn_lstm.v1", encoder=encoder, tree_source="self")
    return _export(randomised(build_model(config, entries=V)), config, "int8-tables")
