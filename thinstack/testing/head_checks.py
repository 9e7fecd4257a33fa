"""Contract checks of a task head in eager torch."""

from collections.abc import Callable
from typing import get_args

import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError

from thinstack.core.head import Reads, TaskHead
from thinstack.testing.forests import apart
from thinstack.testing.subject import HeadSubject

__all__ = [
    "built_as_asked",
    "few_rows",
    "gradients",
    "inputs_are_kept",
    "loss_is_a_sum",
    "rows_are_independent",
    "unlabelled_rows",
]

ROWS, TOLERANCE = 5, 1e-10
CANDIDATES = [[1, 2], [0, -1], [0, 0], [1, 0], [0, 3], [2, 0], [-1, 1]]
"""Of three sentences, two trees that are none's candidates among them."""


def _labelled(head: TaskHead) -> tuple[Tensor, Tensor]:
    """What the loss takes: scores, and labels that hold as classes and as ratings, two of them -1.

    The labels of pairs are float64 if the loss refuses int64.
    """
    generator = torch.Generator().manual_seed(2)
    if head.reads == "candidates":
        labels = torch.tensor(
            CANDIDATES
        )  # the worse a tree, the higher its score, so that something is to be learnt
        scores = (
            0.1 * torch.randn(len(labels), generator=generator, dtype=torch.float64) + labels[:, 1]
        )
        return scores.requires_grad_(), labels
    logits = torch.randn(ROWS, head.classes, generator=generator, dtype=torch.float64)
    last = head.classes - 1
    labels = torch.tensor([last, -1, min(1, last), last, -1])
    if head.reads == "pairs":
        try:
            head.loss(logits, labels)
        except Exception:  # it takes ratings; whatever it says of these is seen by the check
            labels = labels.double()
    return logits.requires_grad_(), labels


def _known(labels: Tensor) -> Tensor:
    return (labels.reshape(len(labels), -1) >= 0).all(1)


def _gradient(loss: Tensor, logits: Tensor) -> Tensor:
    if not loss.requires_grad:
        return torch.zeros_like(logits)
    (found,) = torch.autograd.grad(loss, logits, allow_unused=True)
    return torch.zeros_like(logits) if found is None else found


def built_as_asked(subject: HeadSubject) -> None:
    """The head has the sizes that it was asked for, and gives scores (n, C) of the rows that it
    says it reads."""
    head = subject.create()
    if not isinstance(head, TaskHead):
        raise AssertionError(
            f"it is a {type(head).__name__}; derive it from thinstack.core.head.TaskHead"
        )
    for size in ("hidden_size", "classes"):
        if getattr(head, size) != getattr(subject, size):
            raise AssertionError(
                f"{size} is {getattr(head, size)} where {getattr(subject, size)} was asked for; "
                f"hand the {size} that __init__ gets on to TaskHead.__init__"
            )
    if head.reads not in get_args(Reads):
        raise AssertionError(
            f"reads is {head.reads!r}; hand one of {', '.join(get_args(Reads))} to "
            "TaskHead.__init__"
        )
    for dtype in (torch.float32, torch.float64):
        head = head.to(dtype).eval()
        rows = subject.rows(head, ROWS).to(dtype)
        for method, run in (("forward", head.forward), ("scores", head.scores)):
            _is_as_asked(
                head, method, _result(head, method, run, rows), (ROWS, subject.classes), dtype
            )
    _is_as_asked(head, "loss", head.loss(*_labelled(head)), (), torch.float64)


def _result(head: TaskHead, method: str, run: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    try:
        return run(rows)
    except Exception as error:
        raise AssertionError(
            f"{method} of rows of shape {tuple(rows.shape)} raises {type(error).__name__}: "
            f"{error!s:.200}. A head that reads {head.reads} gets rows of this width "
            "(thinstack.core.head.Reads): make its weights fit, or say what it reads"
        ) from None


def _is_as_asked(
    head: TaskHead, method: str, found: Tensor, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    if tuple(found.shape) != shape:
        raise AssertionError(
            f"{method} gives shape {tuple(found.shape)} where {shape} is expected: a score for "
            f"each row and each of the {head.classes} classes, and one number for a loss"
        )
    if found.dtype != dtype:
        raise AssertionError(
            f"{method} gives {found.dtype} from inputs and weights of {dtype}; make new tensors by "
            "rows.new_zeros and its like, and store constants with register_buffer"
        )


def inputs_are_kept(subject: HeadSubject) -> None:
    """No method overwrites the rows, scores or labels that it is given."""
    head = subject.random_head()
    logits, labels = _labelled(head)
    given = {
        "forward": [subject.rows(head, ROWS)],
        "scores": [subject.rows(head, ROWS)],
        "loss": [logits.detach(), labels],
    }
    for method, tensors in given.items():
        before = [tensor.clone() for tensor in tensors]
        with torch.no_grad():
            getattr(head, method)(*tensors)
        if apart(tensors, before) > 0:
            raise AssertionError(
                f"{method} overwrites its arguments, which others read after it; take the "
                "operation without the trailing underscore, or clone them first"
            )


def loss_is_a_sum(subject: HeadSubject) -> None:
    """Twice the rows have twice the loss; that of candidates, whose rows belong together, is not
    looked at."""
    head = subject.random_head()
    if head.reads == "candidates":
        return
    logits, labels = _labelled(head)
    once, both = (
        head.loss(logits, labels),
        head.loss(torch.cat([logits, logits]), torch.cat([labels, labels])),
    )
    if apart([both], [2 * once]) > TOLERANCE:
        raise AssertionError(
            f"the loss is no sum over rows: {float(once.detach()):.6g}, and "
            f"{float(both.detach()):.6g} for the same rows twice. Sum it (reduction='sum'), and "
            "let whoever trains divide it by the number of labels"
        )


def unlabelled_rows(subject: HeadSubject) -> None:
    """Rows labelled -1 add nothing to the loss and have no gradient; the labelled ones have one."""
    head = subject.random_head()
    logits, labels = _labelled(head)
    known = _known(labels)
    loss = head.loss(logits, labels)
    alone, nothing = (
        head.loss(logits[known], labels[known]),
        head.loss(logits, torch.full_like(labels, -1)),
    )
    mend = "leave rows without a label out, as functional.cross_entropy does with ignore_index=-1"
    if apart([loss], [alone]) > TOLERANCE:
        raise AssertionError(
            f"rows labelled -1 count: the loss is {float(loss.detach()):.6g}, and "
            f"{float(alone.detach()):.6g} without them; {mend}"
        )
    if apart([nothing], [torch.zeros_like(nothing)]) > 0 or bool(
        _gradient(nothing, logits).ne(0).any()
    ):
        raise AssertionError(
            f"where no row has a label the loss is {float(nothing.detach()):.6g}, or its gradient "
            f"not 0; {mend}, and sum"
        )
    gradient = _gradient(loss, logits)
    if bool(gradient[~known].ne(0).any()):
        raise AssertionError(f"rows labelled -1 have a gradient; {mend}")
    if not bool(gradient[known].any()):
        raise AssertionError(
            "the loss has no gradient with respect to the scores; take out detach and .data"
        )


def few_rows(subject: HeadSubject) -> None:
    """No rows work, in training mode too, and have a loss of 0; in training mode one row works."""
    head = subject.random_head()
    nothing = subject.rows(head, 0)
    logits, labels = _labelled(head)
    for method, run in (("forward", head.forward), ("scores", head.scores)):
        if (shape := tuple(run(nothing).shape)) != (0, subject.classes):
            raise AssertionError(
                f"{method} of no rows gives shape {shape}; make as many rows as there are: no "
                "mean over rows"
            )
    none = head.loss(logits[:0], labels[:0])
    if apart([none], [torch.zeros_like(none)]) > 0 or len(_gradient(none, logits[:0])) > 0:
        raise AssertionError(
            f"the loss of no rows is {float(none.detach()):.6g} where 0 is expected; sum it "
            "(reduction='sum')"
        )
    for n in (0, 1):
        with torch.random.fork_rng(devices=[]):
            try:
                found = head.train()(subject.rows(head, n))
            except Exception as error:
                raise AssertionError(
                    f"forward of {n} rows in training mode raises {type(error).__name__}: "
                    f"{error!s:.200}. The last batch of an epoch may have one row: skip what "
                    "cannot be estimated of so few, as batch normalisation"
                ) from None
        if tuple(found.shape) != (n, subject.classes) or not bool(found.isfinite().all()):
            raise AssertionError(
                f"forward of {n} rows in training mode is not finite or not of {n} rows; divide "
                "by no count"
            )


def rows_are_independent(subject: HeadSubject) -> None:
    """In evaluation mode the scores of a row depend on that row alone, however many are computed
    together."""
    head = subject.random_head()
    rows, others = subject.rows(head, ROWS), subject.rows(head, ROWS, seed=1)
    with torch.no_grad():
        for method, run in (("forward", head.forward), ("scores", head.scores)):
            whole = run(rows)
            if (moved := apart([run(rows)], [whole])) > TOLERANCE:
                raise AssertionError(
                    f"{method} gives other results when it is called again: they differ by "
                    f"{moved:.2g}. Keep nothing between "
                    "two calls, and draw no random numbers in evaluation mode"
                )
            for row in range(ROWS):
                here = torch.arange(ROWS) == row
                if (
                    moved := apart(
                        [run(torch.where(here[:, None], others, rows))[~here]], [whole[~here]]
                    )
                ) > TOLERANCE:
                    raise AssertionError(
                        f"{method} reads other rows: results changed by {moved:.2g} when row {row} "
                        "was replaced. Work on each row by itself: no mean, maximum or "
                        "normalisation along dimension 0 in evaluation mode"
                    )
                if (moved := apart([run(rows[here])], [whole[here]])) > TOLERANCE:
                    raise AssertionError(
                        f"{method} depends on the number of rows: row {row} of {ROWS} differs by "
                        f"{moved:.2g} from the same row "
                        "alone. Do not branch on the number of rows, nor calculate with it"
                    )


def gradients(subject: HeadSubject) -> None:
    """The gradients of forward, for rows and parameters, and of the loss, for scores, are those of
    finite differences."""
    head = subject.random_head()
    logits, labels = _labelled(head)
    rows, parameters = (
        subject.rows(head, ROWS).requires_grad_(),
        [each for each in head.parameters() if each.requires_grad],
    )
    try:
        method = "forward"
        torch.autograd.gradcheck(
            lambda rows, *_: head(rows), (rows, *parameters), fast_mode=True
        )  # by a random direction
        method = "loss"
        torch.autograd.gradcheck(lambda logits: head.loss(logits, labels), (logits,))
    except GradcheckError:
        raise AssertionError(
            f"the gradient of {method} is not that of finite differences. Mend the backward of "
            "its autograd.Function, or take "
            "out detach, .data and in-place operations on what autograd has saved"
        ) from None
