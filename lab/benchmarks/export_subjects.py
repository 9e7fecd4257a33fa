"""What the benchmark of exports exports: the bundled model, and one of every cell, kind of trees,
encoder and task head."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from learning_subjects import Subject, all_subjects

from thinstack.bundle import open_bundle
from thinstack.bundle.manifest import VOCABULARY_FILE
from thinstack.bundle.weights import load_model
from thinstack.core.config import ModelConfig
from thinstack.core.model.model import Model
from thinstack.plugins.build import build_model

ENTRIES, BUNDLED = 200, "sentiment"


@dataclass(frozen=True)
class Exportable:
    """A model, and the content of the vocabulary that its bundle holds."""

    name: str
    model: Model
    config: ModelConfig
    vocabulary: bytes


def exportables(only: str, hidden: int | None, every: bool) -> Iterator[Exportable]:
    """Those whose name holds `only`: the bundled model, and small ones, or `hidden` wide, with
    fresh weights.

    Of models that differ in the options of their parts alone there is the first, or `every` one.
    """
    name = f"bundled: {BUNDLED}"
    if only in name:
        bundle = open_bundle(BUNDLED)
        yield Exportable(name, load_model(bundle), bundle.config, bundle.read(VOCABULARY_FILE))
    vocabulary = "".join(f"word{number}\n" for number in range(1, ENTRIES)).encode()
    done = set()
    for subject in all_subjects():
        if only not in subject.title or (not every and _kind(subject) in done):
            continue
        done.add(_kind(subject))
        config = _config(subject, hidden)
        torch.manual_seed(0)
        model = build_model(config, entries=ENTRIES)
        with torch.no_grad():
            for weight in model.parameters():
                if weight.dim() == 1:  # biases start at zero
                    weight.normal_(std=0.1)
        yield Exportable(subject.title, model.eval(), config, vocabulary)


def _kind(subject: Subject) -> str:
    config = subject.config
    return f"{config.cell.name} {config.trees} {config.encoder} {config.head.name}"


def _config(subject: Subject, hidden: int | None) -> ModelConfig:
    """Its configuration, with names for the relations that its cell tells apart, and all cells
    `hidden` wide if given."""
    raw = subject.config.model_dump(mode="json")
    raw["relations"] = [f"relation{number}" for number in range(1, subject.relations + 1)]
    if hidden is not None:
        old = raw["cell"]["hidden_size"]
        # Some cells have words as wide as their states, or four times that.
        factor = {old: 1, 4 * old: 4}.get(raw["embedding"]["size"])
        raw["embedding"]["size"] = factor * hidden if factor else raw["embedding"]["size"]
        raw["cell"]["hidden_size"] = hidden
        if isinstance(down := raw["encoder"]["top_down"], dict):
            down["hidden_size"] = hidden
    return ModelConfig.parse(raw, source=subject.title)
