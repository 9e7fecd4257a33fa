"""The weights of a pretrained encoder, by the names that they have in transformers and here."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from torch import Tensor

from thinstack.plugins.embeddings.transformer.layers import ModelType

__all__ = ["NAMINGS", "TABLE", "encoder_weights"]

TABLE: Final = "embeddings.word_embeddings.weight"
POSITION: Final = "embeddings.position_embeddings.weight"
OWN: Final = "embedding.encoder."
"""What the names of the weights begin with in a model."""


class Naming(NamedTuple):
    """What transformers calls the weights of one kind of encoder.

    Attributes:
        products: a layer's matrices, to our names.
        norms: a layer's norms, to our names.
        first_position: the row that belongs to the first place of a sentence.
        first_type: what is added to every position, if anything is.
        relative: the biases of distances, if there are any.
    """

    products: Mapping[str, str]
    norms: Mapping[str, str]
    first_position: int = 0
    first_type: str | None = None
    relative: str | None = None


_FEED_FORWARD: Final = {"intermediate.dense": "wider", "output.dense": "narrower"}
NAMINGS: Final[Mapping[ModelType, Naming]] = {
    "bert": Naming(
        products={
            "attention.self.query": "query",
            "attention.self.key": "key",
            "attention.self.value": "value",
            "attention.output.dense": "mix",
            **_FEED_FORWARD,
        },
        norms={"attention.output.LayerNorm": "attended", "output.LayerNorm": "transformed"},
        first_type="embeddings.token_type_embeddings.weight",
    ),
    "mpnet": Naming(
        products={
            "attention.attn.q": "query",
            "attention.attn.k": "key",
            "attention.attn.v": "value",
            "attention.attn.o": "mix",
            **_FEED_FORWARD,
        },
        norms={"attention.LayerNorm": "attended", "output.LayerNorm": "transformed"},
        first_position=2,  # behind those of padding
        relative="encoder.relative_attention_bias.weight",
    ),
}


def encoder_weights(
    state: Mapping[str, Tensor], model_type: ModelType, layers: int, feed_forward: int
) -> dict[str, Tensor]:
    """The weights of the lowest `layers`, by their names in a model, with the `feed_forward` units
    of each that weigh most. The matrices of transformers are (out, in), ours (in, out)."""
    naming = NAMINGS[model_type]
    position = state[POSITION][naming.first_position :]
    if naming.first_type is not None:
        position = position + state[naming.first_type][0]
    weights = {f"{OWN}position": position}
    if naming.relative is not None:
        weights[f"{OWN}relative.weight"] = state[naming.relative]
    for part in ("weight", "bias"):
        weights[f"{OWN}norm.{part}"] = state[f"embeddings.LayerNorm.{part}"]
    for number in range(layers):
        theirs, ours = f"encoder.layer.{number}.", f"{OWN}layers.{number}."
        for name, product in naming.products.items():
            weights[f"{ours}{product}.w"] = state[f"{theirs}{name}.weight"].t()
            weights[f"{ours}{product}.b"] = state[f"{theirs}{name}.bias"]
        _narrow(weights, ours, feed_forward)
        for name, norm in naming.norms.items():
            for part in ("weight", "bias"):
                weights[f"{ours}{norm}.{part}"] = state[f"{theirs}{name}.{part}"]
    return {name: value.contiguous().clone() for name, value in weights.items()}


def _narrow(weights: dict[str, Tensor], layer: str, feed_forward: int) -> None:
    """Keep the units of a layer's feed-forward part that weigh most: by the length of what goes
    into a unit, times that of what comes from it."""
    into, bias, back = (f"{layer}{name}" for name in ("wider.w", "wider.b", "narrower.w"))
    if feed_forward == len(weights[bias]):
        return
    weight = weights[into].float().norm(dim=0) * weights[back].float().norm(dim=1)
    units = weight.topk(feed_forward).indices.sort().values
    weights[into], weights[bias] = weights[into][:, units], weights[bias][units]
    weights[back] = weights[back][units]
