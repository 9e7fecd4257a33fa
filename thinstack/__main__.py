"""`python -m thinstack` is the command `thinstack`."""

from thinstack.cli import main

if __name__ == "__main__":
    main()
