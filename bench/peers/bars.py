"""What the library must reach, and what was reached."""

from typing import NamedTuple

from results import ratio_of
from sides import median
from tables import NOT_MEASURED, digits

# What a value says of a bar, or why there is none.
HOLDS, MISSED, UNMEASURED = "holds", "missed", "not measured"
UNSURE = "unknown: decode read faster than the measure of memory"
NEEDS_AMX, NOT_RUN = "no AMX here", "not run: "
SPELLED = {"amx": "AMX", "avx512": "AVX-512", "avx2": "AVX2"}


class Bar(NamedTuple):
    work: str
    bar: str
    aim: str
    measured: str
    verdict: str

    def cell(self):
        """Value and verdict in as few characters as tell them apart."""
        if self.verdict.startswith(NOT_RUN):
            return self.verdict[len(NOT_RUN):]
        marked = {MISSED: "**{}**", UNSURE: "{}?", NEEDS_AMX: "({})", UNMEASURED: NOT_MEASURED}
        return marked.get(self.verdict, "{}").format(self.measured)


class Bars:
    """The rows of the table of bars, the same works in the same order for every run."""

    def __init__(self, results):
        self.r, self.rows = results, []
        self.main = f"model {results.main_shape()}"
        self.amx = results.limit("amx")
        for part in (self.amx_rows, self.prompts, self.decoding, self.others):
            part()

    def add(self, work, bar, aim, value, least=True, shown=digits, unit="", needs_amx=False, isa=None):
        """`needs_amx`: the bar is one for machines with AMX; `isa`: the set that the work is done with, where it has one."""
        if value is None:
            verdict = f"{NOT_RUN}no {SPELLED[isa]}" if isa and self.r.lacks(isa) else UNMEASURED
            self.rows.append(Bar(work, bar, aim, "", verdict))
            return
        number = float(bar.split()[0])
        holds = value >= number if least else value <= number
        verdict = HOLDS if holds else NEEDS_AMX if needs_amx and self.r.lacks("amx") else MISSED
        if "share of read bandwidth" in work and value > 1.05:
            verdict = UNSURE
        self.rows.append(Bar(work, bar, aim, shown(value) + unit, verdict))

    def amx_rows(self):
        kernels = self.r.m.get("kernels matmul", {}).get("rows", {})
        for f, bar in (("BF16", "0.33"), ("Q8_0", "0.42"), ("Q4_0", "0.42"), ("Q4_K", "0.42")):
            row = kernels.get(f"llama2_q/{f}/rows:512")
            self.add(f"matmul (512,4096,4096) {f}, share of AMX BF16", bar, "0.50",
                     row["FLOP"] / self.amx if row and self.amx else None, isa="amx")
        attention = self.r.m.get("kernels attention", {}).get("rows", {})
        for model, bar in (("llama2", "0.28"), ("llama3", "0.31")):
            row = attention.get(f"prompt/{model}/tokens:4096")
            heads = {"llama2": "32/32", "llama3": "32/8"}[model]
            self.add(f"attention of 4096, heads {heads} x 128, share of AMX BF16", bar, "0.40",
                     row["FLOP"] / self.amx if row and self.amx else None, isa="amx")

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
        self.add("prompt of 512, TinyLlama, share of AMX BF16, best format", "0.30", "0.42", best, isa="amx")
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
                         min(found) if found else None, isa=isa)
        g = self.r.m.get("first")
        self.add("start to first token beyond the prompt's compute, 1.1B", "0.3 s at most", "0.1 s",
                 median(g["seconds"]["beyond"]["imbrex"]) if g else None, least=False, unit=" s")
