"""Rounding of weights for storage."""

import numpy as np
import pytest
import torch
from export_models import make_model

from thinstack.errors import ExportError
from thinstack.export.quantize import dequantised, quantize_rows


def test_rows_are_rounded_to_half_a_step_of_their_own_scale():
    table = np.array(
        [[1.0, -0.5, 0.001], [1000.0, 3.0, -1000.0], [0, 0, 0], [1e-9, 0, -5e-10]], np.float32
    )
    levels, scale = quantize_rows(table)
    assert levels.dtype == np.int8
    assert (np.abs(levels * scale - table) <= scale * 0.5001).all()
    assert levels[:2].tolist() == [[127, -64, 0], [127, 0, -127]]  # -63.5 goes to the even -64
    assert levels[2].tolist() == [0, 0, 0]
    assert levels[3, 0] == 127


@pytest.mark.parametrize("quantize", ["none", "fp16", "int8-tables"])
def test_a_rounded_copy_has_matrices_in_half_precision_and_vectors_as_they_are(quantize):
    model = make_model("words")
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    copy = dequantised(model, quantize)
    assert not copy.training
    for name, found in copy.state_dict().items():
        weight = before[name]
        assert torch.equal(model.state_dict()[name], weight)
        half = weight.half().float()
        if weight.dim() == 1 or quantize == "none":
            assert torch.equal(found, weight)
        elif name == "embedding.table" and quantize == "int8-tables":
            step = weight.abs().amax(1, keepdim=True) / 127
            assert ((found - weight).abs() <= step * 0.5001).all()
            assert not torch.equal(found, half)
        else:
            assert torch.equal(found, half)
            assert not torch.equal(found, weight)


def test_weights_that_cannot_be_stored_are_named():
    model = make_model("words")
    with torch.no_grad():
        model.encoder.stack()[0].up.cell.u[0, 0] = 1e6
    dequantised(model, "none")
    with pytest.raises(ExportError, match=r"'encoder.layers.0.up.cell.u' .*fp16"):
        dequantised(model, "fp16")
    with torch.no_grad():
        model.head.linear.bias[0] = float("nan")
    with pytest.raises(ExportError, match=r"'head.linear.bias'"):
        dequantised(model, "none")
