"""Building a model from its configuration, with registered plugins."""

from functools import partial
from typing import Any

import torch

from thinstack.core.cell import Cell, described, misfit
from thinstack.core.config import CellConfig, EmbeddingConfig, HeadConfig, ModelConfig, TreeKind
from thinstack.core.embedding import Embedding
from thinstack.core.encoder import Encoder, Structure
from thinstack.core.forest import WORD_FIELDS
from thinstack.core.head import TaskHead
from thinstack.core.model.model import Model
from thinstack.core.model.parsing_encoder import ParsingEncoder
from thinstack.core.model.tree_encoder import Layer, TreeEncoder
from thinstack.core.scale import set_matrix
from thinstack.errors import ConfigError, PluginError
from thinstack.plugins.manager import manager

FORMS: dict[TreeKind, tuple[Structure, bool]] = {
    "binary": ("transitions", True),
    "constituency": ("parents", True),
    "dependency": ("parents", False),
    "sequence": ("lengths", False),
}
"""The structure of each kind of trees, and whether only leaves have words."""


def build_model(config: ModelConfig, *, entries: int) -> Model:
    """Build a model with new weights. `entries` is the number of rows of its leaf table.

    Raises UnknownNameError for a cell, encoder, task head or embedding that is not registered.
    Raises ConfigError for unknown options of a plugin, for a cell, encoder or head that does not
    match the model's trees, and for an embedding that does not match the vocabulary.
    """
    encoder = _encoder(config)
    _check_heads(config)
    head = _head(config, config.head, encoder)
    vectors = None if config.vectors is None else _head(config, config.vectors, encoder)
    if vectors is not None:
        if head.reads not in ("nodes", "pairs"):
            raise ConfigError(
                "model.vectors needs a model.head that reads nodes or pairs; "
                f"{config.head.name} reads {head.reads}"
            )
        if head.reads == "pairs":
            head = _head(config, config.head, encoder, vectors.classes)
    embedding = _embedding(config.embedding, entries)
    model = Model(embedding=embedding, encoder=encoder, head=head, vectors=vectors)
    if config.class_sets:
        sets = set_matrix(config.labels, config.class_sets, config.class_weights)
        model.class_sets = torch.from_numpy(sets)
    return model


def _encoder(config: ModelConfig) -> Encoder:
    """Build the registered encoder of a model, or layers of its cell, with its parser if any."""
    registered = config.encoder.registered
    encoder = _registered(config, *registered) if registered else _tree_encoder(config)
    if config.parser is None:
        return encoder
    spec = manager().find("parser", config.parser.name)
    parser = spec.create(config.parser.options, input_size=config.embedding.size)
    return ParsingEncoder(encoder, parser, joins=config.aggregation == "tree")


def _registered(config: ModelConfig, name: str, options: dict[str, Any]) -> Encoder:
    spec, kinds = manager().find("encoder", name), 1 + len(config.relations)
    structure, words_at_leaves = FORMS[config.trees]
    encoder: Encoder = spec.create(
        options,
        input_size=config.embedding.size,
        hidden_size=config.cell.hidden_size,
        structure=structure,
        words_at_leaves=words_at_leaves,
        kinds=kinds,
        cell=partial(_create, config.cell, kinds=kinds),
    )
    expected = (structure, words_at_leaves, config.parses and config.parser is None)
    if (actual := (encoder.structure, encoder.words_at_leaves, encoder.parses)) != expected:
        raise ConfigError(
            f"model.encoder: {name} does not read trees = {config.trees!r}: expected structure, "
            f"words_at_leaves and parses {expected}, found {actual}"
        )
    return encoder


def _head(
    config: ModelConfig, chosen: HeadConfig, encoder: Encoder, width: int | None = None
) -> TaskHead:
    """Build a head over rows of this `width`, by default over the outputs of an encoder."""
    spec = manager().find("head", chosen.name)
    head: TaskHead = spec.create(
        chosen.options,
        hidden_size=width or encoder.hidden_size,
        word_size=encoder.word_size,
        classes=len(config.labels),
    )
    if head.reads == "candidates":
        where = f"model.head: {chosen.name} ranks"
        if config.trees != "binary":
            raise ConfigError(f"{where} binary trees; set trees = 'binary', not {config.trees!r}")
        if not encoder.ranks:
            name = type(encoder).__name__
            raise ConfigError(f"{where} trees, which {name} does not read; use another encoder")
    return head


def _check_heads(config: ModelConfig) -> None:
    """Raise ConfigError unless only a head of scores has labels, and one head gives vectors."""
    head: type[TaskHead] = manager().find("head", config.head.name).plugin
    if (head.gives == "scores") != bool(config.labels):
        labels = ", ".join(config.labels) or "none"
        raise ConfigError(
            "model.labels: a head that returns scores needs labels, and one that returns "
            f"vectors must have none; found {config.head.name} and the labels {labels:.200}"
        )
    if config.vectors is None:
        return
    vectors: type[TaskHead] = manager().find("head", config.vectors.name).plugin
    if (vectors.gives, head.gives) != ("vectors", "scores"):
        raise ConfigError(
            "model.vectors: expected a head that returns vectors, such as vector.v1, and a "
            f"model.head that returns scores; found {config.vectors.name} with "
            f"{config.head.name}"
        )


def _embedding(config: EmbeddingConfig, entries: int) -> Embedding:
    spec = manager().find("embedding", config.registered)
    vocabulary = spec.plugin.vocabulary
    if vocabulary != config.kind:
        raise ConfigError(
            f"model.embedding: {spec.name} needs kind = {vocabulary!r}, found {config.kind!r}"
        )
    if config.dropout > 0 and not spec.takes("dropout"):
        raise ConfigError(
            f"embedding {spec.name!r} does not support dropout = {config.dropout}: omit it"
        )
    sizes = {"entries": entries, "size": config.size}
    embedding: Embedding = spec.create(config.options, dropout=config.dropout, **sizes)
    names = [*WORD_FIELDS[vocabulary], *(["lengths"] if "lengths" in embedding.index_names else [])]
    expected = {"index_names": names, **sizes}
    actual = {name: getattr(embedding, name) for name in expected}
    if actual != expected:
        raise PluginError(f"embedding {spec.name!r} must have {expected}, found {actual}")
    return embedding


def _tree_encoder(config: ModelConfig) -> TreeEncoder:
    structure, words_at_leaves = FORMS[config.trees]
    size, encoder, kinds = config.embedding.size, config.encoder, 1 + len(config.relations)
    inner_size = down_size = 0 if words_at_leaves else size
    layers: list[Layer] = []
    for _ in range(encoder.layers):
        cell = _create(config.cell, size, inner_size, kinds=kinds)
        if problem := misfit(cell, config.trees, inner_size, layer=len(layers) + 1):
            raise ConfigError(f"model.cell: {problem}")
        if config.relations and cell.kinds < kinds:
            remedy = "omit relations, or use sdt_rnn.v1"
            raise ConfigError(
                f"model.relations: {config.cell.name} does not distinguish relations; {remedy}"
            )
        layers.append(Layer(cell, _top_down(config, cell, down_size)))
        size = inner_size = cell.hidden_size if encoder.separate else layers[-1].size
        down_size = layers[-1].size - cell.hidden_size if encoder.separate else size
    return TreeEncoder(
        layers,
        structure=structure,
        words_at_leaves=words_at_leaves,
        separate=encoder.separate,
        readout=encoder.readout,
    )


def _create(config: CellConfig, input_size: int, inner_size: int = 0, *, kinds: int = 1) -> Cell:
    sizes = {"input_size": input_size, "inner_size": inner_size, "hidden_size": config.hidden_size}
    cell: Cell = manager().find("cell", config.name).create(config.options, **sizes, kinds=kinds)
    return cell


def _top_down(config: ModelConfig, up: Cell, input_size: int) -> Cell | None:
    """Build the cell of the top-down pass, or return None. `input_size`: the width of its separate
    input, 0 for none. Raises ConfigError if it does not match `up`."""
    wanted = config.encoder.top_down
    if wanted is None:
        return None
    if up.word_part < 0 and input_size == 0:
        raise ConfigError(
            f"model.encoder.top_down needs a word at every node, and {config.cell.name} "
            "passes none up these trees; use a cell with head words (lexicalized_lstm.v1), or "
            "dependency trees"
        )
    if wanted == "shared" and up.kinds > 1:
        raise ConfigError(
            f"model.encoder.top_down: {config.cell.name} distinguishes edge types, which a "
            "top-down pass does not read; use another cell"
        )
    size = up.state_sizes[up.word_part] if up.word_part >= 0 else input_size
    sides = 2 if config.trees == "binary" else max(1, up.arity)
    down = up if wanted == "shared" else _create(wanted, size, size, kinds=sides)
    if down.arity > 1 or (down.input_size, down.inner_size) != (size, size):
        raise ConfigError(
            f"model.encoder.top_down: {described(down)}; a top-down cell has one predecessor "
            f"(arity 1, or 0, any number) and an input of width {size} at every node"
        )
    return down
