"""What describes a model and how to train it: pydantic models that round-trip through JSON and
TOML."""

from thinstack.config.base import Strict
from thinstack.config.model_config import (
    SCHEMA_VERSION,
    CellConfig,
    Device,
    EmbeddingConfig,
    EncoderConfig,
    EvaluationSource,
    HeadConfig,
    MadeTree,
    ModelConfig,
    ParserConfig,
    TrackerConfig,
    TreeKind,
    TreeSource,
)
from thinstack.config.recipe import DataConfig, ExportConfig, Recipe, Task, TrainingConfig

__all__ = [
    "SCHEMA_VERSION",
    "CellConfig",
    "DataConfig",
    "Device",
    "EmbeddingConfig",
    "EncoderConfig",
    "EvaluationSource",
    "ExportConfig",
    "HeadConfig",
    "MadeTree",
    "ModelConfig",
    "ParserConfig",
    "Recipe",
    "Strict",
    "Task",
    "TrackerConfig",
    "TrainingConfig",
    "TreeKind",
    "TreeSource",
]
