"""Reads the weights of a pretrained encoder, by transformers, as `transformer.v1` has them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import Tensor

from thinstack.core.embedding import Leaves, Vectors
from thinstack.data.files.pretrained_models import hub_answers, quiet, readable, variant_of
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError, needs_extra
from thinstack.plugins.embeddings.transformer.layers import ARCHITECTURES, BUCKETS, ModelType
from thinstack.plugins.embeddings.transformer.weights import NAMINGS, TABLE, encoder_weights

__all__ = ["leaves"]

PROBES: Final = (
    "Good",
    "wasn't",
    "über-GOOD",
    "naïve",
    "1,000.50",
    "中文",
    "don’t",
    "[x]",
    "a\u0301",
)
"""Words whose pieces tell an uncased WordPiece tokeniser from others."""
EXPECTED: Final = "data.encoder: expected config.json, a tokenizer and weights"
TOKENISERS: Final = ("tokenizer.json", "vocab.txt")
"""Files of a tokeniser. One of them is needed."""
ASSUMED: Final[Mapping[ModelType, Mapping[str, Any]]] = {
    "bert": {
        "position_embedding_type": "absolute",
        "layer_norm_eps": ARCHITECTURES["bert"].epsilon,
    },
    "mpnet": {
        "relative_attention_num_buckets": BUCKETS,
        "layer_norm_eps": ARCHITECTURES["mpnet"].epsilon,
    },
}
"""What `config.json` must say, where it says anything. Otherwise the vectors would differ without a
word."""


def leaves(
    name: str, data: Path, *, size: int, options: Mapping[str, Any], vectors: Vectors | None
) -> Leaves:
    """What the encoder `name` gives a `transformer.v1` of these sizes and options. It is a folder
    under `data`, or else an encoder of the hub. `vectors` fill the static columns.

    Raises DataError if the encoder is not there or lacks files. Raises ConfigError for an encoder
    that is neither BERT nor MPNet, that has no uncased WordPiece tokeniser, or that has other sizes
    than the embedding. Raises it for vectors of other pieces too. Raises MissingExtraError without
    transformers (extra `transformers`).
    """
    with needs_extra("transformers"):
        import transformers
    folder = data / name
    with quiet(transformers), readable(EXPECTED, name, folder, SafetensorError):
        config, tokenizer, whole = _loaded(transformers, name, folder)
    _check_sizes(name, size, options, config, tokenizer)
    vocabulary = _vocabulary(name, tokenizer)
    state = whole.state_dict()
    table = state[TABLE].numpy()
    if len(table) != len(vocabulary):
        raise ConfigError(
            f"data.encoder: {name} has vectors of {len(table)} pieces, but its tokenizer has "
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
    """The static columns (V, static), from vectors of the encoder's pieces."""
    if pieces != vocabulary.entries:
        raise ConfigError(
            f"data.vectors: expected vectors of the pieces of {name}, in their order, found "
            "others; name another file, or leave out vectors and the embedding's option static"
        )
    return torch.from_numpy(np.array(vectors, np.float32))


def _loaded(transformers: Any, name: str, folder: Path) -> tuple[Any, Any, Any]:
    """Configuration, tokeniser and model, as transformers has them."""
    there = folder.is_dir()
    source, near = str(folder) if there else name, there or not hub_answers()
    config = transformers.AutoConfig.from_pretrained(source, local_files_only=near)
    _check_kind(name, config)
    if there and not any((folder / file).is_file() for file in TOKENISERS):
        raise OSError(f"it has neither {' nor '.join(TOKENISERS)}")
    tokenizer = transformers.AutoTokenizer.from_pretrained(source, local_files_only=near)
    model, read = transformers.AutoModel.from_pretrained(
        source,
        config=config,
        variant=variant_of(folder),
        dtype=torch.float32,
        output_loading_info=True,
        local_files_only=near,
    )
    # Without this check, fresh weights would take their place without a word.
    if lacking := sorted(field for field in read["missing_keys"] if "pooler" not in field):
        raise OSError(f"the weights lack {len(lacking)}, such as {lacking[0]}")
    return config, tokenizer, model


def _check_kind(name: str, config: Any) -> None:
    kind, activation = config.model_type, getattr(config, "hidden_act", "another activation")
    decoder = " decoder" if getattr(config, "is_decoder", False) else ""
    if kind not in NAMINGS or activation != "gelu" or decoder:
        raise ConfigError(
            f"data.encoder: expected a BERT or MPNet with gelu, found in {name} a "
            f"{kind}{decoder} with {activation}; use another encoder"
        )
    for field, expected in ASSUMED[kind].items():
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
            f"model.embedding: for {name}, write {write} (size beside kind, the others in "
            f"options); found {read}"
        )
    if options["layers"] > config.num_hidden_layers:
        raise ConfigError(
            f"model.embedding.options: {name} has {config.num_hidden_layers} layers, found "
            f"layers = {options['layers']}; use fewer"
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
