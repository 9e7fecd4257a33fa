"""The configuration of models, as pydantic models that round-trip through JSON and TOML."""

from thinstack.core.config.base import Strict
from thinstack.core.config.encoder_config import CellConfig, EncoderConfig, TrackerConfig
from thinstack.core.config.model_config import (
    NEWER_SCHEMA,
    SCHEMA_VERSION,
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
    "NEWER_SCHEMA",
    "SCHEMA_VERSION",
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
