"""The program `thinstack`, which is also `python -m thinstack`."""

import gc


def main() -> None:
    """Run the command line, without collecting garbage while it is imported: all of it stays."""
    gc.disable()
    from thinstack.cli import main as run

    gc.freeze()
    gc.enable()
    run()


if __name__ == "__main__":
    main()
