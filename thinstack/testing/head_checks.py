"""Contract checks of a task head's loss, of few rows, and of scaled logits."""

import torch

from thinstack.testing.forests import gradients, require_alike
from thinstack.testing.method_checks import has_shapes
from thinstack.testing.subject import HeadSubject


def loss_is_a_sum(subject: HeadSubject) -> None:
    """Twice the rows have twice the loss; that of candidates, whose rows belong together, is not
    looked at."""
    head = subject.random()
    if head.reads == "candidates":
        return
    scores, labels = subject.labelled(head)
    once = head.loss(scores, labels)
    both = head.loss(torch.cat([scores, scores]), torch.cat([labels, labels]))
    what = f"the loss is no sum over rows: {float(once):.6g} twice, and that of the rows twice"
    mend = "sum it (reduction='sum'), and let whoever trains divide it by the number of labels"
    require_alike([both], [2 * once], what, mend)


def unlabelled_rows(subject: HeadSubject) -> None:
    """Rows labelled -1 add nothing to the loss and have no gradient, as functional.cross_entropy
    leaves them out with ignore_index=-1; the labelled ones have one."""
    head = subject.random()
    scores, labels = subject.labelled(head)
    scores.requires_grad_()
    known = (labels.reshape(len(labels), -1) >= 0).all(1)
    loss = head.loss(scores, labels)
    alone = head.loss(scores[known], labels[known])
    what = "rows labelled -1 count: the loss with and without them"
    require_alike([loss], [alone], what, "leave them out")
    nothing = head.loss(scores, torch.full_like(labels, -1))
    if float(nothing.detach()) != 0 or bool(gradients(nothing, [scores])[0].any()):
        raise AssertionError(
            f"where no row has a label the loss is {float(nothing.detach()):.6g}, or its gradient "
            "not 0; leave such rows out, and sum"
        )
    (gradient,) = gradients(loss, [scores])
    if bool(gradient[~known].any()):
        raise AssertionError("rows labelled -1 have a gradient; leave them out")
    if not bool(gradient[known].any()):
        raise AssertionError(
            "the loss has no gradient with respect to the scores; take out detach and .data"
        )


def soft_labels(subject: HeadSubject) -> None:
    """Of a head that takes `soft_labels`: twice a label and half of another have twice the loss of
    the one and half of that of the other; rows of zeros have none."""
    head = subject.random()
    if not head.soft_labels:
        return
    scores, labels = subject.labelled(head)
    known = labels >= 0
    others = torch.where(known, (labels + 1) % head.classes, labels)
    hard = 2 * head.loss(scores, labels) + 0.5 * head.loss(scores, others)
    soft = scores.new_zeros(scores.shape)
    for amount, each in ((2.0, labels), (0.5, others)):
        soft[known, each[known]] += amount
    what = "the losses of soft labels and of the labels that they are made of"
    require_alike([head.loss(scores, soft)], [hard], what, "sum labels times losses of the classes")


def few_rows(subject: HeadSubject) -> None:
    """No rows work, in training mode too, and have a loss of 0. In training mode one row works, as
    the last batch of an epoch may have it: skip what cannot be estimated of so few, as batch
    normalisation."""
    head = subject.random()
    methods = subject.methods(head, 1)
    for method in methods.values():
        has_shapes(method, method.only(None), 0)
    loss = methods["loss"]
    (none,) = loss(loss.only(None))
    if float(none.detach()) != 0:
        raise AssertionError(
            f"the loss of no rows is {float(none.detach()):.6g} where 0 is expected; sum it "
            "(reduction='sum')"
        )
    head.train()
    for n in (0, 1):
        with torch.random.fork_rng(devices=[]):
            (found,) = methods["forward"]({"rows": [subject.rows(head, n)]})
        if tuple(found.shape) != (n, head.classes) or not bool(found.isfinite().all()):
            raise AssertionError(
                f"forward of {n} rows in training mode is not finite or not of {n} rows; divide "
                "by no count"
            )


def scaled_logits(subject: HeadSubject) -> None:
    """After scale_logits(f), which is optional, forward gives f times as much, and scores the
    softmax of that; a head that does not scale returns False and stays as it is."""
    head, factor = subject.random(), 0.5
    rows = subject.rows(head, 4)
    with torch.no_grad():
        logits, before = head(rows), head.scores(rows)
        scales = head.scale_logits(factor)
        found = [head(rows), head.scores(rows)]
    scaled = factor * logits
    expected = [scaled, torch.softmax(scaled, 1)] if scales else [logits, before]
    what = f"scale_logits({factor}) returns {scales}: forward and scores afterwards, and as they"
    mend = "multiply what forward ends with, or leave the method out"
    require_alike(found, expected, f"{what} should be", mend)
