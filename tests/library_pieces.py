"""The pieces of the library `tokenizers`, for words whose stretched letters are put right first."""

from collections.abc import Container

from tokenizers import Tokenizer

from thinstack.data.words.readings import unstretched


def library_pieces(tokenizer: Tokenizer, entries: Container[str], text: str) -> tuple[int, ...]:
    """The ids of a text. Its parts are the library's."""
    parts = tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text))
    plain = [unstretched(part, entries) if len(part) <= 100 else part for part, _ in parts]
    return tuple(tokenizer.encode(" ".join(plain)).ids)
