"""Recipes: what is trained, on which data, and how."""

from thinstack.training.recipe.data_config import DataConfig
from thinstack.training.recipe.recipe import AnyTask, ExportConfig, InitConfig, Recipe
from thinstack.training.recipe.teacher_config import SourceWeights, TeacherConfig
from thinstack.training.recipe.training_config import LabelChoice, TrainingConfig

__all__ = [
    "AnyTask",
    "DataConfig",
    "ExportConfig",
    "InitConfig",
    "LabelChoice",
    "Recipe",
    "SourceWeights",
    "TeacherConfig",
    "TrainingConfig",
]
