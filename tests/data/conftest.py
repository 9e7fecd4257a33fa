"""The folder of SICK that tests share."""

import pytest

SICK = {
    "a.toks": "a dog runs\nyes\n",
    "a.parents": "2 3 0\n0\n",
    "a.rels": "det nsubj root\nroot\n",
    "a.cparents": "4 4 5 5 0\n0\n",
    "b.toks": "it sleeps\nno , no\n",
    "b.parents": "2 0\n3 3 0\n",
    "b.rels": "nsubj root\ndep punct root\n",
    "b.cparents": "3 3 0\n5 4 4 5 0\n",
    "id.txt": "7\n12\n",
    "sim.txt": "3.5\n1\n",
}


@pytest.fixture
def sick(tmp_path):
    """The split "dev" of two pairs, without its source table."""
    folder = tmp_path / "dev"
    folder.mkdir()
    for name, content in SICK.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder
