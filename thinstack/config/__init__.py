"""The configuration of models and of training, as pydantic models that round-trip through JSON and
TOML."""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from thinstack.config.card_config import CardConfig
    from thinstack.config.data_config import DataConfig, Task
    from thinstack.config.recipe import ExportConfig, InitConfig, Recipe
    from thinstack.config.teacher_config import SourceWeights, TeacherConfig
    from thinstack.config.training_config import LabelChoice, TrainingConfig

__all__ = [
    "SCHEMA_VERSION",
    "CardConfig",
    "CellConfig",
    "DataConfig",
    "Device",
    "EmbeddingConfig",
    "EncoderConfig",
    "EvaluationSource",
    "ExportConfig",
    "HeadConfig",
    "InitConfig",
    "LabelChoice",
    "MadeTree",
    "ModelConfig",
    "ParserConfig",
    "Recipe",
    "SourceWeights",
    "Strict",
    "Task",
    "TeacherConfig",
    "TrackerConfig",
    "TrainingConfig",
    "TreeKind",
    "TreeSource",
]


def __getattr__(name: str) -> Any:
    """What only training needs, which whoever predicts does not wait for."""
    if name in __all__:
        from thinstack.config import (
            card_config,
            data_config,
            recipe,
            teacher_config,
            training_config,
        )

        modules = (card_config, data_config, recipe, teacher_config, training_config)
        return getattr(next(each for each in modules if name in each.__all__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
