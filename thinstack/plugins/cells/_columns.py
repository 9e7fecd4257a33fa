"""The leading columns of words, for cells to which all of them would cost too much."""

from thinstack.errors import ConfigError


def first_columns(cell: str, input_size: int, columns: int | None) -> int:
    """Return how many leading columns a cell of this name reads; None means all. Raises ConfigError
    for more columns than words have."""
    width = input_size if columns is None else columns
    if width > input_size:
        raise ConfigError(
            f"{cell}: expected at most {input_size} columns, found {width}; omit columns to read "
            "all of them"
        )
    return int(width)
