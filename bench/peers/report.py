"""Writes the pages of docs/ and their pictures from the numbers of every machine, and keeps what run.py measured.

    report.py write [DOCS [NUMBERS]]     writes DOCS/performance.md and DOCS/performance/
    report.py check [DOCS [NUMBERS]]     whether they are what the numbers are written as, and nothing else is there

DOCS is docs/, NUMBERS is measured/ beside this file, with a file for each kind of processor. Numbers from another machine are put
there, and written.
"""

import difflib
import json
import pathlib
import sys

import overview
from bars import Bars
from machine import slug
from page import page_text
from picture import rooflines
from results import Results
from tables import table

HERE = pathlib.Path(__file__).resolve().parent
DOCS, NUMBERS = HERE.parent.parent / "docs", HERE / "measured"


def kept_runs(numbers):
    """[(file, what was measured)], in the order of the machines' names."""
    return [(path, Results(json.loads(path.read_text()))) for path in sorted(numbers.glob("*.json"))]


def texts(runs, docs):
    """{file: what is to be in it}: the first page, and each machine's with its pictures."""
    found = {docs / "performance.md": overview.text(runs)}
    for r in runs:
        folder, svgs = docs / "performance", rooflines(r)
        names = {of: f"pictures/{r.slug}-{of}.svg" for of in svgs}
        found[folder / f"{r.slug}.md"] = page_text(r, names)
        found |= {folder / names[of]: svg for of, svg in svgs.items()}
    return found


def write(docs=DOCS, numbers=NUMBERS):
    for path, text in texts([r for _, r in kept_runs(numbers)], docs).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def keep(results, numbers):
    """Keeps a run in the place of the one before on a machine of its kind."""
    numbers.mkdir(parents=True, exist_ok=True)
    kept = {k: v for k, v in results.items() if k != "conditions"}
    (numbers / f"{slug(results['machine'])}.json").write_text(json.dumps(kept, indent=1) + "\n")


def summary(results):
    """The table of bars, for the terminal."""
    return "\n".join(table(["work", "bar", "aim", "measured", ""], Bars(Results(results)).rows))


def faults(docs, numbers):
    """What of the pages is not as the numbers have it: lines for a person."""
    runs = kept_runs(numbers)
    if not runs:
        yield f"{numbers}: no numbers\n"
        return
    for path, r in runs:
        if path.stem != r.slug:
            yield f"{path}: the numbers of {r.slug}, which is what the file should be called\n"
    wanted = texts([r for _, r in runs], docs)
    for path, text in wanted.items():
        if not path.exists():
            yield f"{path}: missing; there are numbers for it\n"
        elif path.read_text() != text:
            yield from difflib.unified_diff(path.read_text().splitlines(True)[:2000], text.splitlines(True)[:2000], str(path),
                                            "what the numbers are written as")
    for path in sorted((docs / "performance").rglob("*")):
        if path.is_file() and path not in wanted:
            yield f"{path}: there are no numbers for it\n"


def check(docs=DOCS, numbers=NUMBERS):
    found = list(faults(docs, numbers))
    sys.stdout.writelines(found)
    print("stale" if found else f"{docs}: the pages are what the numbers are written as")
    return 1 if found else 0


if __name__ == "__main__":
    commands = {"write": write, "check": check}
    if sys.argv[1:2] == [] or sys.argv[1] not in commands or len(sys.argv) > 4:
        sys.exit(__doc__)
    sys.exit(commands[sys.argv[1]](*(pathlib.Path(word) for word in sys.argv[2:])))
