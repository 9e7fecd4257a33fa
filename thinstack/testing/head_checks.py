"""Contract checks of a task head: its loss, and scaled logits."""

import torch

from thinstack.testing.comparison import gradients_of, require_alike
from thinstack.testing.subject import HeadSubject


def loss_is_a_sum(subject: HeadSubject) -> None:
    """The loss is the sum over rows (reduction='sum'): training divides it by the number of labels.
    Candidates are left out, because their rows belong together."""
    head = subject.random()
    if head.reads == "candidates":
        return
    scores, labels = subject.labelled(head)
    twice = torch.cat([scores, scores]), torch.cat([labels, labels])
    once, both = head.loss(scores, labels), head.loss(*twice)
    require_alike([both], [2 * once], "the loss of rows twice, and twice their loss")


def unlabelled_rows(subject: HeadSubject) -> None:
    """Rows labelled -1 add nothing to the loss and have no gradient, as with `ignore_index=-1`; a
    loss of no labels is 0, and labelled rows have a gradient."""
    head = subject.random()
    scores, labels = subject.labelled(head)
    scores.requires_grad_()
    labelled = (labels.reshape(len(labels), -1) != -1).all(1)
    loss = head.loss(scores, labels)
    rest = head.loss(scores[labelled], labels[labelled])
    require_alike([loss], [rest], "the loss with rows labelled -1, and without them")
    nothing = [head.loss(scores, torch.full_like(labels, -1)), head.loss(scores[:0], labels[:0])]
    require_alike(nothing, [loss.new_zeros([])] * 2, "the loss without labels, and 0")
    (gradient,) = gradients_of(loss, [scores])
    if bool(gradient[~labelled].any()) or bool(gradients_of(nothing[0], [scores])[0].any()):
        raise AssertionError("rows labelled -1 have a gradient.")
    if not bool(gradient[labelled].any()):
        raise AssertionError("labelled rows have no gradient.")


def soft_labels(subject: HeadSubject) -> None:
    """If the head takes `soft_labels`, the loss is the sum of label weights times the losses of the
    classes."""
    head = subject.random()
    if not head.soft_labels:
        return
    scores, labels = subject.labelled(head)
    labelled = labels >= 0
    others = torch.where(labelled, (labels + 1) % head.classes, labels)
    expected = 2 * head.loss(scores, labels) + 0.5 * head.loss(scores, others)
    soft = torch.zeros_like(scores)
    soft[labelled, labels[labelled]] += 2
    soft[labelled, others[labelled]] += 0.5
    require_alike([head.loss(scores, soft)], [expected], "the losses of soft and of plain labels")


def scaled_logits(subject: HeadSubject) -> None:
    """After `scale_logits(f)`, `forward` gives f times as much, and `scores` the softmax of that. A
    head that does not scale returns False and stays as it is."""
    head, factor = subject.random(), 0.5
    rows = subject.methods(head, 4)["forward"].values["rows"]
    with torch.no_grad():
        logits, scores = head(rows), head.scores(rows)
        if head.scale_logits(factor):
            logits, scores = factor * logits, torch.softmax(factor * logits, 1)
        require_alike([head(rows), head.scores(rows)], [logits, scores], "after scale_logits(0.5)")
