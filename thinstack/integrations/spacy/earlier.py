"""Reads the results of earlier versions, which told words by the tokens of the Doc: `start`, `end`
and `tokens` in place of characters."""

from typing import Any, Final

import numpy as np
from spacy.tokens import Doc

from thinstack.integrations.spacy.places import characters_of, places_of

TOKENS: Final = frozenset({"start", "end", "tokens"})
"""What a sentence of an earlier version has in place of characters."""


def located(doc: Doc, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Turn sentences of an earlier version into those that `thinstack.integrations.spacy.stored`
    describes.

    Raises ValueError if they are not about the tokens that the Doc has. Nothing tells that tokens
    were merged and others split, if there are as many as before.
    """
    places, found = places_of(doc), []
    unread = np.array([not token.is_space for token in doc], np.bool_)
    for record in records:
        start, end = record["start"], record["end"]
        tokens = np.frombuffer(record["tokens"], "<i4").reshape(-1, 2)
        inside = (start <= tokens[:, 0]) & (tokens[:, 0] < tokens[:, 1]) & (tokens[:, 1] <= end)
        known = type(start) is type(end) is int and 0 <= start < end <= len(doc)
        if not (known and inside.all()):
            wanted = f"expected tokens of the {len(doc)} of the Doc"
            raise ValueError(f"{wanted}, found {start!r} to {end!r}; were tokens merged since?")
        unread[start:end] = False
        ((first, behind),) = characters_of(places, np.array([[start, end]])).tolist()
        others = {key: value for key, value in record.items() if key not in TOKENS}
        others |= {"start_char": first, "end_char": behind}
        others["characters"] = characters_of(places, tokens).tobytes()
        found.append(others)
    if unread.any():
        raise ValueError(f"the token {unread.argmax()} has no results; were tokens split since?")
    return found
