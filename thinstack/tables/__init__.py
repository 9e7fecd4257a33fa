"""Tables of results: the rows of a paper's table as recipes, run over their seeds, beside the
paper's figures."""
