"""Recipes: what is trained, on which data, and how."""

from thinstack.training.recipe.data_config import DataConfig
from thinstack.training.recipe.recipe import ExportConfig, InitConfig, Recipe
from thinstack.training.recipe.teacher_config import TeacherConfig
from thinstack.training.recipe.training_config import TrainingConfig

__all__ = ["DataConfig", "ExportConfig", "InitConfig", "Recipe", "TeacherConfig", "TrainingConfig"]
