"""The page of a machine."""

from bars import Bars
from machine import sets_text
from results import ratio_of
from sides import median
from tables import bold, digits, small, table, text_of, toy_warning


def head(r):
    machine, settings = r.machine, r.all["settings"]
    lines = [f"# Performance: {r.slug}", "", *toy_warning([r]),
             "Written by `bench/peers/run.py`, which [benchmarks.md](../benchmarks.md#peers) explains; every number was measured "
             "in one run, none is typed by hand. [All machines](../performance.md) stand side by side.", ""]
    peers = []
    if r.all.get("llama"):
        peers.append(f"llama.cpp of llama-cpp-python {r.all['llama']['version']} (built for "
                     f"{', '.join(r.all['llama']['built_for'])})")
    peers += r.m.get("products f32", {}).get("versions", {}).values()
    rows = [("machine", f"{machine['processor']}, {machine['cores']} cores"),
            ("instruction sets", sets_text(machine) + ("; no AMX" if r.lacks("amx") else "")),
            ("threads", machine["threads"]), ("compiler", f"{machine['compiler']}, -O2"),
            *([("imbrex", f"commit {r.all['imbrex']}")] if r.all.get("imbrex") else []),
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
    g = r.shipped()
    if g:
        lines += ["### SmolLM2-135M-Instruct as shipped", "", *table(MODEL_HEADER(g["prompt_tokens"]), [model_row(r, g)])]
        if "greedy" in g:
            lines += [f"Of {g['greedy']['tokens']} tokens, chosen greedily, the first {g['greedy']['same_from_start']} are the "
                      "same on both sides.", ""]
    return lines


def MODEL_HEADER(prompt):
    return ["format", f"prompt of {prompt}", "llama.cpp", "ratio", "decode", "llama.cpp", "ratio", "share", "logits"]


def speeds(g):
    """Of a prompt and of decoding: tokens a second of imbrex and of its peer, and the ratio."""
    cells = []
    for name, tokens in (("prompt", g["prompt_tokens"]), ("decode", 1)):
        seconds = g["seconds"].get(name, {})
        cells += [digits(tokens / median(seconds[side])) if side in seconds else "" for side in ("imbrex", "llama.cpp")]
        cells.append(bold(ratio_of(seconds)))
    return cells


def model_row(r, g):
    share = r.bandwidth_share(g) if "decode" in g["seconds"] else None
    return [g["format"], *speeds(g), digits(share) if share else "", small(g["error"]) if "error" in g else ""]


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
            *table(["kernel", "us", "GFLOP/s", "of peak", "GB/s", "of read"], shown)]


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
            "activations to 8 bits where weights are quantised, and to bf16 in products of bf16; `IMBREX_ARITHMETIC=f32` switches it off. "
            "K-quants are as llama.cpp's quantiser writes them (rows that its blocks do not divide in other formats).", "",
            *table(["weights", "arithmetic", "error", "same token", "perplexity"], formats),
            "What kernels alone do: the error against plain loops in f32 on the same stored weights.", "",
            *table(["weights", "set", "arithmetic", "error"], paths)]


def losses(r):
    rows = [(work, faster, digits(ratio)) for work, faster, ratio in r.losses()]
    return ["## Losses", "", *(table(["work", "faster", "ratio"], rows) if rows else ["None in this run.", ""])]


# What a page has, in order; pictures stand behind their sections.
PARTS = (head, bars, losses, limits, models, batches, start, sets, products, kernels, accuracy)


def page_text(r, pictures):
    """`pictures`: {what a roofline is of: its file beside the page}."""
    lines = []
    for part in PARTS:
        lines += part(r)
        of = part.__name__
        if of in pictures:
            lines += [f"![roofline of {of}]({pictures[of]})", ""]
    return text_of(lines)
