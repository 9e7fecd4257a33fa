"""Computes losses in float32, or by torch's autocast in bfloat16. There, products and states have
half precision. Weights, their gradients, optimisers, losses and evaluation stay in float32."""

import time
from functools import cache
from timeit import Timer
from typing import Final

import torch
from torch import Tensor, nn

from thinstack.core.cell import Cell
from thinstack.core.fast import one_weight_gradient
from thinstack.core.model.model import Joint, Model
from thinstack.errors import ConfigError
from thinstack.training.recipe import TrainingConfig

ROUNDS: Final = 3
PAYS: Final = 0.9
"""A CPU is faster in bfloat16 if a step takes at most so many times its time in float32."""
TOKENS, WIDTH, INSIDE = 256, 384, 1536  # of the step that is timed: half a layer of MiniLM
LOWER: Final = "with torch.autocast('cpu', torch.bfloat16): loss = net(rows).sum()"
STEPS: Final = ("net(rows).sum().backward()", f"{LOWER}\nloss.backward()")


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
    return any(name.endswith("bf16") and there for name, there in flags)


def faster_in_bf16(device: torch.device) -> bool:
    """Whether a device is faster in bfloat16 than in float32: a GPU that computes in it, or a CPU
    that does and takes less time for a step. A process times its CPU once."""
    return has_bf16(device) and (device.type == "cuda" or _pays_on_cpu())


@cache
def _pays_on_cpu() -> bool:
    """Whether a feed-forward net of a transformer's layer, with its backward pass, takes less
    processor time in bfloat16.

    The flags of a CPU do not tell it. With AVX512_BF16 but no AMX, a layer takes half of the time
    on some, and 1.4 times as long on others.
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
