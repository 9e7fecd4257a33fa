"""The configuration of models and of training, as pydantic models that round-trip through JSON and
TOML."""

from thinstack.core.config.base import Strict as Strict
from thinstack.core.config.model_config import SCHEMA_VERSION as SCHEMA_VERSION
from thinstack.core.config.model_config import CellConfig as CellConfig
from thinstack.core.config.model_config import Device as Device
from thinstack.core.config.model_config import EmbeddingConfig as EmbeddingConfig
from thinstack.core.config.model_config import EvaluationSource as EvaluationSource
from thinstack.core.config.model_config import HeadConfig as HeadConfig
from thinstack.core.config.model_config import ModelConfig as ModelConfig
from thinstack.core.config.model_config import TreeKind as TreeKind
from thinstack.core.config.model_config import TreeSource as TreeSource
