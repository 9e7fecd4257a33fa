"""`tokenizer.json`: the word pieces of a bundle, for the library `tokenizers`."""

import json
from typing import Any

from thinstack.data.words.wordpiece import LONGEST, UNKNOWN, WordpieceVocabulary


def tokenizer_json(vocabulary: WordpieceVocabulary) -> bytes:
    """The content of `tokenizer.json` (`tokenizers` 0.19 and later).

    It cuts a plain text, or words without treebank escapes such as -LRB-, as the vocabulary does.
    Two things differ. A word without any part has no piece here, but the vocabulary gives it the
    unknown piece. The vocabulary reads plain letters (`thinstack.data.words.letters`), which BERT
    does not. No piece is special: "[UNK]" in a text has three parts, as for the vocabulary.
    """
    data: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": True,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": UNKNOWN,
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": LONGEST,
            "vocab": {piece: number for number, piece in enumerate(vocabulary.entries)},
        },
    }
    return (json.dumps(data, ensure_ascii=False) + "\n").encode()
