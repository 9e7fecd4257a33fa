"""A BERT or MPNet of random weights, as transformers saves it, and recipes over it."""

import torch
from training import tiny_recipe

WIDTH, HEADS, INSIDE, LAYERS, POSITIONS = 32, 4, 48, 2, 24
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("good", "fine", "love", "##ly", "bad", "dull", "aw", "##ful", "the", "film", "plot", "is")
LETTERS = tuple("abcdeghintuvwx'-,.[]’中文10")
PLAIN = (*WORDS, *LETTERS, *(f"##{letter}" for letter in "abdegiorstuv0"))
PIECES = (*SPECIAL, *PLAIN)
MPNET_PIECES = ("<s>", "<pad>", "</s>", "[UNK]", "<mask>", *PLAIN)
SIZES = {"layers": LAYERS, "heads": HEADS, "feed_forward": INSIDE, "positions": POSITIONS}
OPTIONS = SIZES | {"first": PIECES.index("[CLS]"), "last": PIECES.index("[SEP]")}
MPNET = SIZES | {"model_type": "mpnet", "first": 0, "last": 2}


def write_encoder(folder, *, cased=False, kind="Bert", **changes):
    """Save an encoder with its tokeniser; returns it, in evaluation mode."""
    import transformers

    torch.manual_seed(1)
    config = {
        "vocab_size": len(PIECES),
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INSIDE,
        "max_position_embeddings": POSITIONS,
    }
    pieces, tokenizer_kind = PIECES, "Bert"
    if kind == "MPNet":
        pieces, tokenizer_kind = MPNET_PIECES, kind
        config |= {"max_position_embeddings": POSITIONS + 2, "layer_norm_eps": 1e-5}
    made = getattr(transformers, f"{kind}Config")(**config | changes)
    encoder = getattr(transformers, f"{kind}Model")(made).eval()
    with torch.no_grad():
        for name, weight in encoder.named_parameters():
            mean = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            weight.normal_(mean, std=0.2)
    folder.mkdir(parents=True, exist_ok=True)
    transformers.utils.logging.disable_progress_bar()
    encoder.save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(f"{one}\n" for one in pieces), encoding="utf-8")
    tokenizer = getattr(transformers, f"{tokenizer_kind}TokenizerFast")
    tokenizer.from_pretrained(folder, do_lower_case=not cased).save_pretrained(folder)
    return encoder


def contextual_recipe(options=None, **sections):
    """A recipe over `tiny_recipe.write_data` that starts from the encoder in `encoder`."""
    embedding = {"name": "transformer.v1", "size": WIDTH, "options": OPTIONS | (options or {})}
    nested = {"embedding": embedding, "data": {"encoder": "encoder"}}
    for name in nested:
        nested[name] = nested[name] | sections.pop(name, {})
    return tiny_recipe.recipe("wordpieces", **nested, **sections)
