"""Reading a pretrained encoder with the transformers library, for `transformer.v1`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import Tensor

from thinstack.core.embedding import Leaves, Vectors
from thinstack.data.files.pretrained_models import hub_answers, loading, variant_of
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError, needs_extra
from thinstack.plugins.embeddings.transformer.layers import BUCKETS, EPSILON, ModelType

TABLE: Final = "embeddings.word_embeddings.weight"
POSITION: Final = "embeddings.position_embeddings.weight"
OWN: Final = "embedding.encoder."
"""Prefix of the weights' names in a model."""


class Naming(NamedTuple):
    """The names of the weights of one kind of encoder in transformers."""

    attention: tuple[str, ...]  # a layer's first four `PRODUCTS`
    norm: str  # of attention
    assumed: Mapping[str, Any]  # by `config.json`; other values would silently yield other vectors
    first_position: int = 0  # the row of the first position of a sentence
    first_type: str | None = None  # vectors of token types; positions include the first
    relative: str | None = None  # biases by distance


PRODUCTS: Final = ("query", "key", "value", "mix", "wider", "narrower")
"""The matrices of a layer of ours."""
NAMINGS: Final[Mapping[ModelType, Naming]] = {
    "bert": Naming(
        attention=("self.query", "self.key", "self.value", "output.dense"),
        norm="output.LayerNorm",
        assumed={"position_embedding_type": "absolute", "layer_norm_eps": EPSILON["bert"]},
        first_type="embeddings.token_type_embeddings.weight",
    ),
    "mpnet": Naming(
        attention=("attn.q", "attn.k", "attn.v", "attn.o"),
        norm="LayerNorm",
        assumed={"relative_attention_num_buckets": BUCKETS, "layer_norm_eps": EPSILON["mpnet"]},
        first_position=2,  # after those of padding
        relative="encoder.relative_attention_bias.weight",
    ),
}
PROBES: Final = (
    *("Good", "wasn't", "über-GOOD", "naïve", "1,000.50"),
    *("中文", "don’t", "[x]", "a\u0301"),
)
"""Words whose pieces distinguish an uncased WordPiece tokenizer from others."""
EXPECTED: Final = "data.encoder: expected config.json, a tokenizer and weights"
TOKENIZERS: Final = ("tokenizer.json", "vocab.txt")
"""Files of a tokenizer, of which one is required."""


def leaves(
    name: str, data: Path, *, size: int, options: Mapping[str, Any], vectors: Vectors | None
) -> Leaves:
    """Return the vocabulary and weights of an encoder for a `transformer.v1` of this size and these
    options. `name` is a folder in `data`, or an encoder on the hub; `vectors` fill the static
    columns.

    Raises DataError if the encoder or one of its files is missing. Raises ConfigError unless it is
    a BERT or MPNet with an uncased WordPiece tokenizer and the sizes of the embedding, and for
    vectors of other pieces. Raises MissingExtraError without transformers (extra `transformers`).
    """
    with needs_extra("transformers"):
        import transformers
    folder = data / name
    with loading(transformers, EXPECTED, name, folder, SafetensorError):
        config, tokenizer, whole = _loaded(transformers, name, folder)
    _check_sizes(name, size, options, config, tokenizer)
    vocabulary = _vocabulary(name, tokenizer)
    state = whole.state_dict()
    table = state[TABLE].numpy()
    if len(table) != len(vocabulary):
        raise ConfigError(
            f"data.encoder: {name} has vectors for {len(table)} pieces, but its tokenizer has "
            f"{len(vocabulary)}; use the weights and the tokenizer of the same encoder"
        )
    weights = encoder_weights(
        state, *(options[field] for field in ("model_type", "layers", "feed_forward"))
    )
    if options["static"] and vectors is not None:
        weights["embedding.static"] = _static(name, vocabulary, *vectors(options["static"]))
    return Leaves(vocabulary, table, weights)


def _static(
    name: str,
    vocabulary: WordpieceVocabulary,
    pieces: tuple[str, ...],
    vectors: NDArray[np.float32],
) -> Tensor:
    """Return the static columns (V, static), from vectors of the encoder's pieces."""
    if pieces != vocabulary.entries:
        raise ConfigError(
            f"data.vectors: expected vectors for the pieces of {name}, in the same order; "
            "choose another file, or omit vectors and the embedding's option static"
        )
    return torch.from_numpy(np.array(vectors, np.float32))


def _loaded(transformers: Any, name: str, folder: Path) -> tuple[Any, Any, Any]:
    there = folder.is_dir()
    source, near = str(folder) if there else name, there or not hub_answers()
    config = transformers.AutoConfig.from_pretrained(source, local_files_only=near)
    _check_kind(name, config)
    if there and not any((folder / file).is_file() for file in TOKENIZERS):
        raise OSError(f"it contains neither {' nor '.join(TOKENIZERS)}")
    tokenizer = transformers.AutoTokenizer.from_pretrained(source, local_files_only=near)
    model, read = transformers.AutoModel.from_pretrained(
        source,
        config=config,
        variant=variant_of(folder),
        dtype=torch.float32,
        output_loading_info=True,
        local_files_only=near,
    )
    # Otherwise transformers would initialize missing weights randomly.
    if lacking := sorted(field for field in read["missing_keys"] if "pooler" not in field):
        raise OSError(f"{len(lacking)} weights are missing, such as {lacking[0]}")
    return config, tokenizer, model


def _check_kind(name: str, config: Any) -> None:
    kind, activation = config.model_type, getattr(config, "hidden_act", "another activation")
    decoder = " decoder" if getattr(config, "is_decoder", False) else ""
    if kind not in NAMINGS or activation != "gelu" or decoder:
        raise ConfigError(
            f"data.encoder: expected BERT or MPNet with GELU; {name} is a "
            f"{kind}{decoder} with {activation}; use another encoder"
        )
    for field, expected in NAMINGS[kind].assumed.items():
        if (value := getattr(config, field, expected)) != expected:
            raise ConfigError(
                f"data.encoder: expected {field} = {expected} in the config.json of {name}, "
                f"found {value}; use another encoder"
            )


def _check_sizes(
    name: str, size: int, options: Mapping[str, Any], config: Any, tokenizer: Any
) -> None:
    expected = {
        "model_type": config.model_type,
        "size": config.hidden_size * (1 + options["rows"]) + options["static"],
        "heads": config.num_attention_heads,
        "feed_forward": config.intermediate_size,
        "positions": config.max_position_embeddings - NAMINGS[config.model_type].first_position,
        "first": tokenizer.cls_token_id,
        "last": tokenizer.sep_token_id,
    }
    if options["narrowed"]:
        expected["feed_forward"] = min(options["feed_forward"], config.intermediate_size)
    actual = {"size": size} | {field: options[field] for field in expected if field != "size"}
    if wrong := [field for field in expected if expected[field] != actual[field]]:
        write, read = (
            ", ".join(f"{field} = {json.dumps(values[field])}" for field in wrong)
            for values in (expected, actual)
        )
        raise ConfigError(
            f"model.embedding: for {name}, set {write} (size next to kind, the rest in "
            f"options); found {read}"
        )
    if options["layers"] > config.num_hidden_layers:
        raise ConfigError(
            f"model.embedding.options: {name} has {config.num_hidden_layers} layers, found "
            f"layers = {options['layers']}; reduce layers"
        )


def _vocabulary(name: str, tokenizer: Any) -> WordpieceVocabulary:
    ids = tokenizer.get_vocab()
    vocabulary = WordpieceVocabulary(sorted(ids, key=ids.__getitem__))
    for word in PROBES:
        expected = tokenizer(word, add_special_tokens=False)["input_ids"]
        if list(vocabulary.pieces_of(word)) != expected:
            pieces = tokenizer.convert_ids_to_tokens(expected)
            raise ConfigError(
                "data.encoder: expected an uncased WordPiece tokenizer; the tokenizer of "
                f"{name} splits {word!r} into {pieces}; use an uncased encoder"
            )
    return vocabulary


def encoder_weights(
    state: Mapping[str, Tensor], model_type: ModelType, layers: int, feed_forward: int
) -> dict[str, Tensor]:
    """Return the weights of the lowest `layers` by their names in a model, each layer with its
    `feed_forward` largest units. Matrices are (out, in) in transformers, and (in, out) here."""
    naming = NAMINGS[model_type]
    position = state[POSITION][naming.first_position :]
    if naming.first_type is not None:
        position = position + state[naming.first_type][0]
    weights = {f"{OWN}position": position}
    if naming.relative is not None:
        weights[f"{OWN}relative.weight"] = state[naming.relative]
    names = [f"attention.{name}" for name in naming.attention]
    names += ["intermediate.dense", "output.dense"]
    norms = {f"{OWN}norm": "embeddings.LayerNorm"}
    for number in range(layers):
        theirs, ours = f"encoder.layer.{number}.", f"{OWN}layers.{number}."
        for name, product in zip(names, PRODUCTS, strict=True):
            weights[f"{ours}{product}.w"] = state[f"{theirs}{name}.weight"].t()
            weights[f"{ours}{product}.b"] = state[f"{theirs}{name}.bias"]
        _narrow(weights, ours, feed_forward)
        norms[f"{ours}attended"] = f"{theirs}attention.{naming.norm}"
        norms[f"{ours}transformed"] = f"{theirs}output.LayerNorm"
    for norm, name in norms.items():
        for part in ("weight", "bias"):
            weights[f"{norm}.{part}"] = state[f"{name}.{part}"]
    return {name: value.contiguous().clone() for name, value in weights.items()}


def _narrow(weights: dict[str, Tensor], layer: str, feed_forward: int) -> None:
    """Keep the feed-forward units of a layer with the largest weights, by the norm of the weights
    into a unit times the norm of those out of it."""
    into, bias, back = (f"{layer}{name}" for name in ("wider.w", "wider.b", "narrower.w"))
    if feed_forward == len(weights[bias]):
        return
    weight = weights[into].float().norm(dim=0) * weights[back].float().norm(dim=1)
    units = weight.topk(feed_forward).indices.sort().values
    weights[into], weights[bias] = weights[into][:, units], weights[bias][units]
    weights[back] = weights[back][units]
