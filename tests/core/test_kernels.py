"""The detours of an eager float32 model against the plain operations in float64, and where they
must not be taken."""

import pytest
import torch
from torch import Tensor, nn

from thinstack.core import kernels
from thinstack.core.fast import affine, tanh_

ROWS = [0, 1, 2, 7, 400]


@pytest.fixture(autouse=True)
def _of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the detour for small products too, as tests have them."""
    monkeypatch.setattr(kernels, "_SMALL_PRODUCT", 0)


def arguments(rows: int) -> tuple[Tensor, Tensor, Tensor]:
    """Bias, rows, and a weight that is a slice of a wider one."""
    random = torch.Generator().manual_seed(rows)
    bias, values, wide = (
        torch.randn(*shape, generator=random) for shape in ([24], [rows, 16], [16, 30])
    )
    return bias, values, wide[:, :24]


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("rows", ROWS)
def test_affine(rows: int, grad: bool) -> None:
    bias, values, weight = arguments(rows)
    with torch.set_grad_enabled(grad):
        found = affine(bias, values, weight)
    torch.testing.assert_close(
        found.double(), bias.double() + values.double() @ weight.double(), rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("rows", ROWS)
def test_the_gradient_of_affine(rows: int) -> None:
    inputs = [part.requires_grad_() for part in arguments(rows)]
    exact = [part.detach().double().requires_grad_() for part in inputs]
    grad = torch.randn(rows, 24, generator=torch.Generator().manual_seed(1))
    found = torch.autograd.grad(affine(*inputs), inputs, grad)
    expected = torch.autograd.grad(exact[0] + exact[1] @ exact[2], exact, grad.double())
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=0, atol=1e-4)


@pytest.mark.parametrize("needed", [0, 1, 2])
def test_a_gradient_of_one_argument_alone(needed: int) -> None:
    inputs = list(arguments(5))
    inputs[needed].requires_grad_()
    (found,) = torch.autograd.grad(affine(*inputs).sum(), inputs[needed])
    ones = torch.ones(5, 24)
    expected = [ones.sum(0), ones @ inputs[2].t(), inputs[1].t() @ ones][needed]
    torch.testing.assert_close(found, expected.detach(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("shape", [(0, 8), (3, 8), (600, 8)])
def test_tanh(shape: tuple[int, int]) -> None:
    values = torch.linspace(-30, 30, shape[0] * shape[1]).view(shape)
    exact = values.double().tanh()
    found = tanh_(values)
    assert found is values
    torch.testing.assert_close(found.double(), exact, rtol=0, atol=2e-7)


def test_tanh_of_what_is_not_finite() -> None:
    values = torch.tensor([float("inf"), float("-inf"), float("nan")]).repeat(2000)
    assert str(tanh_(values)[:3].tolist()) == "[1.0, -1.0, nan]"


class Layer(nn.Module):
    def forward(self, bias: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
        return tanh_(affine(bias, rows, weight))


def called(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """The rows of every call of oneDNN from here on."""
    if kernels._LINEAR is None:
        pytest.skip("this build of torch has no oneDNN")
    calls: list[Tensor] = []
    product = kernels._product
    monkeypatch.setattr(
        kernels, "_product", lambda rows, *rest: (calls.append(rows), product(rows, *rest))[1]
    )
    return calls


def test_the_detour_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = called(monkeypatch)
    affine(*arguments(400))
    assert len(calls) == 1
    monkeypatch.setattr(kernels, "_SMALL_PRODUCT", 400 * 16 * 24 + 1)
    affine(*arguments(400))
    assert len(calls) == 1


def test_onednn_is_given_no_matrix_with_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    called(monkeypatch)
    given: list[Tensor] = []
    linear = kernels._LINEAR
    monkeypatch.setattr(
        kernels, "_LINEAR", lambda *args: (given.extend(args[:2]), linear(*args))[1]
    )
    inputs = [part.requires_grad_() for part in arguments(400)]
    affine(*inputs)[:, :7].sum().backward()
    assert len(given) == 6
    assert all(matrix.is_contiguous() or matrix.t().is_contiguous() for matrix in given)


@pytest.mark.parametrize("grad", [True, False])
def test_an_export_holds_plain_operations(grad: bool) -> None:
    rows = torch.export.Dim("rows", min=2)
    shapes = {"bias": None, "rows": {0: rows}, "weight": None}
    with torch.set_grad_enabled(grad):
        program = torch.export.export(Layer(), arguments(400), dynamic_shapes=shapes)
    targets = {str(node.target) for node in program.graph.nodes}
    assert {"aten.addmm.default", "aten.tanh_.default"} <= targets
    assert not any("mkldnn" in target for target in targets)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize(
    "convert", [torch.jit.script, lambda layer: torch.jit.trace(layer, arguments(400))]
)
def test_torchscript_holds_plain_operations(convert: object) -> None:
    graph = str(convert(Layer()).inlined_graph)
    assert "aten::addmm" in graph
    assert "aten::tanh_" in graph
    assert "mkldnn" not in graph


def test_float64_autocast_and_a_user_who_says_no_take_no_detour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = called(monkeypatch)
    affine(*(part.double() for part in arguments(400)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert affine(*arguments(400)).dtype == torch.bfloat16
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)
    affine(*arguments(400))
    assert calls == []
