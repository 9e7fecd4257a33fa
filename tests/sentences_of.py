"""The sentences of texts, as lists of predictions, text by text."""

from collections.abc import Iterator


def sentences_of(model, texts, **settings) -> Iterator[list]:
    for result in model.stream(texts, **settings):
        yield list(result.sentences)
