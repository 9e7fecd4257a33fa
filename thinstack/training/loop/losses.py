"""Computes losses, in float32 or by torch's autocast in bfloat16. There, products and states have
half precision. Weights, their gradients, optimisers, losses and evaluation stay in float32."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from thinstack.core.cell import Cell
from thinstack.core.head import TaskHead
from thinstack.core.model.model import Joint, Model
from thinstack.core.shared_weights import one_weight_gradient
from thinstack.errors import ConfigError
from thinstack.runtime.documents import word_shares
from thinstack.training.examples.example import Example, Minibatch
from thinstack.training.recipe import TrainingConfig
from thinstack.training.task import Losses


def joint_losses(
    model: Model, batch: Minibatch, training: TrainingConfig, root_weight: float = 0.0
) -> Losses:
    """The losses of the head and of the transitions, (7) of Bowman et al. 2016, and over how many
    cases each is a sum. Without right transitions no parser learns. `root_weight`: as in
    `soft_labels`."""
    joint = joint_of(model, model.inputs(batch.forest), training)
    loss, labelled = task_loss(model.head, joint.logits, batch, root_weight)
    if not batch.right.size:
        return (loss, loss.new_zeros([])), (labelled, 0)
    wanted = torch.from_numpy(batch.right)
    parsing = model.encoder.judge(joint.choices, joint.free, wanted)
    return (loss, parsing.loss), (labelled, parsing.cases)


def task_loss(
    head: TaskHead, logits: Tensor, batch: Minibatch, root_weight: float
) -> tuple[Tensor, int]:
    """The loss of a minibatch, summed over its labelled targets, and the number of these targets.

    `logits`: (t, C), a row for each target. `root_weight`: as in `soft_labels`. A `root_weight`
    above 0, and labels of a teacher, need a head that takes `soft_labels`.
    """
    if batch.soft is None and root_weight == 0:
        labelled = int((batch.targets >= 0).sum())
        return head.loss(logits, torch.from_numpy(batch.targets).to(logits.device)), labelled
    labels = soft_labels(batch, head.classes, root_weight)
    loss = head.loss(logits, torch.from_numpy(labels).to(logits.device))
    return loss, int(labels.any(1).sum())


def soft_labels(batch: Minibatch, classes: int, root_weight: float) -> NDArray[np.float32]:
    """How often each class counts in the loss of each target, (t, C): as a teacher says, or once
    for the target's own class.

    The target of a whole example is multiplied by 1 + `root_weight` n, where n is the number of the
    example's labelled targets.
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


def joint_of(
    model: Model, inputs: dict[str, Tensor], config: TrainingConfig, *, track: bool = True
) -> Joint:
    """The outputs of `model.joint(inputs, track)` in float32, computed in the precision of the
    training. In the backward pass, each weight's gradient is one product."""
    with lower_precision(model, config), one_weight_gradient():
        joint = model.joint(inputs, track)
    return Joint(joint.logits.float(), joint.choices.float(), joint.free)


def lower_precision(model: Model, config: TrainingConfig) -> torch.autocast:
    """The context that computes in the precision of the training. For "auto", that is bfloat16 if
    the device is faster in it and all cells take it."""
    device, lower = model.embedding.table.device, config.precision == "bf16"
    if config.precision == "auto":
        lower = faster_in_bf16(device) and not _refusing(model)
    return torch.autocast(device.type, torch.bfloat16, enabled=lower)


def check_precision(model: Model, config: TrainingConfig) -> None:
    """Raise ConfigError if bfloat16 is asked for, but a cell of the model does not compute in it or
    the device only emulates it."""
    if config.precision != "bf16":
        return
    if refusing := _refusing(model):
        problem = f"the cell {refusing[0]} does not compute in it"
        raise ConfigError(f"training.precision = 'bf16': {problem}; leave precision out")
    device = model.embedding.table.device
    if not has_bf16(device):
        raise ConfigError(
            f"training.precision = 'bf16': this {device.type.upper()} only emulates it, which is "
            "many times slower than float32; leave precision out, or train on a GPU of compute "
            "capability 8.0 or a CPU with AVX512_BF16 or AMX"
        )


def _refusing(model: Model) -> list[str]:
    """The cells of a model that do not compute in bfloat16."""
    cells = [part for part in model.modules() if isinstance(part, Cell)]
    return [type(cell).__name__ for cell in cells if not cell.bf16]


def has_bf16(device: torch.device) -> bool:
    """Whether a device computes in bfloat16 and does not emulate it."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if not hasattr(torch.cpu, "get_capabilities"):  # as in torch 2.6
        return torch.backends.cpu.get_cpu_capability() == "AVX512"
    flags = torch.cpu.get_capabilities().items()
    return any(name.endswith("bf16") and found for name, found in flags)


def faster_in_bf16(device: torch.device) -> bool:
    """Whether a device is faster in bfloat16 than in float32: a GPU that computes in it, or a CPU
    with AMX.

    With AVX512_BF16 but no AMX, a layer of MiniLM took 1.4 times as long as in float32, with its
    backward pass (torch 2.13, one thread).
    """
    if device.type == "cuda":
        return has_bf16(device)
    return hasattr(torch.cpu, "get_capabilities") and bool(
        torch.cpu.get_capabilities().get("amx_bf16", False)
    )


def near_classes(targets: Tensor, classes: int, share: float) -> Tensor:
    """Distributions (T, C) over `classes` ordered classes, for the `targets` (T,). The neighbours
    of a target have the `share`, half of it each if there are two. The target has the rest."""
    own = functional.one_hot(targets, classes).float()
    beside = functional.pad(own[:, 1:], (0, 1)) + functional.pad(own[:, :-1], (1, 0))
    return (1 - share) * own + share * beside / beside.sum(1, keepdim=True)


def phrases_of(model: Model, texts: Sequence[Example]) -> int:
    """The number of phrases of these texts that the model scores: all phrases, or only whole
    sentences."""
    forests = [text.gold.forest for text in texts]
    if model.head.reads == "nodes":
        return sum(int(forest.sizes.sum()) for forest in forests)
    return sum(len(forest.sizes) for forest in forests)


def text_losses(
    model: Model,
    batch: Minibatch,
    whole: Sequence[Example],
    training: TrainingConfig,
    initial: Model | None = None,
    *,
    neighbours: float = 0.0,
    penalty: float = 0.0,
) -> Losses:
    """The losses of the texts and of a parser, each summed, and the numbers of cases in each sum.
    The loss of a parser is 0 over 0 cases, because no parser learns from texts.

    The probabilities of a text are the mean of its sentences' probabilities, weighted by words, as
    in predictions. With `neighbours`, its target is the distribution of `near_classes`.

    With a `penalty`, each text adds that many times the mean of the divergence KL(initial || model)
    over the phrases of the `whole` minibatch. `batch` may be a part of that. `initial` is the model
    that learning started from.
    """
    inputs = model.inputs(batch.forest)
    logits = joint_of(model, inputs, training, track=False).logits
    roots = logits
    if model.head.reads == "nodes":
        ends = torch.from_numpy(batch.forest.sizes).cumsum(0) - 1
        roots = logits.index_select(0, ends.to(logits.device))
    text, shares = (
        torch.from_numpy(each).to(logits.device)
        for each in word_shares(batch.forest.lengths, batch.trees)
    )
    weighted = functional.softmax(roots, 1) * shares.to(roots.dtype).unsqueeze(1)
    means = roots.new_zeros([batch.size, roots.shape[1]]).index_add(0, text, weighted)
    targets = torch.from_numpy(batch.targets).to(logits.device)
    logs = means.clamp_min(torch.finfo(means.dtype).tiny).log()
    if neighbours > 0:
        loss = -(near_classes(targets, logs.shape[1], neighbours) * logs).sum()
    else:
        loss = model.head.loss(logs, targets)
    if initial is not None and penalty > 0:
        with torch.no_grad():
            wanted = functional.log_softmax(
                joint_of(initial, inputs, training, track=False).logits, 1
            )
        found = functional.log_softmax(logits, 1)
        divergence = functional.kl_div(found, wanted, reduction="sum", log_target=True)
        loss = loss + penalty * len(whole) * divergence / phrases_of(model, whole)
    return (loss, loss.new_zeros([])), (batch.size, 0)
