"""Recipes: what is trained, on which data, and how."""

from thinstack.training.recipe.recipe import (
    DataConfig,
    ExportConfig,
    InitConfig,
    Recipe,
    TeacherConfig,
)
from thinstack.training.recipe.training_config import TrainingConfig

__all__ = ["DataConfig", "ExportConfig", "InitConfig", "Recipe", "TeacherConfig", "TrainingConfig"]
