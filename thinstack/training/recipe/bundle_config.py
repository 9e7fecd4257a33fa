"""What a recipe says of its bundle: how the model is exported, and the head of the card."""

from typing import Literal

from pydantic import Field

from thinstack.core.config.base import Strict


class ExportConfig(Strict):
    """How the trained model is exported."""

    inference_only: bool = Field(
        default=False,
        description="Leave out of the bundle the TorchScript file, and of the torch weights those "
        "that the ONNX file holds.",
    )
    quantize: Literal["none", "fp16", "int8-tables", "int8"] = Field(
        default="none",
        description='How the ONNX file stores weights. "int8-tables": 8 bits with a scale a row '
        "for the leaf table (fp16 if the embedding does more than look words up), fp16 for "
        'matrices. "int8": 8 bits for matrices too, with a scale a column, and products computed '
        "in 8 bits.",
    )
    index_type: Literal["int32", "int64"] = Field(
        default="int32",
        description="Type of the index inputs of the ONNX file; JavaScript needs int32.",
    )
    gpu: bool = Field(
        default=False,
        description="Add a file for GPUs to the bundle. It has no weights that the ONNX file has; "
        "where it is missing, a GPU runs the ONNX file, with more copies.",
    )
    calibrate: bool = Field(
        default=True,
        description="Fit a temperature on the development data and divide the weights of the "
        "head's last layer by it, so that scores are nearer to shares of right answers; which "
        "class is the most probable stays. Not of relatedness, nor of fewer than 50 cases.",
    )


class CardConfig(Strict):
    """The fields at the top of the card, as the Hugging Face hub has them. A field that is left out
    is not written. All other fields come from the model and its figures."""

    language: tuple[str, ...] = Field(
        default=(), description='Languages of the texts by their codes, such as ["en"].'
    )
    license: str | None = Field(
        default=None,
        description='Licence of the weights, as the hub calls it: "mit", "apache-2.0", "other".',
    )
    base_model: str | None = Field(
        default=None,
        description='The model of the hub that the weights come from, such as "user/name".',
    )
    dataset: str | None = Field(
        default=None,
        description="The name on the hub of the data that is reported on. By default its file's.",
    )
    tags: tuple[str, ...] = Field(
        default=(), description="Tags beside those of every bundle (thinstack, onnx)."
    )
