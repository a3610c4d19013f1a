"""Writes docs/performance.md, its pictures, and the numbers they are made of, from what run.py measured.

    report.py check docs/performance.md     whether the page is what the numbers beside this file are written as
"""

import difflib
import json
import pathlib
import sys

from picture import COLOURS, Roofline
from sides import median

HERE = pathlib.Path(__file__).resolve().parent
NUMBERS = HERE / "measured.json"


def digits(value, count=3):
    """A number with `count` significant digits, never in exponents."""
    if value == 0:
        return "0"
    import math

    places = max(0, count - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


def small(value):
    return "0" if value == 0 else f"{value:.1e}"


def table(header, rows):
    """A table of Markdown whose columns are aligned; the first is text, numbers stand to the right."""
    cells = [header] + [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    numeric = [i > 0 and all(not row[i] or row[i][0] in "0123456789*-" for row in cells[1:]) for i in range(len(header))]
    line = lambda row: "| " + " | ".join(c.rjust(w) if n else c.ljust(w) for c, w, n in zip(row, widths, numeric)) + " |"
    rule = "|" + "|".join("-" * (w + 1) + (":" if n else "-") for w, n in zip(widths, numeric)) + "|"
    return [line(cells[0]), rule, *[line(row) for row in cells[1:]], ""]


def ratio_of(seconds, of="llama.cpp", over="imbrex"):
    """How many times as fast `over` is as `of`: the median of each turn's ratio. None without a peer."""
    if of not in seconds or over not in seconds:
        return None
    return median([a / b for a, b in zip(seconds[of], seconds[over])])


class Results:
    """What was measured, and figures made of it."""

    def __init__(self, results):
        self.all, self.m = results, results["measured"]
        self.threads = str(results["machine"]["threads"])

    def limit(self, name, threads=None):
        entry = self.m.get("limits", {}).get(threads or self.threads, {}).get(name, {})
        return entry.get("rate")

    def groups(self, prefix):
        """Groups of a kind that have numbers: [(what is behind the prefix, group)]."""
        return [(name[len(prefix):].strip(), g) for name, g in self.m.items()
                if name.startswith(prefix) and "missing" not in g]

    def bandwidth_share(self, group):
        """Bytes of weights a second over what memory gave in the same turn: the median of the turns."""
        rates = zip(group["seconds"]["decode"]["imbrex"], group["read"])
        return median([group["hello"]["bytes_per_token"] / taken / read for taken, read in rates])

    def isa_groups(self, isa):
        """Where a set is the machine's best, whole models were timed on it already."""
        found = self.groups(f"isa {isa}")
        return found or [(n.split()[-1], g) for n, g in self.groups("model ")
                         if g["hello"]["isa"] == isa and "prompt" in g["seconds"]]

    def by_format(self, prefix, formats):
        found = dict(self.groups(prefix))
        return [(f, found[f]) for f in formats if f in found]


# --- the bars --------------------------------------------------------------------------------------------------------

NO_AMX = "not run: no AMX"


class Bars:
    """The rows of the table of bars: (work, bar, aim, measured, verdict)."""

    def __init__(self, results):
        self.r, self.rows = results, []
        shapes = [g["shape"] for _, g in results.groups("model ")]
        self.main = f"model {shapes[0]}" if shapes else "model none"
        self.amx = results.limit("amx")
        for part in (self.amx_rows, self.prompts, self.decoding, self.others):
            part()

    def add(self, work, bar, aim, value, least=True, shown=digits, unit="", needs_amx=False):
        if value is None:
            self.rows.append((work, bar, aim, "", NO_AMX if needs_amx and not self.amx else "not measured"))
            return
        number = float(bar.split()[0])
        holds = value >= number if least else value <= number
        verdict = "holds" if holds else "missed"
        if "share of read bandwidth" in work and value > 1.05:
            verdict = "unknown: decode read faster than the measure of memory"
        if needs_amx and not self.amx:
            verdict = "no AMX here" if not holds else verdict
        self.rows.append((work, bar, aim, shown(value) + unit, verdict))

    def amx_rows(self):
        kernels = self.r.m.get("kernels matmul", {}).get("rows", {})
        for f, bar in (("BF16", "0.33"), ("Q8_0", "0.42"), ("Q4_0", "0.42"), ("Q4_K", "0.42")):
            row = kernels.get(f"llama2_q/{f}/rows:512")
            self.add(f"matmul (512,4096,4096) {f}, share of AMX BF16", bar, "0.50",
                     row["FLOP"] / self.amx if row and self.amx else None, needs_amx=True)
        attention = self.r.m.get("kernels attention", {}).get("rows", {})
        for model, bar in (("llama2", "0.28"), ("llama3", "0.31")):
            row = attention.get(f"prompt/{model}/tokens:4096")
            heads = {"llama2": "32/32", "llama3": "32/8"}[model]
            self.add(f"attention of 4096, heads {heads} x 128, share of AMX BF16", bar, "0.40",
                     row["FLOP"] / self.amx if row and self.amx else None, needs_amx=True)

    def _fastest(self, prefix, bar, aim, work):
        groups = [g for _, g in self.r.groups(prefix) if "prompt" in g["seconds"]]
        mine = [median(g["seconds"]["prompt"]["imbrex"]) for g in groups]
        peers = [median(g["seconds"]["prompt"]["llama.cpp"]) for g in groups if "llama.cpp" in g["seconds"]["prompt"]]
        self.add(work, bar, aim, min(peers) / min(mine) if peers else None, needs_amx=True)

    def prompts(self):
        best = None
        for _, g in self.r.groups(self.main):
            if "prompt" in g["seconds"] and self.amx:
                rate = g["flops"]["prompt"] / median(g["seconds"]["prompt"]["imbrex"]) / self.amx
                best = max(best or 0, rate)
        self.add("prompt of 512, TinyLlama, share of AMX BF16, best format", "0.30", "0.42", best, needs_amx=True)
        self._fastest(self.main, "3.3", "4.5", "prompt of 512, TinyLlama, over the fastest peer format")
        self._fastest("long ", "5", "9", "prompt of 4096, 110M, over the fastest peer format")

    def decoding(self):
        for f, bar, aim in (("BF16", "0.90", "0.97"), ("F16", "0.90", "0.97"), ("Q8_0", "0.90", "0.97"),
                            ("Q4_0", "0.80", "0.92"), ("Q4_1", "0.80", "0.92"), ("Q4_K", "0.80", "0.92"),
                            ("Q6_K", "0.80", "0.92")):
            found = self.r.by_format(self.main, [f])
            self.add(f"decode {f}, share of read bandwidth", bar, aim,
                     self.r.bandwidth_share(found[0][1]) if found else None)
        for f, bar, aim in (("BF16", "1.05", "1.15"), ("F16", "1.05", "1.15"), ("Q8_0", "1.05", "1.15"),
                            ("Q4_0", "1.05", "1.15"), ("Q4_K_M", "1.5", "1.9")):
            found = self.r.by_format(self.main, [f])
            self.add(f"decode {f} over llama.cpp", bar, aim,
                     ratio_of(found[0][1]["seconds"]["decode"]) if found else None)

    def others(self):
        for f, bar, aim in (("BF16", "1.4", "1.2"), ("Q8_0", "2.0", "1.7"), ("Q4_0", "3.0", "2.5")):
            g = dict((name.split()[-1], g) for name, g in self.r.groups("batch ")).get(f)
            value = median([b / a for a, b in zip(g["seconds"]["1"]["imbrex"], g["seconds"][str(g["count"])]["imbrex"])]
                           ) if g else None
            self.add(f"16 sequences decoded together, time over one: {f}", bar + " at most", aim, value, least=False)
        g = self.r.m.get("threads")
        speedup = lambda name: median([a / b for a, b in zip(g["seconds"][name]["1"], g["seconds"][name]["2"])])
        self.add("two threads over one, prompt", "1.85", "", speedup("prompt") if g else None)
        one, two = self.r.limit("read", "1"), self.r.limit("read", "2")
        self.add("two threads over one, decode, share of the bandwidths' ratio", "0.95", "",
                 speedup("decode") / (two / one) if g and one and two else None)
        g = self.r.m.get("native")
        for name in ("prompt", "decode"):
            self.add(f"plain -O2 build over -march=native, {name}", "0.97", "1.0",
                     ratio_of(g["seconds"][name], "native", "plain") if g else None)
        g = self.r.m.get("products f32")
        others = [ratio_of(g["seconds"], side) for side in g["seconds"] if side != "imbrex"] if g else []
        self.add("f32 matmul over the best of the libraries below", "1.0", "1.2", min(others) if others else None)
        g = self.r.m.get("smollm2", {}).get("seconds", {})
        self.add("SmolLM2-135M as shipped (Q4_1), decode over llama.cpp", "1.1", "1.5", ratio_of(g.get("decode", {})))
        self.add("the same, prompt of 512", "3", "6", ratio_of(g.get("prompt", {})), needs_amx=True)
        for isa in ("avx512", "avx2"):
            for name in ("prompt", "decode"):
                found = [ratio_of(g["seconds"][name]) for _, g in self.r.isa_groups(isa)]
                found = [v for v in found if v is not None]
                self.add(f"without AMX: {isa}, {name} over llama.cpp, worst format", "1.0", "1.3",
                         min(found) if found else None)
        g = self.r.m.get("first")
        self.add("start to first token beyond the prompt's compute, 1.1B", "0.3 s at most", "0.1 s",
                 median(g["seconds"]["beyond"]["imbrex"]) if g else None, least=False, unit=" s")


# --- the page --------------------------------------------------------------------------------------------------------


def bold(ratio):
    """A ratio; a loss stands out."""
    if ratio is None:
        return ""
    return f"**{digits(ratio)}**" if ratio < 1 else digits(ratio)


def head(r):
    machine, settings = r.all["machine"], r.all["settings"]
    toy = ["A run of the harness's own test, on a model of toy size: its numbers say nothing.", ""]
    lines = ["# Performance", "", *(toy if r.all["mode"] == "tiny" else []),
             "Written by `bench/peers/run.py`, which [benchmarks.md](benchmarks.md#peers) explains; every number was measured "
             "in one run, none is typed by hand.", ""]
    peers = []
    if r.all.get("llama"):
        peers.append(f"llama.cpp of llama-cpp-python {r.all['llama']['version']} (built for "
                     f"{', '.join(r.all['llama']['built_for'])})")
    peers += r.m.get("products f32", {}).get("versions", {}).values()
    rows = [("machine", f"{machine['processor']}, {machine['cores']} cores"),
            ("instruction sets", ", ".join(machine["sets"]) + ("" if "amx" in machine["sets"] else "; no AMX")),
            ("threads", machine["threads"]), ("compiler", f"{machine['compiler']}, -O2"),
            ("peers", "; ".join(peers) or "none"), ("day", r.all["date"]),
            ("run", f"{r.all['mode']}: {settings['rounds']} turns, medians; prompts of {settings['prompt']} tokens, "
                    f"{settings['decode_tokens']} tokens decoded behind {settings['before']}")]
    disturbed = sum(g.get("disturbed", 0) for g in r.m.values())
    if disturbed:
        rows.append(("disturbed", f"other work was on the machine at the start of {disturbed} timings"))
    lines += table(["", "of this run"], rows)
    lines += ["A ratio is how many times as fast imbrex is as the other, the median of the ratios of single turns, A B A B; "
              "a loss is **bold**. Weights are random, of the models' sizes, but for SmolLM2's. Before anything is timed, both "
              "sides' logits on the same prompt must agree.", ""]
    return lines


def limits(r):
    rows = []
    for threads in dict.fromkeys(("1", r.threads)):
        of = lambda name, scale: digits(r.limit(name, threads) / scale) if r.limit(name, threads) else "-"
        rows.append((threads, of("read", 1e9), of("avx2", 1e9), of("avx512", 1e9), of("amx", 1e9)))
    return ["## The machine", "",
            *table(["threads", "read, GB/s", "f32 AVX2, GFLOP/s", "f32 AVX-512, GFLOP/s", "BF16 AMX, GFLOP/s"], rows)]


def bars(r):
    rows = Bars(r).rows
    return ["## What it must reach", "",
            "\"no AMX here\": the bar is one for machines with AMX, and this machine has none.", "",
            *table(["work", "bar", "aim", "measured", ""], rows)]


def models(r):
    lines = ["## Whole models", "", "Tokens a second. `share`: bytes of weights a token, times tokens a second, over "
             "what memory gave in the same turns. `logits`: how far both sides' are apart.", ""]
    shapes = dict.fromkeys(g["shape"] for prefix in ("model ", "long ") for _, g in r.groups(prefix))
    for shape in shapes:
        groups = [g for prefix in (f"model {shape}", f"long {shape}") for _, g in r.groups(prefix)]
        if groups:
            prompt = max(g["prompt_tokens"] for g in groups)
            lines += [f"### {shape}", "", *table(MODEL_HEADER(prompt), [model_row(r, g) for g in groups])]
    if r.m.get("smollm2", {}).get("seconds"):
        g = r.m["smollm2"] | {"format": "Q4_1"}
        lines += ["### SmolLM2-135M-Instruct as shipped", "", *table(MODEL_HEADER(g["prompt_tokens"]), [model_row(r, g)])]
        if "greedy" in g:
            lines += [f"Of {g['greedy']['tokens']} tokens, chosen greedily, the first {g['greedy']['same_from_start']} are the "
                      "same on both sides.", ""]
    return lines + ["![roofline of models](pictures/roofline_models.svg)", ""]


def MODEL_HEADER(prompt):
    return ["format", f"prompt of {prompt}", "llama.cpp", "ratio", "decode", "llama.cpp", "ratio", "share", "logits"]


def model_row(r, g):
    cells = [g["format"]]
    for name, tokens in (("prompt", g["prompt_tokens"]), ("decode", 1)):
        seconds = g["seconds"].get(name, {})
        cells += [digits(tokens / median(seconds[side])) if side in seconds else "" for side in ("imbrex", "llama.cpp")]
        cells.append(bold(ratio_of(seconds)))
    share = r.bandwidth_share(g) if "decode" in g["seconds"] else None
    return cells + [digits(share) if share else "", small(g["error"]) if "error" in g else ""]


def batches(r):
    rows = []
    for name, g in r.groups("batch "):
        for side in g["seconds"]["1"]:
            one, many = g["seconds"]["1"][side], g["seconds"][str(g["count"])][side]
            rows.append((name, side, digits(1e3 * median(one)), digits(1e3 * median(many)),
                         digits(median([b / a for a, b in zip(one, many)]))))
    return ["## Sixteen sequences at once", "", *table(["model", "side", "one, ms", "16, ms", "16 over one"], rows)] if rows else []


def sets(r):
    rows = []
    for name, g in r.groups("isa "):
        peer = "none" if not g["peer"] else "built for " + (g["isa"] if g["own_build"] else "this machine")
        for what in g["seconds"]:
            rows.append((name, peer, what, bold(ratio_of(g["seconds"][what]))))
    lines = ["## Instruction sets, builds, threads", ""]
    if rows:
        lines += ["imbrex with `IMBREX_ISA`, over llama.cpp:", "",
                  *table(["set, format", "llama.cpp", "work", "ratio"], rows)]
    g = r.m.get("native")
    if g:
        rows = [(what, *[digits(1e3 * median(s[side])) for side in ("plain", "native")],
                 bold(ratio_of(s, "native", "plain"))) for what, s in g["seconds"].items()]
        lines += [f"The same source compiled with a plain -O2, and with -march=native ({g['shape']}, {g['format']}):", "",
                  *table(["work", "-O2, ms", "native, ms", "ratio"], rows)]
    g = r.m.get("threads")
    if g:
        rows = [(what, digits(1e3 * median(s["1"])), digits(1e3 * median(s["2"])),
                 digits(median([a / b for a, b in zip(s["1"], s["2"])]))) for what, s in g["seconds"].items()]
        lines += [f"Threads ({g['shape']}, {g['format']}):", "",
                  *table(["work", "one, ms", "two, ms", "two over one"], rows)]
    return lines if len(lines) > 2 else []


def products(r):
    g = r.m.get("products f32")
    if not g:
        return []
    rows_, outputs, inputs = g["shape"]
    flop = 2.0 * rows_ * outputs * inputs
    versions = {"imbrex": "imbrex", "Eigen": "Eigen, -O3 -march=native"} | g["versions"]
    rows = [(versions[side], digits(1e3 * median(s)), digits(flop / median(s) / 1e9),
             "" if side == "imbrex" else bold(ratio_of(g["seconds"], side))) for side, s in g["seconds"].items()]
    return ["## Products of f32 matrices", "",
            f"({rows_}, {outputs}, {inputs}), four matrices of weights in turn:", "",
            *table(["library", "ms", "GFLOP/s", "imbrex over it"], rows)]


def kernels(r):
    read, lines = r.limit("read"), []
    rows = {}
    for group in ("kernels gemv", "kernels matmul", "kernels attention"):
        rows |= {(group, name): row for name, row in r.m.get(group, {}).get("rows", {}).items()}
    if not rows:
        return []
    peak = r.limit("amx") or r.limit("avx512") or r.limit("avx2")
    shown = [(f"{group.split()[1]} {name}", digits(row["real_time"]), digits(row["FLOP"] / 1e9) if "FLOP" in row else "",
              digits(row["FLOP"] / peak) if peak and "FLOP" in row else "",
              digits(row["bytes"] / 1e9) if "bytes" in row else "",
              digits(row["bytes"] / read) if read and "bytes" in row else "") for (group, name), row in rows.items()]
    unit = "AMX BF16" if r.limit("amx") else "AVX-512 f32" if r.limit("avx512") else "AVX2 f32"
    return ["## Kernels", "", f"Weights, keys and values cold; `of peak` is of {unit}, `of read` of the memory's bandwidth.", "",
            *table(["kernel", "us", "GFLOP/s", "of peak", "GB/s", "of read"], shown),
            "![roofline of kernels](pictures/roofline_kernels.svg)", ""]


def start(r):
    g = r.m.get("first")
    if not g:
        return []
    rows = [(side, digits(median(s))) for side, s in g["seconds"]["beyond"].items()]
    return ["## Start to first token", "",
            f"Seconds beyond the compute of a prompt of {g['tokens']}, {g['shape']} {g['format']} in the page cache; of imbrex "
            "from the start of the process, of llama.cpp from the call that loads the file.", "",
            *table(["side", "s"], rows)]


def accuracy(r):
    rows = r.m.get("accuracy", {}).get("rows")
    if not rows:
        return []
    best = [row for row in rows if "perplexity" in row]
    formats = [(row["format"], row["arithmetic"], small(row["error"]), f"{100 * row['same']:.1f} %",
                f"{row['perplexity']:.3f}") for row in best]
    paths = [(row["format"], row["isa"], row["arithmetic"], small(row["path_error"])) for row in rows]
    return ["## Accuracy", "",
            f"SmolLM2-135M on the {int(best[0]['tokens'])} first tokens of `bench/peers/text.txt`. `error` of the logits, and how often "
            "the likeliest token is the same, against f32 weights and arithmetic; perplexity. Arithmetic `int8` rounds "
            "activations to 8 bits where weights are quantised; `IMBREX_ARITHMETIC=f32` switches it off. "
            "K-quants are as llama.cpp's quantiser writes them (rows that its blocks do not divide in other formats).", "",
            *table(["weights", "arithmetic", "error", "same token", "perplexity"], formats),
            "What kernels alone do: the error against plain loops in f32 on the same stored weights.", "",
            *table(["weights", "set", "arithmetic", "error"], paths)]


def losses(r):
    """Every comparison that imbrex lost."""
    found = []
    for name, g in r.m.items():
        for what, seconds in g.get("seconds", {}).items():
            if isinstance(seconds, dict) and what != "beyond":
                ratio = ratio_of(seconds)
                if ratio is not None and ratio < 1:
                    found.append((f"{name}, {what}", "llama.cpp", digits(ratio)))
    g = r.m.get("products f32", {}).get("seconds", {})
    for side in g:
        ratio = ratio_of(g, side)
        if side != "imbrex" and ratio < 1:
            found.append(("products f32", side, digits(ratio)))
    lines = ["## Losses", ""]
    return lines + (table(["work", "faster", "ratio"], sorted(found, key=lambda row: float(row[2]))) if found
                    else ["None in this run.", ""])


def page_text(results):
    r = Results(results)
    parts = (head, bars, losses, limits, models, batches, start, sets, products, kernels, accuracy)
    return "\n".join(line.rstrip() for part in parts for line in part(r)).rstrip() + "\n"


def pictures(results):
    """{name: SVG}."""
    r = Results(results)
    read = r.limit("read")
    peaks = {label: r.limit(name) for name, label in (("avx2", "AVX2 f32"), ("avx512", "AVX-512 f32"), ("amx", "AMX BF16"))
             if r.limit(name)}
    if not read or not peaks:
        return {}
    kernel_points = []
    for i, group in enumerate(("kernels gemv", "kernels matmul", "kernels attention")):
        for name, row in r.m.get(group, {}).get("rows", {}).items():
            if "FLOP" in row and row.get("bytes"):
                kernel_points.append((f"{group.split()[1]} {name}", row["FLOP"] / row["bytes"], row["FLOP"], COLOURS[i], False))
    model_points = []
    for prefix in ("model ", "long ", "smollm2"):
        for name, g in r.groups(prefix):
            hello, label = g["hello"], (name or "SmolLM2 Q4_1")
            for what, flops in (("decode", hello["flops_per_token"]), ("prompt", g.get("flops", {}).get("prompt"))):
                for side, seconds in g["seconds"].get(what, {}).items():
                    model_points.append((f"{label} {what}" + ("" if side == "imbrex" else ", llama.cpp"),
                                         flops / hello["bytes_per_token"], flops / median(seconds),
                                         COLOURS[what == "prompt"], side != "imbrex"))
    named = {"roofline_kernels.svg": ("Kernels", kernel_points),
             "roofline_models.svg": ("Whole models (filled: imbrex; hollow: llama.cpp)", model_points)}
    return {name: str(Roofline(title, read, peaks, points)) for name, (title, points) in named.items() if points}


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
