"""Names to import if you write a plugin. Base classes of modules, such as `Cell`, require torch."""

from typing import TYPE_CHECKING

from thinstack._lazy import lazy
from thinstack.plugins.kinds import hookimpl
from thinstack.plugins.reader import Reader

if TYPE_CHECKING:
    from thinstack.core.cell import Cell, Links, matrix, sum_by_owner, vector
    from thinstack.core.config import ModelConfig
    from thinstack.core.embedding import Embedding, Lookup
    from thinstack.core.encoder import Encoder, Encoding, Judgement, Structure, plain_encoding
    from thinstack.core.forest import Forest
    from thinstack.core.head import Reads, TaskHead
    from thinstack.core.model.model import Model
    from thinstack.core.parser import Parser
    from thinstack.core.stack_schedule import schedule_stack, timetable
    from thinstack.plugins.build import build_model
    from thinstack.training.lesson import LabelledTree, Lesson, Treebank
    from thinstack.training.task import Task
else:
    __getattr__ = lazy(
        __name__,
        {
            "core.cell": "Cell Links matrix sum_by_owner vector",
            "core.config": "ModelConfig",
            "core.embedding": "Embedding Lookup",
            "core.encoder": "Encoder Encoding Judgement Structure plain_encoding",
            "core.forest": "Forest",
            "core.head": "Reads TaskHead",
            "core.model.model": "Model",
            "core.parser": "Parser",
            "core.stack_schedule": "schedule_stack timetable",
            "plugins.build": "build_model",
            "training.lesson": "LabelledTree Lesson Treebank",
            "training.task": "Task",
        },
    )

__all__ = [
    "Cell",
    "Embedding",
    "Encoder",
    "Encoding",
    "Forest",
    "Judgement",
    "LabelledTree",
    "Lesson",
    "Links",
    "Lookup",
    "Model",
    "ModelConfig",
    "Parser",
    "Reader",
    "Reads",
    "Structure",
    "Task",
    "TaskHead",
    "Treebank",
    "build_model",
    "hookimpl",
    "matrix",
    "plain_encoding",
    "schedule_stack",
    "sum_by_owner",
    "timetable",
    "vector",
]
