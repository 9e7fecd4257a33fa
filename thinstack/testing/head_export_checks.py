"""Contract checks of a task head's exports, through the same functions that export a model."""

import torch
from torch import Tensor, nn

from thinstack.core.head import TaskHead
from thinstack.errors import ExportError, needs_extra
from thinstack.testing.export_checks import compiled, session_of
from thinstack.testing.forests import apart
from thinstack.testing.subject import HeadSubject

__all__ = ["onnx", "torchscript"]

SCRIPTED, EXPORTED = 1e-10, 1e-5
SIZES = (7, 1, 0)
FLOAT = 1  # in ONNX


class _Scores(nn.Module):
    """What a model exports of its head."""

    def __init__(self, head: TaskHead):
        super().__init__()
        self.head = head

    def forward(self, rows: Tensor) -> Tensor:
        return self.head.scores(rows)


def torchscript(subject: HeadSubject) -> None:
    """Scripted, the head gives the scores that it gives in eager torch."""
    head = subject.random_head()
    scripted = compiled(_Scores(head), "head")
    for n in SIZES:
        rows = subject.rows(head, n)
        if (difference := apart([scripted(rows)], [head.scores(rows)])) > SCRIPTED:
            raise AssertionError(
                f"scripted, the scores of {n} rows differ by {difference:.2g} from those of eager "
                "torch; look for what TorchScript fixes when it compiles: attributes that change, "
                "is_scripting() branches, default arguments"
            )


def onnx(subject: HeadSubject) -> None:
    """Exported to ONNX, the head gives the same scores in onnxruntime for no row, one row, and
    several.

    Raises MissingExtraError without onnx or onnxruntime.
    """
    head = subject.random_head().float()
    session = session_of(_exported(head, subject.width(head)))
    for n in SIZES:
        rows = subject.rows(head, n).float()
        (found,) = session.run(None, {"rows": rows.numpy()})
        with torch.no_grad():
            expected = head.scores(rows)
        if (difference := apart([torch.from_numpy(found)], [expected])) > EXPORTED:
            raise AssertionError(
                f"in onnxruntime the scores of {n} rows differ by {difference:.2g} from the "
                "head's. The export fixes whatever is not computed from a tensor: use no branch on "
                "sizes or values, and no number kept from an earlier call"
            )


def _exported(head: TaskHead, width: int) -> bytes:
    with needs_extra("testing"):
        from thinstack.export.onnx.graph import Graph
        from thinstack.export.onnx.parts import export_head, inline
    g = Graph("head")
    rows = g.input("rows", FLOAT, ["n", width])
    try:
        (scores,) = inline(g, export_head(head, width), [rows])
    except ExportError as error:
        raise AssertionError(
            f"{error}. The exporter follows tensors only: no Python branch or loop over values or "
            "rows, and operators that ONNX has"
        ) from None
    g.output(scores, "scores", FLOAT, ["n", head.classes])
    return g.model({}, producer_version="")
