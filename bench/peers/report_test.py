"""How pages are made of numbers: those of the project, and copies of them with another machine, sets and values."""

import contextlib
import io
import json
import pathlib
import re
import tempfile
import unittest

import report
from bars import Bars
from machine import generation, slug
from results import Results

AMD = {"processor": "AMD EPYC 9R14 96-Core Processor", "cores": 2, "threads": 2, "sets": ["avx2", "avx512"],
       "extensions": ["avx512_vnni", "avx512_bf16"], "compiler": "c++ 12.2.0", "system": "Linux"}
WITH_AMX = {**AMD, "processor": "Intel(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz", "sets": ["avx2", "avx512", "amx"]}
PROMPT_OVER_PEER = "prompt of 512, TinyLlama, over the fastest peer format"
PRODUCT = "matmul (512,4096,4096) BF16, share of AMX BF16"


def group(shape, format_name, ratio):
    """One turn, in which the peer took 1 s, and imbrex as much less as the ratio says."""
    seconds = {"imbrex": [1 / ratio], "llama.cpp": [1.0]}
    return {"hello": {"isa": "avx512", "bytes_per_token": 1e9, "flops_per_token": 2e9}, "shape": shape, "format": format_name,
            "prompt_tokens": 512, "error": 1e-3, "seconds": {"prompt": seconds, "decode": seconds}, "read": [2e9],
            "flops": {"prompt": 1e12}, "disturbed": 0}


def made_up(machine, ratio=2.0, amx=None):
    """What run.py keeps of a machine."""
    entry = {"rate": amx} if amx else {"missing": "no AMX"}
    limits = {"2": {"read": {"rate": 2e10}, "avx512": {"rate": 3e11}, "avx2": {"rate": 2e11}, "amx": entry}}
    return {"mode": "quick", "machine": machine, "settings": {"rounds": 1, "prompt": 512, "decode_tokens": 24, "before": 128},
            "date": "2026-01-02", "llama": None,
            "measured": {"limits": limits, "model tinyllama-1.1b Q4_K_M": group("tinyllama-1.1b", "Q4_K_M", ratio)}}


def section(text, heading):
    """The cells of the table below a heading."""
    lines = text.split(f"## {heading}\n")[1].split("\n## ")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


class Slugs(unittest.TestCase):
    def test_what_tells_processors_apart_is_left(self):
        for processor, sets, want in (
                ("Intel(R) Xeon(R) Processor", ["avx2", "avx512"], "intel-xeon-avx512"),
                ("Intel(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz", ["avx2", "avx512", "amx"], "intel-xeon-platinum-8488c-amx"),
                ("AMD EPYC", ["avx2"], "amd-epyc-avx2"),
                ("AMD EPYC 9R14 96-Core Processor", ["avx2", "avx512"], "amd-epyc-9r14-avx512"),
                ("AMD Ryzen 7 7840U with Radeon 780M Graphics", ["avx2", "avx512"], "amd-ryzen-7-7840u-avx512"),
                ("aarch64", [], "aarch64")):
            self.assertEqual(slug({"processor": processor, "sets": sets}), want)

    def test_generation_tells_where_a_name_has_no_number(self):
        for processor, want in (("AMD EPYC", "amd-epyc-zen5-avx512"), ("AMD EPYC 9R14", "amd-epyc-9r14-avx512")):
            self.assertEqual(slug({"processor": processor, "generation": "Zen 5", "sets": ["avx512"]}), want)

    def test_generations(self):
        text = "vendor_id\t: {}\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: some name\nflags\t\t: fpu {}\n"
        for vendor, family, model, flags, want in (
                ("AuthenticAMD", 25, 1, "avx2", "Zen 3"), ("AuthenticAMD", 25, 17, "avx2 avx512f", "Zen 4"),
                ("AuthenticAMD", 26, 2, "avx512f", "Zen 5"), ("GenuineIntel", 6, 143, "amx_bf16", "Sapphire Rapids"),
                ("GenuineIntel", 6, 9, "", None), ("Other", 26, 2, "", None)):
            self.assertEqual(generation(text.format(vendor, family, model, flags)), want)
        self.assertIsNone(generation("processor : 0\n"))


class Cells(unittest.TestCase):
    def cell(self, results, work):
        return {bar.work: bar.cell() for bar in Bars(Results(results)).rows}[work]

    def test_each_state_has_a_cell_of_its_own(self):
        work = "decode Q4_K_M over llama.cpp"  # the bar: 1.5
        self.assertEqual(self.cell(made_up(AMD, 2), work), "2.00")
        self.assertEqual(self.cell(made_up(AMD, 1.25), work), "**1.25**")
        self.assertEqual(self.cell(made_up(AMD), "decode F16 over llama.cpp"), "-")
        self.assertEqual(self.cell(made_up(AMD), PRODUCT), "no AMX")
        self.assertEqual(self.cell(made_up(AMD), "prompt of 4096, 110M, over the fastest peer format"), "-")
        self.assertEqual(self.cell(made_up(WITH_AMX, amx=1e12), PRODUCT), "-")
        self.assertEqual(self.cell(made_up(AMD, 2), PROMPT_OVER_PEER), "(2.00)")  # the bar: 3.3
        self.assertEqual(self.cell(made_up(AMD, 4), PROMPT_OVER_PEER), "4.00")
        self.assertEqual(self.cell(made_up(WITH_AMX, 2, amx=1e12), PROMPT_OVER_PEER), "**2.00**")

    def test_a_set_that_the_machine_has_not_is_not_just_unmeasured(self):
        work = "without AMX: avx512, prompt over llama.cpp, worst format"
        old = made_up({**AMD, "sets": ["avx2"]})
        old["measured"] = {}
        self.assertEqual(self.cell(old, work), "no AVX-512")
        self.assertEqual(self.cell(old, work.replace("avx512", "avx2")), "-")

    def test_amx_that_the_system_withholds_is_none(self):
        self.assertEqual(self.cell(made_up(WITH_AMX), PRODUCT), "no AMX")

    def test_decoding_faster_than_memory_is_no_verdict(self):
        results = made_up(AMD)
        g = group("tinyllama-1.1b", "Q4_0", 4.0)  # 1e9 bytes in 1/4 s, where memory gave 2e9 a second
        results["measured"]["model tinyllama-1.1b Q4_0"] = g
        self.assertEqual(self.cell(results, "decode Q4_0, share of read bandwidth"), "2.00?")


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.docs = pathlib.Path(folder.name)
        self.numbers = self.docs / "measured"
        self.kept = {path.stem: json.loads(path.read_text()) for path in report.NUMBERS.glob("*.json")}
        for results in (*self.kept.values(), made_up(AMD), made_up(WITH_AMX, 0.5, amx=1e12)):
            report.keep(results, self.numbers)
        report.write(self.docs, self.numbers)

    def faults(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            failed = report.check(self.docs, self.numbers)
        self.assertEqual(failed, 0 if "stale" not in out.getvalue() else 1)
        return out.getvalue() if failed else ""

    def first_page(self):
        return (self.docs / "performance.md").read_text()

    def test_what_was_written_is_what_is_wanted(self):
        self.assertEqual(self.faults(), "")

    def test_a_run_takes_the_place_of_one_of_its_kind_alone(self):
        before = {path.name: path.read_text() for path in self.numbers.iterdir()}
        report.keep({"conditions": "some", **made_up(AMD, 3)}, self.numbers)
        after = {path.name: path.read_text() for path in self.numbers.iterdir()}
        self.assertEqual(sorted(before), sorted(after))
        self.assertEqual([name for name in before if before[name] != after[name]], ["amd-epyc-9r14-avx512.json"])
        self.assertNotIn("conditions", after["amd-epyc-9r14-avx512.json"])

    def test_every_machine_is_a_column_and_a_page(self):
        slugs = sorted([*self.kept, "amd-epyc-9r14-avx512", "intel-xeon-platinum-8488c-amx"])
        header, _, *rows = section(self.first_page(), "What it must reach")
        self.assertEqual(header, ["work", "bar", "aim", *slugs])
        at = header.index("amd-epyc-9r14-avx512")
        self.assertEqual({row[0]: row[at] for row in rows}["decode Q4_K_M over llama.cpp"], "2.00")
        _, _, *machines = section(self.first_page(), "Machines")
        self.assertEqual([row[0] for row in machines], [f"[{s}](performance/{s}.md)" for s in slugs])
        self.assertIn("avx2, avx512 (with avx512_vnni, avx512_bf16)", machines[0][3])

    def test_losses_of_all_machines_the_worst_first(self):
        _, _, *rows = section(self.first_page(), "Losses")
        ratios = [float(row[3]) for row in rows]
        self.assertEqual(ratios, sorted(ratios))
        self.assertEqual({row[1] for row in rows if row[3] == "0.500"}, {"intel-xeon-platinum-8488c-amx"})

    def test_whole_models_stand_by_format(self):
        _, _, *rows = section(self.first_page(), "Whole models")
        self.assertIn(["tinyllama-1.1b, Q4_K_M", "amd-epyc-9r14-avx512", "1024", "2.00", "2.00", "2.00"], rows)
        self.assertIn(["tinyllama-1.1b, Q4_K_M", "intel-xeon-platinum-8488c-amx", "256", "**0.500**", "0.500", "**0.500**"], rows)
        names = [row[0] for row in rows]
        for name in set(names):  # rows of one model stand together
            first, count = names.index(name), names.count(name)
            self.assertEqual(names[first:first + count], [name] * count)

    def test_columns_are_aligned(self):
        for page in self.docs.rglob("*.md"):
            for text in re.findall(r"(?:^\|.*\n)+", page.read_text(), re.M):
                bars = [[at for at, c in enumerate(line) if c == "|"] for line in text.splitlines()]
                self.assertEqual(bars, [bars[0]] * len(bars), page)

    def test_links_lead_to_files(self):
        for page in self.docs.rglob("*.md"):
            for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
                if not target.endswith("benchmarks.md"):
                    self.assertTrue((page.parent / target).exists(), f"{page}: {target}")

    def test_numbers_without_a_page(self):
        (self.docs / "performance" / "amd-epyc-9r14-avx512.md").unlink()
        self.assertIn("amd-epyc-9r14-avx512.md: missing", self.faults())

    def test_a_page_without_numbers(self):
        (self.numbers / "amd-epyc-9r14-avx512.json").unlink()
        faults = self.faults()
        self.assertIn("amd-epyc-9r14-avx512.md: there are no numbers for it", faults)
        self.assertIn("amd-epyc-9r14-avx512-models.svg: there are no numbers for it", faults)
        self.assertIn("performance.md", faults)

    def test_numbers_under_another_machines_name(self):
        (self.numbers / "amd-epyc-9r14-avx512.json").rename(self.numbers / "some.json")
        self.assertIn("some.json: the numbers of amd-epyc-9r14-avx512", self.faults())

    def test_a_number_typed_by_hand(self):
        for path in (self.docs / "performance.md", self.docs / "performance" / "amd-epyc-9r14-avx512.md",
                     self.docs / "performance" / "pictures" / "amd-epyc-9r14-avx512-models.svg"):
            text = path.read_text()
            path.write_text(text.replace("2", "3", 1))
            self.assertIn(str(path), self.faults())
            path.write_text(text)

    def test_no_numbers_at_all(self):
        for path in self.numbers.iterdir():
            path.unlink()
        self.assertIn(f"{self.numbers}: no numbers", self.faults())


if __name__ == "__main__":
    unittest.main()
