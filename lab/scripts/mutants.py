"""Mutants: do the tests notice a small error in the code?

    python lab/scripts/mutants.py sample thinstack/core thinstack/export --count 60 > all.json
    python lab/scripts/mutants.py find all.json --root TREE > those_that_exist_there.json
    pytest --cov=thinstack --cov-context=test --cov-report= && \
        python lab/scripts/mutants.py run all.json --coverage .coverage --out results.json

A mutant is one changed operator, number or boolean, or one dropped statement. It is known by its
function, its statement as `ast.unparse` writes it, the kind of change, and the place among equal
changes in that function. So it is found again after its file was moved or formatted.

`run` needs pytest-cov. It tries each mutant in a copy of the tree on the tests that executed its
line: first on one case of each of the 40 nearest test functions, then on all. A line that ran only
at import, in TorchScript or in another process is tried on the test folder of its room. Outcomes:
"caught"; "hung", which counts as caught; "survived"; "unfinished" (no test failed within the
timeout, in CPU seconds) and "not covered", which count as survived; "not found", which does not
count. A failing test counts if it passes without the mutant. A second call goes on from the first.
"""

import argparse
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import coverage
from mutations import Mutant, find, mutants_of

NEAREST = 40  # test functions of the first try
HANG, MEMORY = 150, 8 << 30  # seconds of a test; bytes of a run
RESULT = re.compile(r"(tests/\S.*?) (?:(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b.*)?$")


def sample(options):
    """One mutant of a random statement in each of `count` equal parts of the rooms, shuffled."""
    by_statement = defaultdict(list)
    for mutant in mutants_of(options.root):
        file = Path(mutant.file)
        if any(map(file.is_relative_to, options.what)) and not any(
            map(file.match, options.without)
        ):
            by_statement[file, mutant.function, mutant.statement].append(mutant)
    groups, generator = list(by_statement.values()), random.Random(options.seed)
    ends = [len(groups) * part // options.count for part in range(options.count + 1)]
    chosen = [
        generator.choice(groups[generator.randrange(*part)]) for part in itertools.pairwise(ends)
    ]
    generator.shuffle(chosen)
    return chosen


def tests_by_line(root, data_file, ids):
    """The tests that execute a line; or their files, of fixtures, on which other tests may rely."""
    data, known = coverage.CoverageData(data_file), set(ids)
    found = defaultdict(set)
    data.read()
    for file in data.measured_files():
        for line, contexts in data.contexts_by_lineno(file).items():
            for test, _, phase in (context.rpartition("|") for context in contexts):
                if test in known:
                    name = test.partition("::")[0] if phase == "setup" else test
                    found[str(Path(file).relative_to(root)), line].add(name)
    return found


def order(mutant, by_line, ids):
    """The tests that execute a mutant, or those of its room: each function once, then the rest."""
    lines = range(mutant.first, mutant.last + 1)
    covering = set().union(*(by_line.get((mutant.file, line), set()) for line in lines))
    file = Path(mutant.file)
    folders = ["/".join(("tests", *folder.parts[1:], "")) for folder in list(file.parents)[:-2]]
    room = next((name for name in folders if any(one.startswith(name) for one in ids)), "no room")
    chosen = [test for test in ids if covering & {test, test.partition("::")[0]}]
    cases = Counter[str]()

    def rank(test):
        cases[test.partition("[")[0]] += 1
        case = min(cases[test.partition("[")[0]], 3)
        is_named = file.stem in Path(test.partition("::")[0]).stem
        return test not in covering, case, not is_named, not test.startswith(room)

    return sorted(chosen or [test for test in ids if test.startswith(room)], key=rank)


class Runner:
    """Runs mutants in a copy of the tree; `timeout` is in CPU seconds of all tests of one."""

    def __init__(self, root, folder, timeout):
        self.timeout, self.tree = timeout, folder / "mutant" / "tree"
        self.clean = folder / "clean" / "tree"
        ignored = shutil.ignore_patterns(".git", ".ci-venv", "__pycache__", ".*_cache", ".cov*")
        shutil.copytree(root, self.tree, ignore=ignored)
        shutil.copytree(self.tree, self.clean)
        data = os.environ.get("THINSTACK_DATA", str(root.parent / "shared" / "data"))
        self.settings = os.environ | {"THINSTACK_DATA": data, "PYTHONDONTWRITEBYTECODE": "1"}
        self.sound = {"": True}  # by test: whether it passes without a mutant; "" is the collection
        log, *_ = self.pytest(self.clean, ["--collect-only", "-q"], timeout)
        self.ids = [line for line in log if line.startswith("tests/") and "::" in line]

    def run(self, mutant, tests):
        """The outcome, the test that failed or hung, how many passed, and CPU seconds."""
        before = (self.tree / mutant.file).read_bytes()
        mutated = before[: mutant.start] + mutant.new.encode() + before[mutant.stop :]
        (self.tree / mutant.file).write_bytes(mutated)
        passed, seconds, parts = 0, 0.0, [tests[:NEAREST], tests[NEAREST:]]
        outcome, test = "survived" if tests else "not covered", ""
        while outcome == "survived" and parts:
            left = [one for one in parts.pop(0) if self.sound.get(one, True)]
            if not left:
                continue
            log, code, spent = self.pytest(self.tree, ["-x", "-v"], self.timeout - seconds, left)
            lines = [found for line in log if (found := RESULT.match(line))]
            ends = {found[1]: found[2] for found in lines if found[2]}
            failed = [one for one, end in ends.items() if end in ("FAILED", "ERROR")]
            passed, seconds = passed + len(ends) - len(failed), seconds + spent
            if code == "late":
                outcome = "unfinished"
            elif code != 0:
                test = (failed or [lines[-1][1] if lines else ""])[0]
                if test not in self.sound:
                    self.sound[test] = self.pytest(self.clean, [], self.timeout, [test])[1] == 0
                if self.sound[test]:
                    outcome = "hung" if code == "hung" else "caught"
                # If it goes on, then behind that test.
                parts.insert(0, [one for one in left if one not in ends])
        (self.tree / mutant.file).write_bytes(before)
        return {"outcome": outcome, "test": test, "passed": passed, "seconds": round(seconds)}

    def pytest(self, tree, options, timeout, tests=()):
        """Lines of output, the exit code, "late" or "hung", and CPU seconds."""
        chosen, log = tree.parent / "tests.txt", tree.parent / "log.txt"
        chosen.write_text("".join(f"{test}\n" for test in tests), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-o", "addopts=", "-p", "no:cacheprovider"]
        command += [f"--basetemp={tree.parent / 'tmp'}", *options, f"@{chosen}"]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=tree,
                env=self.settings | {"PYTHONPATH": str(tree)},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)),
            )
        code = None
        while code is None:
            time.sleep(0.1)
            # user, system time, and those of its children, before `poll` takes them away
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:15]
            seconds = sum(map(int, fields)) / os.sysconf("SC_CLK_TCK")
            code = process.poll()
            is_hung = time.time() - log.stat().st_mtime > HANG
            if code is None and (is_hung or seconds > timeout):
                code = "hung" if is_hung else "late"
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return log.read_text(encoding="utf-8", errors="replace").splitlines(), code, seconds


def run(wanted, options):
    """Run what has no result yet, and print the share caught."""
    results = json.loads(options.out.read_text()) if options.out.exists() else []
    finished = [Mutant(**result["mutant"])[2:6] for result in results]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        runner = Runner(options.root, Path(folder), options.timeout)
        by_line = tests_by_line(options.root, options.coverage, runner.ids)
        for mutant, here in zip(wanted, find(wanted, options.root), strict=True):
            if mutant[2:6] in finished:
                continue
            tests = order(here, by_line, runner.ids) if here else []
            result = runner.run(here, tests) if here else {"outcome": "not found"}
            results.append({"mutant": mutant._asdict(), **result})
            options.out.write_text(json.dumps(results, indent=1) + "\n")
            say(f"{len(results)} {result['outcome']}: {mutant.file}:{mutant.line} {mutant.kind}")
    counts = Counter(result["outcome"] for result in results)
    caught, counted = counts["caught"] + counts["hung"], len(results) - counts["not found"]
    say(f"caught {caught} of {counted}: {100 * caught / max(counted, 1):.1f}% {dict(counts)}")


def say(line):
    sys.stderr.write(f"{line}\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("command", choices=["sample", "find", "run"])
    parser.add_argument("what", nargs="+", help="folders and files, or the file of mutants")
    parser.add_argument("--root", type=lambda path: Path(path).resolve(), default=Path.cwd())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--without", nargs="*", default=[], help="patterns of files left out")
    parser.add_argument("--coverage", default=".coverage")
    parser.add_argument("--out", type=Path, default=Path("mutants-results.json"))
    parser.add_argument("--timeout", type=float, default=300, help="CPU seconds for a mutant")
    options = parser.parse_args()
    if options.command == "sample":
        chosen = sample(options)
    else:
        chosen = [Mutant(**one) for one in json.loads(Path(options.what[0]).read_text())]
    if options.command == "run":
        run(chosen, options)
        return
    if options.command == "find":
        places = find(chosen, options.root)
        say(f"{sum(map(bool, places))} of {len(places)} are there")
        chosen = [one for one, place in zip(chosen, places, strict=True) if place]
    json.dump([mutant._asdict() for mutant in chosen], sys.stdout, indent=1)


if __name__ == "__main__":
    main()
