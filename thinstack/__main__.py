"""The program `thinstack`, which is also `python -m thinstack`."""

from thinstack._lazy import imports_that_stay


def main() -> None:
    """Run the command line."""
    with imports_that_stay():
        from thinstack.cli import main as run
    run()


if __name__ == "__main__":
    main()
