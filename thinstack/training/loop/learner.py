"""`Learner`, a model that is trained minibatch by minibatch, by the loop of recipes or by those of
other programs; its optimizers: for the model, its leaf table and its parser; and checkpoints,
without pickle, from which a killed run resumes."""

import copy
import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.optim import SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop, SparseAdam

from thinstack.bundle.weights import load_state, state_of
from thinstack.core.embedding import Embedding
from thinstack.core.model.model import Model
from thinstack.data.files.writing import write_atomically
from thinstack.errors import ConfigError, DataError
from thinstack.training.loop.initial import part_of
from thinstack.training.recipe import Part, TrainingConfig

SCHEMA: Final = "1"
"""The `schema_version` in the metadata of a checkpoint."""


@contextmanager
def process_settings() -> Iterator[None]:
    """Flush denormals, which slow the backward pass of long chains many times, and do not check
    sparse tensors."""
    checks: Any = torch.sparse.check_sparse_tensor_invariants  # unless it is set, torch warns
    torch.set_flush_denormal(True)
    try:
        with checks(False):
            yield
    finally:
        torch.set_flush_denormal(False)


class Learner:
    """A model in training, its optimizers, and the running average of its weights.

    `learn` accumulates the gradients of a loss, `step` updates the weights, and `update_average`
    updates the average. `frozen`: the parts of the model that are not trained. `keeps_start`:
    whether a loss compares the model with its initial weights.

    Attributes:
        model: trained in place, on its device.
        config: the settings of training.
        initial: a copy of the initial model with `keeps_start`, else None.
        average: a copy of the model with the running average.
        optimizers: those of `build_optimizers`.
    """

    def __init__(
        self,
        model: Model,
        config: TrainingConfig,
        *,
        frozen: Collection[Part] = (),
        keeps_start: bool = False,
    ):
        for name, weight in model.named_parameters():
            if part_of(name) in frozen:
                weight.requires_grad_(False)
        self.model, self.config = model, config
        self.initial = copy.deepcopy(model).eval() if keeps_start else None
        self.optimizers = build_optimizers(model, config)
        self.average = copy.deepcopy(model).eval()

    def learn(self, loss: Tensor) -> None:
        """Accumulate the gradients of a loss."""
        loss.backward()  # type: ignore[no-untyped-call]

    def step(self) -> None:
        """Update the weights with the gradients since the last step. `config.clip` limits the norm
        of the gradients of the weights that `config.rule` trains."""
        if self.config.clip is not None:
            groups = self.optimizers["model"].param_groups
            weights = [weight for group in groups for weight in group["params"]]
            nn.utils.clip_grad_norm_(weights, self.config.clip)
        for optimizer in self.optimizers.values():
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    @torch.no_grad()
    def update_average(self, weight: float) -> None:
        """Move the running average by this share (0 to 1) towards the weights."""
        for mean, value in zip(self.average.parameters(), self.model.parameters(), strict=True):
            mean.lerp_(value, weight)
        for buffer, current in zip(self.average.buffers(), self.model.buffers(), strict=True):
            buffer.copy_(current)


def build_optimizers(model: Model, config: TrainingConfig) -> dict[str, Optimizer]:
    """Build the optimizers of a model:

    - "model": for all weights except the leaf table and the parser's. Its rule is AdaGrad (Tai et
      al. 2015, 5.3), RMSProp (Bowman et al. 2016, 4.1), Adam with L2 (Teng & Zhang 2017, 6) or
      AdamW.
    - "parser": Adam, for the weights of a parser, if any.
    - "vectors": SGD, AdaGrad or Adam of the rows with a gradient, for the leaf table. The table is
      frozen if its learning rate is 0 or layers above it are frozen.

    Raises ConfigError for more `frozen_layers` than the leaf embedding has.
    """
    _freeze_layers(model.embedding, config.frozen_layers)
    table = model.embedding.table
    weights = {name: one for name, one in model.named_parameters() if one is not table}
    parser = [weights.pop(name) for name in [*weights] if part_of(name) == "parser"]
    rules = {"adagrad": Adagrad, "rmsprop": RMSprop, "adam": Adam, "adamw": AdamW}
    foreach: dict[str, Any] = {"foreach": True}
    # Adam has a fused kernel, which takes a sixth of the time on CPUs.
    fused = {"fused": True} if table.device.type in ("cpu", "cuda") else foreach
    options = fused if config.rule in ("adam", "adamw") else foreach
    optimizers = {"model": rules[config.rule](_groups(weights, model.embedding, config), **options)}
    if parser:
        optimizers["parser"] = Adam(parser, lr=config.parser_learning_rate, **fused)
    rate = config.vector_learning_rate
    if rate == 0 or config.frozen_layers > 0:
        table.requires_grad_(False)
    elif config.vector_rule == "adam":
        optimizers["vectors"] = SparseAdam([table], rate)
        optimizers["vectors"].register_step_pre_hook(lambda *_: _make_sparse(table))
    else:
        rule = SGD if config.vector_rule == "sgd" else Adagrad
        optimizers["vectors"] = rule([table], lr=rate, foreach=False)
    for optimizer in optimizers.values():
        for group in optimizer.param_groups:
            group["full_lr"] = group["lr"]
    return optimizers


def _freeze_layers(embedding: Embedding, frozen: int) -> None:
    """Freeze the lowest layers of a pretrained encoder and everything below them."""
    above = embedding.layers_above()
    layers = max(above.values(), default=0)
    if frozen > layers:
        raise ConfigError(
            f"training.frozen_layers: the leaf embedding {type(embedding).name} has {layers} "
            f"pretrained encoder layers, found {frozen}; freeze fewer, or omit it"
        )
    for name, count in above.items() if frozen else ():
        if count >= layers - frozen:
            embedding.get_parameter(name).requires_grad_(False)


def _groups(
    weights: Mapping[str, nn.Parameter], embedding: Embedding, config: TrainingConfig
) -> list[dict[str, Any]]:
    """Group weights by learning rate and weight decay. The rates of a pretrained encoder's layers
    decrease from the top (Howard & Ruder 2018, 3.2)."""
    above = {f"embedding.{name}": count for name, count in embedding.layers_above().items()}
    undecayed = {f"embedding.{name}" for name in embedding.undecayed}
    groups: dict[tuple[float, float], list[nn.Parameter]] = defaultdict(list)
    for name, weight in weights.items():
        rate, decay = config.learning_rate, config.weight_decay
        if name in above:
            rate = config.encoder_learning_rate * config.layer_decay ** above[name]
        if config.rule == "adamw" and (weight.dim() < 2 or name in undecayed):
            decay = 0.0
        groups[rate, decay].append(weight)
    return [
        {"params": group, "lr": rate, "weight_decay": decay}
        for (rate, decay), group in groups.items()
    ]


def _make_sparse(table: nn.Parameter) -> None:
    """Omit rows of zeros from the gradient (V, W), for `SparseAdam`."""
    if table.grad is not None:
        table.grad = table.grad.to_sparse(1)


def set_rates(optimizers: Mapping[str, Optimizer], config: TrainingConfig, epochs: float) -> None:
    """Set all learning rates to their values after this number of `epochs`, which may be a
    fraction.

    The parser's decreases linearly to 0 after the last epoch. `config.warm_up` and
    `config.rate_factor` determine the others.
    """
    done = epochs / config.epochs
    share = config.rate_factor ** math.floor(epochs / config.rate_epochs)
    if config.warm_up > 0:
        share *= min(done / config.warm_up, (1 - done) / (1 - config.warm_up))
    for name, optimizer in optimizers.items():
        for group in optimizer.param_groups:
            group["lr"] = group["full_lr"] * (1 - done if name == "parser" else share)


def optimizer_tensors(optimizers: Mapping[str, Optimizer]) -> dict[str, Tensor]:
    """Return the states of optimizers as {`NAME.optimizer/INDEX.KEY`: tensor}, for safetensors."""
    return {
        f"{name}.optimizer/{index}.{key}": torch.as_tensor(value)
        for name, optimizer in optimizers.items()
        for index, state in optimizer.state_dict()["state"].items()
        for key, value in state.items()
        if value is not None
    }


def load_optimizers(optimizers: Mapping[str, Optimizer], tensors: Mapping[str, Tensor]) -> None:
    """Restore the states that `optimizer_tensors` returned; `tensors` may contain others too.
    Raises KeyError or RuntimeError for the tensors of other optimizers."""
    for name, optimizer in optimizers.items():
        start = f"{name}.optimizer/"
        names = [full for full in tensors if full.startswith(start)]
        # Some optimizers have no state before their first step.
        if missing := {*names} ^ {*(optimizer_tensors({name: optimizer}) or names)}:
            raise KeyError(f"the optimizer's {min(missing)}")
        parameters = [weight for group in optimizer.param_groups for weight in group["params"]]
        state: dict[int, dict[str, Any]] = defaultdict(dict)
        for full in names:
            (index, key), value = full.removeprefix(start).split(".", 1), tensors[full]
            shape = parameters[int(index)].shape
            if value.dim() and value.shape != shape:
                sizes = f"size {list(value.shape)}, expected {list(shape)}"
                raise RuntimeError(f"{full} is of {sizes}")
            state[int(index)][key] = value.item() if value.dtype == torch.int64 else value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def save_checkpoint(
    path: Path,
    modules: Mapping[str, nn.Module],
    optimizers: Mapping[str, Optimizer],
    history: Sequence[Mapping[str, Any]],
) -> None:
    """Write the weights of `modules`, the states of the optimizers and the records of the epochs so
    far atomically into one file, with a digest of all of it. Raises OSError."""
    tensors = {
        f"{module}/{name}": value
        for module, part in modules.items()
        for name, value in state_of(part).items()
    }
    tensors |= optimizer_tensors(optimizers)
    whole = {key: value.detach().cpu().clone().contiguous() for key, value in tensors.items()}
    noted = {"state": json.dumps({"history": history}), "schema_version": SCHEMA}
    # Not `save_file`, which leaves a temporary file if it is killed.
    write_atomically(path, save(whole, noted | {"sha256": _digest(whole, noted)}))


def load_checkpoint(
    path: Path, modules: Mapping[str, nn.Module], optimizers: Mapping[str, Optimizer], seed: int
) -> list[dict[str, Any]]:
    """Load a checkpoint into `modules` and `optimizers`, and return the records of the finished
    epochs, or [] if there is no such file.

    Raises DataError if the file is damaged, or not a checkpoint of these modules and this seed.
    """
    if not path.exists():
        return []
    try:
        with safe_open(path, framework="pt") as file:
            noted = file.metadata()
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no dict
        if (schema := noted.get("schema_version")) != SCHEMA:
            raise ValueError(f"expected schema_version {SCHEMA}, found {schema!r:.20}")
        if noted["sha256"] != _digest(tensors, noted):
            raise ValueError("its SHA-256 has changed, so it is damaged")
        history: list[dict[str, Any]] = json.loads(noted["state"])["history"]
        if {record["seed"] for record in history} != {seed}:
            raise ValueError(f"expected records of seed {seed}, found none")
        for name, module in modules.items():
            split = ((key.partition("/"), value) for key, value in tensors.items())
            load_state(module, {key: value for (part, _, key), value in split if part == name})
        load_optimizers(optimizers, tensors)
    except (
        *(SafetensorError, OSError, RuntimeError, KeyError, TypeError, ValueError, AttributeError),
    ) as error:
        raise DataError(
            f"{path} is not a checkpoint of this recipe ({error}); delete it to start afresh"
        ) from None
    return history


def _digest(tensors: Mapping[str, Tensor], noted: Mapping[str, str]) -> str:
    """Return the SHA-256 of the state, and of the name, type, shape and bytes of every tensor."""
    digest = hashlib.sha256(noted["state"].encode())
    for name, value in sorted(tensors.items()):
        digest.update(f"\n{name} {value.dtype} {list(value.shape)}\n".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
