"""The checks of `thinstack doctor`: whether this installation and a model work here, what is
missing, and the command that fixes it."""

from thinstack.cli.checks.check import Check, exit_code
from thinstack.cli.checks.examination import examine

__all__ = ["Check", "examine", "exit_code"]
