"""Build a model from its configuration through the registered plugins."""

from thinstack.config import ModelConfig
from thinstack.core.cell import Cell
from thinstack.errors import ConfigError
from thinstack.models.embedding import WordEmbedding, WordpieceEmbedding
from thinstack.models.tree_model import TreeModel, WordModel, WordpieceModel
from thinstack.plugins.manager import manager

__all__ = ["build_model", "misfit"]


def build_model(config: ModelConfig, *, entries: int) -> TreeModel:
    """A model with fresh weights; `entries` is the number of rows of its leaf table.

    Raises UnknownNameError for a cell or task head that is not registered, ConfigError for options it does not take,
    or that make a cell for other than binary trees.
    """
    cell = (
        manager()
        .cell(config.cell.name)
        .create(config.cell.options, input_size=config.embedding.size, hidden_size=config.cell.hidden_size)
    )
    if problem := misfit(cell):
        raise ConfigError(f"model.cell: {problem}")
    head = (
        manager().head(config.head.name).create(config.head.options, hidden_size=cell.hidden_size, classes=len(config.labels))
    )
    size, dropout = config.embedding.size, config.embedding.dropout
    if config.embedding.kind == "words":
        return WordModel(embedding=WordEmbedding(entries=entries, size=size, dropout=dropout), cell=cell, head=head)
    return WordpieceModel(embedding=WordpieceEmbedding(entries=entries, size=size, dropout=dropout), cell=cell, head=head)


def misfit(cell: Cell) -> str:
    """Why a cell cannot be that of a model of binary trees; empty where it can."""
    if cell.arity in (0, 2) and cell.inner_size == 0:
        return ""
    return (
        f"{type(cell).__name__} has arity {cell.arity} and inner_size {cell.inner_size}; "
        "a model of binary trees needs arity 2 (or 0, any number) and inner_size 0"
    )
