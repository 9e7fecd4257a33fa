"""How good and how fast vectors of phrases are, beside those of their teacher and of its other
students:

    python lab/benchmarks/vectors.py --data DATA --model runs/vectors/model-best --teacher --late \\
        --model2vec FOLDER --out lab/results/vectors.json

`--model` may be given several times. FOLDER is what `model2vec.distill` made of the same teacher.
Pairs: Spearman's rho of the cosine with people's ratings, times 100 (STS benchmark's development
part, SICK's trial part, the shared half of BiRD; `swapped` are its pairs of "A B" and "B A").
Phrases: how often the teacher's nearest of 2,000 phrases in sentences is the nearest, and among the
ten nearest. Signs: of phrases of SST's development part with a gold sign, how many of the five
nearest have the other one, without and with the column of polarity, and how often the teacher's
nearest of the same sign is among the ten nearest of that sign.
"""

import argparse
import csv
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from scipy.stats import spearmanr

import thinstack
from thinstack.data.trees.treebank import read_labelled
from thinstack.evaluate.figures import nearest_figures
from thinstack.text.raw_text import detokenize
from thinstack.training.tasks.vectors.encoder import StringEncoder

Matrix = NDArray[np.float32]
Span = tuple[str, int, int, str]
"""A text, characters [start, end) of it, and the phrase that stands there."""

ENCODER = "encoders/all-minilm-l6-v2"
LABELS = ("very negative", "negative", "neutral", "positive", "very positive")
SIGN_WEIGHT = 0.3
SIGNED = 4000
NEAREST = 5
TIMED = 1024
ROUNDS = 5

CONSOLE = Console()


class Subject(Protocol):
    """What gives vectors of unit norm."""

    def encode(self, texts: Sequence[str]) -> Matrix: ...

    def spans(self, spans: Sequence[Span]) -> Matrix: ...


class Tree:
    """A bundle of thinstack."""

    def __init__(self, path: str):
        self.model = thinstack.load(path, threads=1)

    def encode(self, texts: Sequence[str]) -> Matrix:
        return self.model.encode(texts)

    def spans(self, spans: Sequence[Span]) -> Matrix:
        results = self.model.stream(text for text, *_ in spans)
        pairs = zip(results, spans, strict=True)
        return np.stack([result.vector_of(start, end) for result, (_, start, end, _) in pairs])


class Strings:
    """Whatever reads strings: phrases are read by themselves."""

    def __init__(self, encode: Callable[[Sequence[str]], Any]):
        self._encode = encode

    def encode(self, texts: Sequence[str]) -> Matrix:
        rows = np.asarray(self._encode(list(texts)), np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    def spans(self, spans: Sequence[Span]) -> Matrix:
        return self.encode([phrase for *_, phrase in spans])


class Late:
    """The teacher once a text; the outputs of a span's pieces are averaged ("late chunking")."""

    def __init__(self, folder: Path):
        import transformers

        self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self._model = transformers.AutoModel.from_pretrained(folder, variant="fp16").float().eval()

    def encode(self, texts: Sequence[str]) -> Matrix:
        return self.spans([(text, 0, len(text), text) for text in texts])

    @torch.inference_mode()
    def spans(self, spans: Sequence[Span]) -> Matrix:
        rows = []
        for text, start, end, _ in spans:
            read = self._tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
            places = read.pop("offset_mapping")[0]
            inside = (places[:, 0] >= start) & (places[:, 1] <= end) & (places[:, 1] > places[:, 0])
            rows.append(self._model(**read).last_hidden_state[0, inside].mean(0).numpy())
        matrix = np.stack(rows)
        return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), np.float32)


def pair_sets(data: Path) -> Iterator[tuple[str, list[tuple[str, str]], list[float]]]:
    """The name of each set of pairs, the pairs and their ratings."""
    rows = [json.loads(line) for line in (data / "sts/dev.jsonl").open(encoding="utf-8")]
    yield "sts", [(row["text_a"], row["text_b"]) for row in rows], [row["score"] for row in rows]
    with (data / "sick/SICK_trial.txt").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file, delimiter="\t"))
    pairs = [(row["sentence_A"], row["sentence_B"]) for row in table]
    yield "sick", pairs, [float(row["relatedness_score"]) for row in table]
    with (data / "phrases/bird-half.tsv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file, delimiter="\t"))
    for name, chosen in (("bird", table), ("swapped", [row for row in table if is_swapped(row)])):
        pairs = [(row["term1"], row["term2"]) for row in chosen]
        yield name, pairs, [float(row["score"]) for row in chosen]


def is_swapped(row: dict[str, str]) -> bool:
    return row["term1"].split()[::-1] == row["term2"].split()


def rho(subject: Subject, pairs: Sequence[tuple[str, str]], ratings: Sequence[float]) -> float:
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    places, rows = {text: place for place, text in enumerate(texts)}, subject.encode(texts)
    cosines = [float(rows[places[a]] @ rows[places[b]]) for a, b in pairs]
    return round(100 * float(spearmanr(cosines, ratings)[0]), 2)


def read_spans(data: Path) -> list[Span]:
    with (data / "phrases/retrieval.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(row["text"], int(row["start"]), int(row["end"]), row["phrase"]) for row in rows]


def signed_phrases(data: Path) -> tuple[list[str], NDArray[np.int64]]:
    """Phrases of 2 to 8 words of SST's development part, and their gold signs."""
    signs = dict[str, int]()
    for tree, labels in read_labelled(data / "sst/dev.txt", LABELS):
        for (start, end), label in zip(tree.spans.tolist(), labels.tolist(), strict=True):
            if 2 <= end - start <= 8 and label != 2:
                phrase = detokenize(tree.words[start:end])
                signs.setdefault(phrase.lower(), 1 if label > 2 else -1)
    chosen = np.random.default_rng(0).permutation(sorted(signs))[:SIGNED].tolist()
    return chosen, np.array([signs[phrase] for phrase in chosen])


def other_sign(rows: Matrix, signs: NDArray[np.int64], phrases: Sequence[str]) -> float:
    """The share of the nearest with the other sign, in per cent. A phrase whose words are part of
    the other's is no neighbour."""
    similarity, words = rows @ rows.T, [{*phrase.split()} for phrase in phrases]
    np.fill_diagonal(similarity, -np.inf)
    order, shares = np.argsort(-similarity, axis=1)[:, :200], []
    for place, row in enumerate(order.tolist()):
        mine = words[place]
        apart = [other for other in row if not (mine <= words[other] or words[other] <= mine)]
        near = apart[:NEAREST]
        shares.append(float((signs[near] != signs[place]).mean()))
    return round(100 * statistics.fmean(shares), 2)


def same_sign(rows: Matrix, teacher: Matrix, signs: NDArray[np.int64]) -> float:
    """How often the teacher's nearest phrase of the same gold sign is among the ten nearest of that
    sign, in per cent."""
    hits = list[bool]()
    for sign in (-1, 1):
        ours, theirs = (matrix[signs == sign] for matrix in (rows, teacher))
        near, nearest = ours @ ours.T, theirs @ theirs.T
        np.fill_diagonal(near, -np.inf)
        np.fill_diagonal(nearest, -np.inf)
        best = nearest.argmax(axis=1)
        hits += ((near > near[np.arange(len(near)), best][:, None]).sum(axis=1) < 10).tolist()
    return round(100 * statistics.fmean(hits), 2)


def with_sign(rows: Matrix, polarity: NDArray[np.float64]) -> Matrix:
    column = np.sqrt(SIGN_WEIGHT) * np.sign(polarity) * np.sqrt(np.abs(polarity))
    return np.concatenate([rows, column[:, None].astype(np.float32)], axis=1)


def quality(subject: Subject, teacher: Subject, data: Path) -> dict[str, float]:
    figures = {name: rho(subject, *pairs) for name, *pairs in pair_sets(data)}
    spans, (phrases, signs) = read_spans(data), signed_phrases(data)
    near = nearest_figures(subject.spans(spans), teacher.spans(spans))
    figures |= {name: round(value or 0.0, 2) for name, value in near.items()}
    rows, theirs = subject.encode(phrases), teacher.encode(phrases)
    polarity = np.array([result.polarity or 0.0 for result in thinstack.load().stream(phrases)])
    if isinstance(subject, Tree) and subject.model.view.polarity is not None:
        signed = subject.model.encode(phrases, sign=True)
    else:
        signed = with_sign(rows, polarity)
    for name, matrix in (("plain", rows), ("signed", signed)):
        figures[f"other_{name}"] = other_sign(matrix, signs, phrases)
        figures[f"same_{name}"] = same_sign(matrix, theirs, signs)
    return figures


def speed(paths: Sequence[str], folder: Path, data: Path) -> dict[str, list[float]]:
    """Sentences a second of one thread, the median, least and most of several rounds."""
    texts = sorted((text for text, *_ in read_spans(data)[:TIMED]), key=len)
    rates = dict[str, list[float]]()
    for path in ("sentiment", *paths):
        model = thinstack.load(path, threads=1)
        rates[path] = timed(lambda model=model: list(model.stream(texts)), len(texts))
    model, part = thinstack.load(threads=1), texts[:: len(texts) // 128]
    phrases = [
        phrase.text for result in model(part) for phrase in result.phrases if phrase.children
    ]
    run = int8_encoder(folder)
    rates["teacher, int8"] = timed(lambda: run(texts), len(texts))
    rates["teacher, int8, every phrase"] = timed(lambda: run(phrases), len(part))
    return rates


def timed(run: Callable[[], object], count: int) -> list[float]:
    run()
    rates = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        rates.append(count / (time.perf_counter() - start))
    return [round(value, 1) for value in (statistics.median(rates), min(rates), max(rates))]


def int8_encoder(folder: Path) -> Callable[[Sequence[str]], None]:
    """The teacher in onnxruntime with products of 8 bits, over strings sorted by length, 64 a
    batch, on one thread."""
    import tempfile

    import onnxruntime
    import transformers
    from onnxruntime.quantization import QuantType, quantize_dynamic

    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
    model: Any = transformers.AutoModel.from_pretrained(folder, variant="fp16").float().eval()

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            hidden = self.model(ids, attention_mask=mask).last_hidden_state
            shares = mask.unsqueeze(-1).float()
            pooled = (hidden * shares).sum(1) / shares.sum(1)
            return torch.nn.functional.normalize(pooled, dim=1)

    with tempfile.TemporaryDirectory() as temporary:
        path, ones = f"{temporary}/model.onnx", torch.ones(2, 8, dtype=torch.long)
        axes = {name: {0: "batch", 1: "pieces"} for name in ("ids", "mask")}
        names: dict[str, Any] = {"input_names": ["ids", "mask"], "dynamic_axes": axes}
        torch.onnx.export(Pooled(), (ones, ones), path, opset_version=17, dynamo=False, **names)
        quantize_dynamic(path, f"{path}.int8", weight_type=QuantType.QInt8)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(f"{path}.int8", options)

    def run(strings: Sequence[str]) -> None:
        rows = sorted(tokenizer(list(strings))["input_ids"], key=len)
        for start in range(0, len(rows), 64):
            part = rows[start : start + 64]
            ids = np.zeros((len(part), max(map(len, part))), np.int64)
            mask = np.zeros_like(ids)
            for place, row in enumerate(part):
                ids[place, : len(row)], mask[place, : len(row)] = row, 1
            session.run(None, {"ids": ids, "mask": mask})

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--teacher", action="store_true")
    parser.add_argument("--late", action="store_true")
    parser.add_argument("--model2vec")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    folder, torch_threads = chosen.data / ENCODER, 1
    torch.set_num_threads(torch_threads)
    teacher = Strings(StringEncoder(ENCODER, chosen.data, "mean").encode)
    subjects: dict[str, Subject] = {path: Tree(path) for path in chosen.model}
    subjects |= {"teacher": teacher} if chosen.teacher else {}
    subjects |= {"late chunking": Late(folder)} if chosen.late else {}
    if chosen.model2vec:
        from model2vec import StaticModel

        subjects["model2vec"] = Strings(StaticModel.from_pretrained(chosen.model2vec).encode)
    figures: dict[str, Any] = {}
    for name, subject in subjects.items():
        figures[name] = quality(subject, teacher, chosen.data)
        CONSOLE.print(name, json.dumps(figures[name]), soft_wrap=True)
    if chosen.speed:
        figures["sentences a second"] = speed(chosen.model, folder, chosen.data)
        CONSOLE.print(json.dumps(figures["sentences a second"]), soft_wrap=True)
    if chosen.out:
        chosen.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
