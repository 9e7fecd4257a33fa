"""Tests import the scripts, and the helpers of the package's own tests of training, as these import
each other."""

import sys
from pathlib import Path

LAB = Path(__file__).parent
sys.path[:0] = [str(LAB / "scripts"), str(LAB.parent / "tests" / "training")]
