"""Numbers and tables as the pages have them."""

import math

NOT_MEASURED = "-"


def digits(value, count=3):
    """A number with `count` significant digits, never in exponents."""
    if value == 0:
        return "0"
    places = max(0, count - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


def toy_warning(runs):
    toy = any(r.all["mode"] == "tiny" for r in runs)
    return ["A run of the harness's own test, on a model of toy size: its numbers say nothing.", ""] if toy else []


def text_of(lines):
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def small(value):
    return "0" if value == 0 else f"{value:.1e}"


def bold(ratio):
    """A ratio; a loss stands out."""
    if ratio is None:
        return ""
    return f"**{digits(ratio)}**" if ratio < 1 else digits(ratio)


def table(header, rows):
    """A table of Markdown whose columns are aligned; the first is text, numbers stand to the right."""
    cells = [header] + [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    number = lambda cell: not cell or cell[0] in "0123456789*-(" or cell.startswith("no ")  # "no AMX", where one could be
    numeric = [i > 0 and all(number(row[i]) for row in cells[1:]) for i in range(len(header))]
    line = lambda row: "| " + " | ".join(c.rjust(w) if n else c.ljust(w) for c, w, n in zip(row, widths, numeric)) + " |"
    rule = "|" + "|".join("-" * (w + 1) + (":" if n else "-") for w, n in zip(widths, numeric)) + "|"
    return [line(cells[0]), rule, *[line(row) for row in cells[1:]], ""]
