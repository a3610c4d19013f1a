"""Writes docs/performance.md, its pictures, and the numbers they are made of, from what run.py measured.

    report.py check docs/performance.md     whether the page is what the numbers beside this file are written as
"""

import difflib
import json
import pathlib
import sys

from bars import Bars
from page import page_text
from picture import pictures
from results import Results
from tables import table

HERE = pathlib.Path(__file__).resolve().parent
NUMBERS = HERE / "measured.json"


def write(results, page):
    page = pathlib.Path(page)
    (page.parent / "pictures").mkdir(parents=True, exist_ok=True)
    page.write_text(page_text(results))
    for name, svg in pictures(results).items():
        (page.parent / "pictures" / name).write_text(svg)
    is_the_page = page.resolve() == (HERE.parent.parent / "docs" / "performance.md").resolve()
    numbers = NUMBERS if is_the_page else page.with_suffix(".json")
    numbers.write_text(json.dumps({k: v for k, v in results.items() if k != "conditions"}, indent=1) + "\n")


def summary(results):
    """The table of bars, for the terminal."""
    return "\n".join(table(["work", "bar", "aim", "measured", ""], Bars(Results(results)).rows))


def check(page):
    page, results = pathlib.Path(page), json.loads(NUMBERS.read_text())
    wanted = {page: page_text(results)} | {page.parent / "pictures" / n: s for n, s in pictures(results).items()}
    stale = 0
    for path, text in wanted.items():
        got = path.read_text() if path.exists() else ""
        if got != text:
            stale = 1
            sys.stdout.writelines(difflib.unified_diff(got.splitlines(True)[:2000], text.splitlines(True)[:2000], str(path),
                                                       "what the numbers are written as"))
    print("stale" if stale else f"{page.name} is what its numbers are written as")
    return stale


if __name__ == "__main__":
    if sys.argv[1:2] != ["check"] or len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(check(sys.argv[2]))
