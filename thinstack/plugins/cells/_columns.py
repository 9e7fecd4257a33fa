"""The first columns of words, which some cells read where all of them would cost too much."""

from thinstack.errors import ConfigError


def first_columns(cell: str, input_size: int, columns: int | None) -> int:
    """How many of the first columns a cell of this name reads; None means all. Raises ConfigError
    for more columns than words have."""
    width = input_size if columns is None else columns
    if width > input_size:
        raise ConfigError(
            f"{cell}: expected at most {input_size} columns, found {width}; leave columns out for "
            "all of them"
        )
    return int(width)
