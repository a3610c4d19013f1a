"""docs/performance.md: every machine that was measured, side by side."""

from bars import Bars
from groups import MAIN_FORMATS
from machine import sets_text
from page import speeds
from tables import digits, table, text_of, toy_warning


def head(runs):
    return ["# Performance", "", *toy_warning(runs),
            "What imbrex reaches beside llama.cpp and other libraries, on every kind of processor that it was measured on. Written by "
            "`bench/peers/run.py`, which [benchmarks.md](benchmarks.md#peers) explains, from the numbers in "
            "`bench/peers/measured/`: one run for each machine, none is typed by hand. A machine's own page has all that was "
            "measured on it, and how.", ""]


def machines(runs):
    rows = [(f"[{r.slug}](performance/{r.slug}.md)", r.machine["processor"], r.machine["cores"], sets_text(r.machine),
             digits(r.limit("read") / 1e9) if r.limit("read") else "", r.all["mode"], r.all.get("imbrex") or "", r.all["date"])
            for r in runs]
    header = ["machine", "processor", "cores", "instruction sets", "read, GB/s", "run", "commit", "day"]
    return ["## Machines", "", *table(*without_empty(header, rows))]


def without_empty(header, rows):
    """A table without the columns that no row has anything in."""
    kept = [i for i in range(len(header)) if any(row[i] != "" for row in rows)]
    return [header[i] for i in kept], [[row[i] for i in kept] for row in rows]


def bars(runs):
    rows = []
    for same in zip(*(Bars(r).rows for r in runs)):
        assert len({bar.work for bar in same}) == 1, same
        rows.append((*same[0][:3], *(bar.cell() for bar in same)))
    return ["## What it must reach", "",
            "**Bold**: missed. In brackets: not reached, by a machine without AMX, where the bar is one for machines with it. With a "
            "question mark: no verdict, as decoding read faster than the measure of memory. `no AMX` and the like: the machine cannot "
            "run it. `-`: not measured.",
            "", *table(["work", "bar", "aim", *(r.slug for r in runs)], rows)]


def losses(runs):
    rows = sorted(((work, r.slug, faster, ratio) for r in runs for work, faster, ratio in r.losses()), key=lambda row: row[3])
    rows = [(*row[:3], digits(row[3])) for row in rows]
    return ["## Losses", "", "Every comparison with another library that was lost; the ratio of speeds.", "",
            *(table(["work", "machine", "faster", "ratio"], rows) if rows else ["None.", ""])]


def models(runs):
    """The main model in each format, then the one that is shipped; machines under each other."""
    timed = [(r, g) for r in runs for _, g in r.groups(f"model {r.main_shape()}")]
    timed.sort(key=lambda pair: (*MAIN_FORMATS, pair[1]["format"]).index(pair[1]["format"]))
    timed += [(r, r.shipped()) for r in runs if r.shipped()]
    rows = []
    for r, g in timed:
        prompt, _, prompt_ratio, decode, _, decode_ratio = speeds(g)
        rows.append((f"{g['shape']}, {g['format']}", r.slug, prompt, prompt_ratio, decode, decode_ratio))
    header = ["model", "machine", "prompt", "over llama.cpp", "decode", "over llama.cpp"]
    return ["## Whole models", "", "Tokens a second, all threads, of a prompt and of decoding one by one. How long prompts are, the "
            "peer's own speed and other models are on the machines' pages.", "", *table(header, rows)]


def text(runs):
    return text_of(line for part in (head, machines, bars, losses, models) for line in part(runs))
