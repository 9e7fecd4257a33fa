"""The losses of a task head, of texts, and of a parser.

They are computed in float32 or, with torch's autocast, in bfloat16, in which case products and
states have half precision. Weights, gradients, optimizers, losses and evaluation stay in float32.
"""

import time
from functools import cache
from timeit import Timer
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.cell import Cell
from thinstack.core.fast import one_weight_gradient
from thinstack.core.head import TaskHead
from thinstack.core.model.model import Joint, Model
from thinstack.errors import ConfigError
from thinstack.runtime.scored import word_shares
from thinstack.training.examples.example import Minibatch
from thinstack.training.recipe import TrainingConfig
from thinstack.training.task import Losses, Step

ROUNDS: Final = 3
PAYS: Final = 0.9
"""A CPU trains in bfloat16 if a step takes at most this share of its time in float32."""
TOKENS, WIDTH, INSIDE = 256, 384, 1536  # of the timed step: half a layer of MiniLM
LOWER: Final = "with torch.autocast('cpu', torch.bfloat16): loss = net(rows).sum()"
STEPS: Final = ("net(rows).sum().backward()", f"{LOWER}\nloss.backward()")
TINY: Final = 1e-30
"""Minimum mean probability of a class, which keeps its logarithm finite."""


def joint_of(
    model: Model, inputs: dict[str, Tensor], config: TrainingConfig, *, track: bool = True
) -> Joint:
    """Return the outputs of `model.joint(inputs, track)` in float32, computed in the precision of
    training. In the backward pass, each weight's gradient is one product."""
    with lower_precision(model, config), one_weight_gradient():
        joint = model.joint(inputs, track)
    return Joint(joint.logits.float(), joint.choices.float(), joint.free)


def lower_precision(model: Model, config: TrainingConfig) -> torch.autocast:
    """Return the context for the precision of training. "auto" is bfloat16 if the device is faster
    in it and all cells support it."""
    device, lower = model.embedding.table.device, config.precision == "bf16"
    if config.precision == "auto":
        lower = faster_in_bf16(device) and not _float32_cells(model)
    return torch.autocast(device.type, torch.bfloat16, enabled=lower)


def check_precision(model: Model, config: TrainingConfig) -> None:
    """Raise ConfigError if the precision is bfloat16 and a cell of the model does not support it or
    the device only emulates it."""
    if config.precision != "bf16":
        return
    if cells := _float32_cells(model):
        problem = f"the cell {cells[0]} does not support it"
        raise ConfigError(f"training.precision = 'bf16': {problem}; leave precision out")
    device = model.embedding.table.device
    if not has_bf16(device):
        raise ConfigError(
            f"training.precision = 'bf16': this {device.type.upper()} only emulates it, which is "
            "many times slower than float32; leave precision out, or train on a GPU of compute "
            "capability 8.0 or a CPU with AVX512_BF16 or AMX"
        )


def _float32_cells(model: Model) -> list[str]:
    cells = [part for part in model.modules() if isinstance(part, Cell)]
    return [type(cell).__name__ for cell in cells if not cell.bf16]


def has_bf16(device: torch.device) -> bool:
    """Whether a device computes in bfloat16 without emulating it."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if not hasattr(torch.cpu, "get_capabilities"):  # as in torch 2.6
        return torch.backends.cpu.get_cpu_capability() == "AVX512"
    flags = torch.cpu.get_capabilities().items()
    return any(name.endswith("bf16") and there for name, there in flags)


def faster_in_bf16(device: torch.device) -> bool:
    """Whether a device is faster in bfloat16 than in float32: a GPU that supports it, or a CPU for
    which this process has timed a step."""
    return has_bf16(device) and (device.type == "cuda" or _pays_on_cpu())


@cache
def _pays_on_cpu() -> bool:
    """Time the feed-forward net of a transformer layer, with its backward pass.

    The flags of a CPU are not sufficient: with AVX512_BF16 but no AMX, a layer takes half the time
    on some CPUs and 1.4 times the time on others.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # on a busy machine, several would wait for one another
    try:
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            net = nn.Sequential(nn.Linear(WIDTH, INSIDE), nn.GELU(), nn.Linear(INSIDE, WIDTH))
            names = {"torch": torch, "net": net, "rows": torch.rand(TOKENS, WIDTH)}
            exact, lower = (Timer(step, timer=time.thread_time, globals=names) for step in STEPS)
            rounds = [(exact.timeit(1), lower.timeit(1)) for _ in range(ROUNDS)]
    finally:
        torch.set_num_threads(threads)
    return min(half for _, half in rounds) <= PAYS * min(full for full, _ in rounds)


def joint_losses(step: Step, root_weight: float = 0.0, group_weight: float = 0.0) -> Losses:
    """Return the losses of the head and of a parser, (7) of Bowman et al. 2016, and the numbers of
    cases. `root_weight`: as in `soft_labels`. `group_weight`: the weight of `group_loss`."""
    model, batch = step.model, step.batch
    joint = joint_of(model, model.inputs(batch.forest), step.training)
    loss, labelled = task_loss(model.head, joint.logits, batch, root_weight)
    if group_weight > 0:
        loss = loss + group_weight * group_loss(joint.logits, batch)
    return beside_parsing(model, batch, joint, (loss, labelled))


def beside_parsing(
    model: Model, batch: Minibatch, joint: Joint, task: tuple[Tensor, int]
) -> Losses:
    """Add the loss of a parser, if the minibatch has right transitions, to the loss of a task and
    its number of cases."""
    loss, cases = task
    if not batch.right.size:
        return (loss, loss.new_zeros([])), (cases, 0)
    parsing = model.encoder.judge(joint.choices, joint.free, torch.from_numpy(batch.right))
    return (loss, parsing.loss), (cases, parsing.cases)


def task_loss(
    head: TaskHead, logits: Tensor, batch: Minibatch, root_weight: float
) -> tuple[Tensor, int]:
    """Return the loss summed over the labeled targets of a minibatch, and their number.

    `logits`: (t, C), one row per target. Soft labels, and a `root_weight` above 0 (see
    `soft_labels`), require a head that takes them.
    """
    if batch.soft is None and root_weight == 0:
        labelled = int((batch.targets >= 0).sum())
        return head.loss(logits, sent(batch.targets, logits)), labelled
    soft = soft_labels(batch, head.classes, root_weight)
    labels, labelled = sent(soft, logits), int(soft.any(1).sum())
    if batch.sets.size:
        rows = sent(batch.sets, logits)
        labels[rows] = shares_in_sets(labels[rows], logits[rows])
    return head.loss(logits, labels), labelled


def sent(values: NDArray[Any], like: Tensor) -> Tensor:
    """Copy values to the device of `like`, without waiting."""
    return torch.from_numpy(values).to(like.device, non_blocking=True)


def shares_in_sets(labels: Tensor, logits: Tensor) -> Tensor:
    """Return the soft labels (k, C) of targets that have one of the classes above 0 in `labels` (k,
    C): the sum of each row, divided among these classes as the `logits` (k, C) do.

    With these labels, the gradient of the cross-entropy is that of -log p(set), where p(set) is the
    sum of the probabilities of the classes.
    """
    within = logits.detach().float().masked_fill(labels == 0, -torch.inf)
    return labels.sum(1, keepdim=True) * torch.softmax(within, 1)


def group_loss(logits: Tensor, batch: Minibatch) -> Tensor:
    """Return how much the examples of each group differ: the sum over examples of KL(p || m), where
    p are the class probabilities of an example and m is their mean over its group.

    `logits`: (t, C), one row per target. Examples without a group, or alone in theirs, add 0.
    """
    chosen = np.flatnonzero(batch.groups >= 0)
    _, places, counts = np.unique(batch.groups[chosen], return_inverse=True, return_counts=True)
    rows = sent(batch.whole[chosen], logits)
    logs = logits[rows].float().log_softmax(1)
    group = sent(places.reshape(-1), logits)
    sums = logs.new_zeros(len(counts), logs.shape[1]).index_add(0, group, logs.exp())
    means = sums / sent(counts, logs).to(logs.dtype)[:, None]
    return (logs.exp() * (logs - means.clamp_min(TINY).log()[group])).sum()


def soft_labels(batch: Minibatch, classes: int, root_weight: float) -> NDArray[np.float32]:
    """Return the weight (t, C) of each class in the loss of each target: the soft labels of the
    minibatch, or 1 for the class of the target.

    The target of a whole example is multiplied by 1 + `root_weight` n, where n is the number of
    labeled targets of the example.
    """
    if batch.soft is None:
        labels: NDArray[np.float32] = np.eye(classes, dtype=np.float32)[batch.targets]
        labels[batch.targets < 0] = 0
    else:
        labels = batch.soft.copy()
    starts = np.cumsum(batch.counts) - batch.counts
    labelled = np.add.reduceat(labels.any(1), starts, dtype=np.float32)
    labels[batch.whole] *= 1 + np.float32(root_weight) * labelled[:, np.newaxis]
    return labels


def near_classes(targets: Tensor, classes: int, share: float) -> Tensor:
    """Return distributions (T, C) over `classes` ordered classes: each of the `targets` (T,) has 1
    - `share`, and its neighbors have the rest, in equal parts."""
    right = functional.one_hot(targets, classes).float()
    beside = functional.pad(right[:, 1:], (0, 1)) + functional.pad(right[:, :-1], (1, 0))
    return (1 - share) * right + share * beside / beside.sum(1, keepdim=True)


def text_losses(step: Step, *, neighbours: float = 0.0, penalty: float = 0.0) -> Losses:
    """Return the loss of the texts, and 0 for a parser, which is not trained on texts; and the
    numbers of cases.

    As in predictions, the probabilities of a text are the mean of its sentences' probabilities,
    weighted by words. If the model has `class_sets`, they are summed to those of the S labels and
    normalized, so that classes in no set are not trained. With `neighbours`, the target of a text
    is the distribution of `near_classes`.

    With a `penalty`, each text adds that many times the mean divergence KL(initial || model) over
    the phrases inside the sentences of the minibatch, or over the sentences if the model scores
    only these. Whole sentences are free to change, because the labels of the texts may be more or
    less frequent than in the data of `step.initial`.
    """
    model, batch, training, initial, _ = step
    inputs = model.inputs(batch.forest)
    logits = joint_of(model, inputs, training, track=False).logits
    roots, inner = logits, np.arange(len(logits))
    if model.head.reads == "nodes":
        ends = np.cumsum(batch.forest.sizes) - 1
        roots, inner = logits.index_select(0, sent(ends, logits)), np.delete(inner, ends)
    text, shares = (
        sent(values, logits) for values in word_shares(batch.forest.lengths, batch.trees)
    )
    weighted = functional.softmax(roots, 1) * shares.to(roots.dtype).unsqueeze(1)
    means = roots.new_zeros([batch.size, roots.shape[1]]).index_add(0, text, weighted)
    if model.class_sets is not None:
        means = means @ model.class_sets.T.to(means, non_blocking=True)
        means = means / means.sum(1, keepdim=True).clamp_min(torch.finfo(means.dtype).tiny)
    targets = sent(batch.targets, logits)
    logs = means.clamp_min(torch.finfo(means.dtype).tiny).log()
    if neighbours > 0:
        loss = -(near_classes(targets, logs.shape[1], neighbours) * logs).sum()
    else:
        loss = model.head.loss(logs, targets)
    if initial is not None and penalty > 0:
        with torch.no_grad():
            before = joint_of(initial, inputs, training, track=False).logits
        rows = sent(inner, logits)
        now, then = (
            functional.log_softmax(values, 1).index_select(0, rows) for values in (logits, before)
        )
        divergence = functional.kl_div(now, then, reduction="sum", log_target=True)
        loss = loss + penalty * batch.size * divergence / max(1, len(inner))
    return (loss, loss.new_zeros([])), (batch.size, 0)


def aspect_losses(step: Step) -> Losses:
    """Return the losses of the nodes and of a parser, and the numbers of cases.

    "No term", class 0, is trained separately from the other classes, so that a node that is not a
    term also has a sentiment. Column 0 of the soft labels (t, C) is the probability of being no
    term; the others are the weights of the polarities. A row of zeros has no loss.
    """
    model, batch = step.model, step.batch
    joint = joint_of(model, model.inputs(batch.forest), step.training)
    assert batch.soft is not None, "examples come from a guide"
    soft = sent(batch.soft, joint.logits)
    logs = joint.logits.log_softmax(1)
    no_term, term = logs[:, 0], logs[:, 1:].logsumexp(1)
    sentiment = logs[:, 1:] - term[:, None]
    loss = -(soft[:, 0] * no_term + (1 - soft[:, 0]) * soft.any(1) * term).sum()
    loss = loss - (soft[:, 1:] * sentiment).sum()
    return beside_parsing(model, batch, joint, (loss, len(batch.targets)))
