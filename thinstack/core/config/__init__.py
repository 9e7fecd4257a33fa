"""The configuration of models, as pydantic models that round-trip through JSON and TOML."""

from thinstack.core.config.base import Strict
from thinstack.core.config.encoder_config import CellConfig, EncoderConfig, TrackerConfig
from thinstack.core.config.model_config import (
    SCHEMA_VERSION,
    Aggregation,
    Device,
    EmbeddingConfig,
    EvaluationSource,
    HeadConfig,
    MadeTree,
    ModelConfig,
    ParserConfig,
    TreeKind,
    TreeSource,
)

__all__ = [
    "SCHEMA_VERSION",
    "Aggregation",
    "CellConfig",
    "Device",
    "EmbeddingConfig",
    "EncoderConfig",
    "EvaluationSource",
    "HeadConfig",
    "MadeTree",
    "ModelConfig",
    "ParserConfig",
    "Strict",
    "TrackerConfig",
    "TreeKind",
    "TreeSource",
]
