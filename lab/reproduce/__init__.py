"""What reproduces the papers' tables: rows as recipes, run over their seeds, beside the papers'
figures. It is no part of the package that is installed: `python -m reproduce` in the repository."""
