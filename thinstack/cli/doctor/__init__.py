"""The checks of `thinstack doctor`: whether this installation and a model work here, what is
missing, and the command that fixes it."""

from thinstack.cli.doctor.check import Check, exit_code
from thinstack.cli.doctor.examination import examine

__all__ = ["Check", "examine", "exit_code"]
