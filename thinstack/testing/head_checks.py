"""Contract checks of a task head's loss, and of few rows."""

import torch
from torch import Tensor

from thinstack.testing.forests import apart
from thinstack.testing.method_checks import takes_no_rows
from thinstack.testing.subject import HeadSubject

__all__ = ["few_rows", "loss_is_a_sum", "unlabelled_rows"]

TOLERANCE = 1e-10


def _gradient(loss: Tensor, scores: Tensor) -> Tensor:
    if not loss.requires_grad:
        return torch.zeros_like(scores)
    (found,) = torch.autograd.grad(loss, scores, allow_unused=True)
    return torch.zeros_like(scores) if found is None else found


def loss_is_a_sum(subject: HeadSubject) -> None:
    """Twice the rows have twice the loss; that of candidates, whose rows belong together, is not
    looked at."""
    head = subject.random()
    if head.reads == "candidates":
        return
    scores, labels = subject.labelled(head)
    once = head.loss(scores, labels)
    both = head.loss(torch.cat([scores, scores]), torch.cat([labels, labels]))
    if apart([both], [2 * once]) > TOLERANCE:
        raise AssertionError(
            f"the loss is no sum over rows: {float(once):.6g}, and {float(both):.6g} for the same "
            "rows twice. Sum it (reduction='sum'), and let whoever trains divide it by the number "
            "of labels"
        )


def unlabelled_rows(subject: HeadSubject) -> None:
    """Rows labelled -1 add nothing to the loss and have no gradient; the labelled ones have one."""
    head = subject.random()
    scores, labels = subject.labelled(head)
    scores.requires_grad_()
    known = (labels.reshape(len(labels), -1) >= 0).all(1)
    loss = head.loss(scores, labels)
    alone = head.loss(scores[known], labels[known])
    nothing = head.loss(scores, torch.full_like(labels, -1))
    mend = "leave rows without a label out, as functional.cross_entropy does with ignore_index=-1"
    if apart([loss], [alone]) > TOLERANCE:
        raise AssertionError(
            f"rows labelled -1 count: the loss is {float(loss.detach()):.6g}, and "
            f"{float(alone.detach()):.6g} without them; {mend}"
        )
    if float(nothing.detach()) != 0 or bool(_gradient(nothing, scores).any()):
        raise AssertionError(
            f"where no row has a label the loss is {float(nothing.detach()):.6g}, or its gradient "
            f"not 0; {mend}, and sum"
        )
    gradient = _gradient(loss, scores)
    if bool(gradient[~known].any()):
        raise AssertionError(f"rows labelled -1 have a gradient; {mend}")
    if not bool(gradient[known].any()):
        raise AssertionError(
            "the loss has no gradient with respect to the scores; take out detach and .data"
        )


def few_rows(subject: HeadSubject) -> None:
    """No rows work, in training mode too, and have a loss of 0; in training mode one row works."""
    head = subject.random()
    methods = subject.methods(head, 1)
    for method in methods.values():
        takes_no_rows(method)
    loss = methods["loss"]
    (none,) = loss(loss.only(None))
    if float(none.detach()) != 0:
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
        if tuple(found.shape) != (n, head.classes) or not bool(found.isfinite().all()):
            raise AssertionError(
                f"forward of {n} rows in training mode is not finite or not of {n} rows; divide "
                "by no count"
            )
