"""What no command can do ends in one message and exit code 2, before anything is written."""

import shlex

import pandas as pd
import pytest
from bundle_folders import GOLDEN

from thinstack.evaluate.suite import Case

CASE = Case("a", "open", "no", "positive", "MFT", "-", "-", "No good")
ROWS = [("good battery", "North", "2024-01-09"), ("awful staff", "South", "2024-02-01")]

REFUSED = {
    "predict good": {
        "--jsonl --json": "--json, --jsonl: cannot be combined",
        "--csv --json": "--json, --csv: cannot be combined",
        "--brief --jsonl": "--jsonl, --brief: cannot be combined",
        "--csv --why": "--why, --csv: cannot be combined",
        "--full --html=x.html": "--html, --full: cannot be combined",
        "--aspects --about staff": "--aspects, --about: cannot be combined",
        "--aspects --full": "--aspects, --full: cannot be combined",
        "--about a --why": "--about, --why: cannot be combined",
        "--about a --html x.html": "--about, --html: cannot be combined",
        "--about ?": "a letter or digit",
        "--about 'price|'": "a letter or digit",
        "--about ''": "a letter or digit",
        "--about batt\udcffery": "Unicode",
        "--abstain 1": "abstain: expected a probability between 0 and 1, found 1.0",
        "--max-words 1": "max_words is 1",
        "--model stt": "unknown model 'stt'; known: ",
        "--aspects": "unknown model 'aspects'",
        "--aspects --model sentiment": "does not find terms",
        "--aggregation tree --model ./words": "tree",
        "--sep ;": "--sep: works only with --input",
        "--no-header": "--no-header: works only with --input",
        "--out out": "--out: works only with --input",
    },
    "predict": {
        "--paragraphs a": "--paragraphs splits standard input",
        "texts.csv": "is a file, not a text",
        "--svg . good": "expected a file",
        "--html . good": "expected a file",
        "--input texts.csv": "add --out FOLDER",
        "--input texts.csv --out texts.csv": "would replace",
        "--input texts.csv --out plain": "cannot write to this folder",
        "--input texts.csv --out plain/below": "cannot write to this folder",
        "--input texts.csv --out a.csv --format jsonl": "a.csv",
        "--input texts.csv --out a.jsonl --bom": "--bom",
        "--input texts.csv --out a.csv --vectors -m ./vector": "--vectors needs parquet",
        "--input texts.csv --out a.jsonl --vectors -m ./vector": "--vectors needs parquet",
        "--input none.csv --out out --text review": "found none",
        "--input . --out ./in": "in: is inside",
    },
    "predict --input texts.csv --out out": {
        "--json": "--json: does not work with --input",
        "--sep ::": "'::'",
        "--paragraphs": "--paragraphs works only with",
        "--paragraphs --sep ;": "--sep: works only with tables",
        "--vectors -m ./words": 'thinstack.load("vectors")',
        "--vectors --output aspects -m ./vector": "have no vectors",
        "--output aspects --jobs 0": "unknown model 'aspects'",
        "--output aspects -m sentiment": "does not find terms",
        "--text b\udcff": "text",
        "--id b\udcff": "id",
        "--encoding b\udcff": "encoding",
        "--columns shop": "expected the column 'shop'",
        "--columns label": "names of score columns: 'label'",
        "--columns label --keep none": "remove either",
        "--category looks -m ./vector": "expected a name and examples",
        "--category looks= -m ./vector": "expected a name and examples",
        "--about ?": "expected a letter or digit",
        "--about a --output phrases": "--output documents",
        "--about a --category a=good -m ./vector": "would share the column",
    },
    "evaluate": {
        "stt trees.txt": "unknown model 'stt'; known: ",
        "./words trees.txt --raw-text": "raw text has no gold trees",
        "sentiment texts.csv --sep ::": "'::'",
        "--suite polar": "unknown suite 'polar'; known: aspects",
        "./words --suite suite.tsv --half open": "found bad, so-so",
        "texts.csv --half open --raw-text": "--half, --raw-text: does not work with a table",
        "texts.csv --format conllu.v1": "--format: does not work with a table",
        "trees.txt --list-wrong x.csv": "--list-wrong: does not work with a treebank",
        "trees.txt --label x --skip-bad": "--skip-bad, --label: does not work with a treebank",
        "docs.spacy": "docs.spacy: expected a table or a treebank, found a file of Docs",
    },
    "evaluate --suite suite.tsv": {
        "--source gold": "expected gold trees",
        "": "the reported half has no texts",
        "--text x --raw-text": "--text, --raw-text: does not work with a suite",
        "--relabel 1=good": "--relabel: does not work with a suite",
        "--list-wrong x.csv": "only with the open half",
        "--list-wrong x.csv --half all": "only with the open half",
        "--half open --list-wrong suite.tsv": "--list-wrong",
    },
    "train": {
        "texts.csv --out out --sep ::": "'::'",
        "texts.csv --out out --data .": "--data: works only with recipes",
        "r.toml --out out --sep ;": "--sep: works only with",
        "r.toml --out out --init none --skip-bad": "--skip-bad, --init: works only with tables",
        "r.txt --out out": "or a recipe (.toml): rename",
    },
    "serve": {"--text review --out c.csv": "--text, --out: works only with --table"},
    "search reviews.csv": {
        "good -m ./vector": "set the columns with --text and --by",
        "' ' --text review -m ./vector": "expected a text with words",
        "good --text review -m ./words": "gives no vectors",
        "good --text review": "unknown model 'vectors'",
    },
    "themes reviews.csv": {
        "--text review --by shop -m ./vector": "--text, --by and --over",
        "--text review -m ./words": "gives no vectors",
        "--text review -m ./vector --out reviews.csv": "would replace",
        "--text review --threshold 0.5 -m ./vector": "add names (--name)",
        "--name plot": "found 'plot'",
        "--name '=awful plot'": "found '=awful plot'",
        "--name 'plot= , '": "found 'plot= , '",
    },
    "report": {
        "none.csv --text review --out x.html": "found no rows",
        ". --text review --out ./new.csv": "new.csv",
        "nowhere.csv --out x.html": "found nothing",
    },
    "report reviews.csv --out x.html": {
        "": "expected the column 'text'",
        "--text review --by shop": "'shop'",
        "--text review --by none": "found no value",
        "--text review --over store": "--dates",
        "--text review --over serial": "--dates excel",
        "--text review --over day --dates %d/%m/%Y": "'%d/%m/%Y'",
        "--text review --dates unix": "--over",
        "--text review --over us --dates %d/%m/%Y": "--dates %m/%d/%Y",
        "--text review --over day --dates '%d %d'": "strptime",
        "--text review --about batt\udcffery": "Unicode",
        "--text review --about !": "a letter or digit",
        "--text review --about a -m ./words": "expected a sentiment model",
        "--text none": "expected texts in English, found none",
        "--about a --category a=b": "two terms or categories have the name 'a'",
        "--category a=": "--category: expected a name and examples",
    },
    "report reviews.csv": {
        "--out x.docx": "--format html, json or csv",
        "--out .": "found a folder",
        "--text review --out reviews.csv": "would replace",
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, vector_folder):
    folder = tmp_path_factory.mktemp("refused")
    (folder / "plain").touch()
    (folder / "words").symlink_to(GOLDEN / "words")
    (folder / "vector").symlink_to(vector_folder)
    (folder / "texts.csv").write_text("text,label\ngood,good\n")
    (folder / "trees.txt").write_text("(2 (1 film) (2 good))\n")
    (folder / "suite.tsv").write_text("\t".join(Case._fields) + "\n" + "\t".join(CASE) + "\n")
    frame = pd.DataFrame(ROWS, columns=["review", "store", "day"])
    frame = frame.assign(none=None, serial=45200, us="2/24/2015 11:35")
    frame.to_csv(folder / "reviews.csv", index=False)
    frame[:0].to_csv(folder / "none.csv", index=False)
    return folder


@pytest.mark.usefixtures("without_installed_models")
@pytest.mark.parametrize(
    ("start", "rest"), [(start, rest) for start, rests in REFUSED.items() for rest in rests]
)
def test_what_cannot_be_done(cli, folder, monkeypatch, start, rest):
    monkeypatch.chdir(folder)
    before = contents(folder)
    cli(*shlex.split(f"{start} {rest}")).check_refused(REFUSED[start][rest])
    assert contents(folder) == before


def contents(folder):
    return {path: path.is_file() and path.read_bytes() for path in folder.iterdir()}
