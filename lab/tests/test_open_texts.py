"""The script that writes the texts of `sentiment-open`."""

import gzip
import json
import re
from pathlib import Path
from random import Random
from runpy import run_path

import pytest

from thinstack.data.trees.treebank import read_labelled

SCRIPT = Path(__file__).parents[1] / "scripts" / "open_texts.py"
CONLLU = """# text = I don't see a new rat.
1\tI\tI\tPRON\tPRP\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tsee\tsee\tVERB\tVB\t_\t0\troot\t_\t_
4.1\tsee\tsee\tVERB\tVB\t_\t_\t_\t_\t_
5\ta\ta\tDET\tDT\t_\t7\tdet\t_\t_
6\tnew\tnew\tADJ\tJJ\t_\t7\tamod\t_\t_
7\trat\trat\tNOUN\tNN\t_\t4\tobj\t_\tSpaceAfter=No
8\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_
"""
MORE = "odd/JJ apple/NN cats/NNS see/VB sold/VBD going/VBG sold/VBN goes/VBZ slowly/RB never/RB"


def row(number, tagged):
    form, tag = tagged.split("/")
    return f"{number}\t{form}\t_\t_\t{tag}\t_\t0\troot\t_\t_"


@pytest.fixture
def written(tmp_path, monkeypatch):
    for folder in ("snli", "text", "ud_ewt"):
        (tmp_path / folder).mkdir()
    pairs = [("( ( A cat ) sits )", "( A ( b ( c d ) ) )"), ("( A b )", "( ( A cat ) sits )")]
    rows = [{"sentence1_binary_parse": a, "sentence2_binary_parse": b} for a, b in pairs]
    lines = "".join(json.dumps(one) + "\n" for one in rows)
    (tmp_path / "snli" / "train.jsonl").write_text(lines, encoding="utf-8")
    sentences = "wiki\tOne.\nmovies\tTwo.\ndbpedia\tThree.\n"
    (tmp_path / "text" / "sentences.tsv.gz").write_bytes(gzip.compress(sentences.encode()))
    more = "\n".join(row(*each) for each in enumerate(MORE.split(), 1))
    file = tmp_path / "ud_ewt" / "en_ewt-ud-train.conllu"
    file.write_text(f"{CONLLU}\n{more}\n\n", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["", "--data", str(tmp_path), "--out", str(tmp_path)])
    run_path(str(SCRIPT), run_name="__main__")
    return tmp_path


def test_captions_are_neutral_and_their_phrases_unknown(written):
    trees = read_labelled(written / "open-trees.txt", ("?", "2"))
    assert sorted(" ".join(tree.words) for tree, _ in trees) == ["A b c d", "A cat sits"]
    assert [labels.tolist() for _, labels in trees] == [
        [0] * (len(tree) - 1) + [1] for tree, _ in trees
    ]
    assert (written / "open-texts.txt").read_text(encoding="utf-8") == "One.\nThree.\n"


def test_words_are_exchanged_for_others_of_their_tag(written):
    class First(Random):
        def random(self):
            return 0.0

        def choice(self, words):
            return words[0]

    script = run_path(str(SCRIPT))
    first, second = script["tagged"](written / "ud_ewt" / "en_ewt-ud-train.conllu")
    words = {"JJ": ["odd", "new"], "NN": ["apple", "rat"], "RB": ["slowly", "never"]}
    text = script["exchanged"](first, words, First())
    assert text == "I don't see a odd apple."
    assert script["with_articles"](text) == "I don't see an odd apple."
    assert script["exchanged"](second, words, First()).endswith("goes slowly never")


def test_every_word_stands_in_two_frames(written):
    texts = (written / "open-variants.txt").read_text(encoding="utf-8").splitlines()
    assert len(texts) == len(set(texts))
    assert not [text for text in texts if re.search(r"\ba [aeiou]|\ban [^aeiou]|{", text)]
    framed = [text for text in texts if text.count(" ") < 5 and "don't" not in text]
    for word in ("odd", "apple", "cats", "sold", "going", "goes", "slowly", "never"):
        assert sum(word in text for text in framed) >= 2
