#!/usr/bin/env python3
"""imbrex and its peers on this machine: installs the peers, writes models, takes turns, checks answers, reports.

    cmake -S . -B build -DIMBREX_BUILD_BENCH=ON && cmake --build build --target peers_programs
    python3 bench/peers/run.py build                 everything; writes docs/performance.md and this machine's page
    python3 bench/peers/run.py build --quick         some ten minutes: fewer formats and turns
    python3 bench/peers/run.py build --list          the groups of measurements
    python3 bench/peers/run.py build --only decode   groups whose name matches an expression

What was measured is kept in BUILD/peers/results-MODE.json after every group, so that a run that was interrupted goes
on where it was; numbers of other programs, threads, peers or files are thrown away. Needs Python 3.9 and its venv module, and
some 10 GB for model files. Nothing else should run on the machine.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import machine
import report
from groups import LLAMA32, M110, MAIN_FORMATS, TINYLLAMA, WRITTEN, Groups
from sides import HERE, Failed, Progress, Quiet, Worker

ROOT = HERE.parent.parent
# What each environment holds. The product libraries have one of their own: it is there within seconds.
PACKAGES = {"venv": ["llama-cpp-python"], "venv-products": ["numpy", "onednn-cpu-gomp"],
            "venv-avx2": ["llama-cpp-python"], "venv-avx512": ["llama-cpp-python"]}
# llama.cpp for one instruction set, whatever this machine has besides.
SET_FLAGS = {
    "avx2": "-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON -DGGML_AVX512=OFF "
            "-DGGML_AVX_VNNI=OFF",
    "avx512": "-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON -DGGML_AVX512=ON "
              "-DGGML_AVX512_VBMI=ON -DGGML_AVX512_VNNI=ON -DGGML_AVX512_BF16=ON -DGGML_AMX_TILE=OFF "
              "-DGGML_AMX_INT8=OFF -DGGML_AMX_BF16=OFF",
}
MODES = {
    #          rounds, prompt, tokens decoded, steps of 16 sequences, seconds a kernel, tokens of the accuracy text
    "full": dict(rounds=7, prompt=512, decode_tokens=64, batch_steps=16, kernel_seconds=0.5, accuracy_tokens=4096,
                 before=128, check_tokens=64, read_mib=2048),
    "quick": dict(rounds=3, prompt=512, decode_tokens=24, batch_steps=4, kernel_seconds=0.1, accuracy_tokens=512,
                  before=128, check_tokens=32, read_mib=1024),
    "tiny": dict(rounds=1, prompt=16, decode_tokens=2, batch_steps=1, kernel_seconds=0.001, accuracy_tokens=64,
                 before=4, check_tokens=4, read_mib=8),
}


class Harness:
    """Paths, settings and peers of a run."""

    def __init__(self, options):
        self.options, self.mode = options, options.mode
        self.build = pathlib.Path(options.build).resolve()
        self.directory = self.build / "peers"
        (self.directory / "models").mkdir(parents=True, exist_ok=True)
        self.__dict__.update(MODES[self.mode])
        self.threads = options.threads
        # The same for all: threads stay on their cores.
        self.env = {"OMP_NUM_THREADS": str(self.threads), "OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}
        self.quiet = Quiet(patience=0 if self.mode == "tiny" else 20)
        self.progress = Progress()
        self.tell = self.progress.tell
        self.python = self.products_python = None
        self.has_llama, self.libraries, self.set_python = False, [], {}
        if not options.no_peers:
            self._find_peers()
        self._find_smollm2()
        self.accuracy_files = ["Q4_K", "Q5_K", "Q6_K"] if self.has_llama else []

    def program(self, name):
        path = self.build / "bench" / "peers" / name
        if not path.exists():
            raise Failed(f"no {path}: build the target peers_programs first")
        return path

    # --- peers ---------------------------------------------------------------------------------------------------

    def _venv(self, name, flags=None):
        """A virtual environment of the build directory; its packages are installed where they are missing."""
        python = self.directory / name / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        packages = PACKAGES[name] + (["torch"] if name == "venv-products" and self.options.torch else [])
        done = python.parent.parent / ("installed-" + hashlib.sha256(" ".join(packages).encode()).hexdigest()[:8])
        if not done.exists():
            slow = "; it is compiled, which takes some minutes" if "llama-cpp-python" in packages else ""
            print(f"installing {', '.join(packages)} into {python.parent.parent}{slow}", file=sys.stderr, flush=True)
            with open(self.directory / f"{name}.log", "w") as log:
                extra = ["--no-binary", "llama-cpp-python", "--no-cache-dir"] if flags else []
                subprocess.run([python, "-m", "pip", "install", *extra, *packages], check=True, stdout=log,
                               stderr=subprocess.STDOUT, env=os.environ | ({"CMAKE_ARGS": flags} if flags else {}))
            done.touch()
        return python

    def _find_peers(self):
        self.python = pathlib.Path(self.options.python) if self.options.python else self._venv("venv")
        self.has_llama = self._imports("llama_cpp")
        self.products_python = self._venv("venv-products")
        candidates = ["openblas", "onednn"] + (["torch"] if self.options.torch else [])
        self.libraries = [name for name in candidates if self._works(name)]
        for isa in ("avx2", "avx512"):
            given = getattr(self.options, f"{isa}_python")
            if given:
                self.set_python[isa] = pathlib.Path(given)
            elif self.options.build_sets:
                self.set_python[isa] = self._venv(f"venv-{isa}", SET_FLAGS[isa])

    def _imports(self, module):
        return subprocess.run([self.python, "-c", f"import {module}"], capture_output=True).returncode == 0

    def _works(self, library):
        try:
            with Worker([self.products_python, HERE / "product_side.py", library, self.threads], self.env) as worker:
                worker.ask("product", 4, 4, 4)
            return True
        except Failed:
            return False

    def llama_version(self, python=None):
        out = subprocess.run([python or self.python, HERE / "llama_side.py", "version"], capture_output=True, text=True,
                             check=True).stdout
        return json.loads(out)

    # --- files ---------------------------------------------------------------------------------------------------

    def model(self, shape, format_name):
        """The file of a shape in a format; written where it is missing."""
        path = self.directory / "models" / f"{shape}-{format_name}.gguf"
        if not path.exists():
            self.tell(f"writing {path.name}")
            if format_name in WRITTEN:
                partial = path.with_suffix(".partial")
                subprocess.run([self.program("imbrex_side"), "write", shape, format_name, partial], check=True)
                partial.rename(path)
            else:
                self.quantize(self.model(shape, "F16"), path, format_name)
        return path

    def quantize(self, source, path, format_name):
        partial = path.with_suffix(".partial")
        subprocess.run([self.python, HERE / "llama_side.py", "quantize", source, partial, format_name], check=True)
        partial.rename(path)

    def _find_smollm2(self):
        kept = os.environ.get("IMBREX_MODEL_DIR", os.path.expanduser("~/.cache/imbrex"))
        path = pathlib.Path(self.options.model or f"{kept}/SmolLM2-135M-Instruct.Q4_1.gguf")
        self.smollm2 = path if path.exists() and self.mode != "tiny" else None
        given = pathlib.Path(self.options.f32_model) if self.options.f32_model else None
        self.smollm2_f32 = (given if given and self.mode != "tiny" else None) or self.smollm2


def plan(h):
    """The groups of a run, in order: {name: function}."""
    g, groups = Groups(h), {"limits": lambda: Groups(h).limits()}
    main = {"full": TINYLLAMA, "quick": TINYLLAMA, "tiny": "tiny"}[h.mode]
    can = lambda formats: [f for f in formats if f in WRITTEN or h.has_llama]
    groups["products f32"] = lambda: g.products((32, 64, 64) if h.mode == "tiny" else (512, 4096, 4096))
    if h.mode != "tiny":
        groups["kernels gemv"] = lambda: g.kernels("bench_gemv", r"/(avx2|avx512|amx)/cold")
        groups["kernels matmul"] = lambda: g.kernels(
            "bench_matmul", r"^(llama2_q|tinyllama_gate)/(F32|F16|BF16|Q8_0|Q4_0|Q4_1|Q4_K|Q6_K)/rows:512")
        groups["kernels attention"] = lambda: g.kernels("bench_attention", r"(prompt|decode)/.*:4096")
        groups["smollm2"] = lambda: g.smollm2()
    if h.mode == "tiny":
        formats = {"F16": True, "Q4_0": True}
    else:  # the value: whether the prompt is timed too
        formats = {f: h.mode == "full" or f not in ("Q4_1", "Q4_K", "Q6_K") for f in MAIN_FORMATS}
    for f in can(formats):
        groups[f"model {main} {f}"] = lambda f=f: g.model(main, f, h.prompt if formats[f] else 0)
    if h.mode != "tiny":
        for f in can({"quick": ["Q8_0"], "full": ["F16", "BF16", "Q8_0", "Q4_0", "Q4_K_M"]}[h.mode]):
            groups[f"long {M110} {f}"] = lambda f=f: g.model(M110, f, 4096)
    if h.mode == "full":
        for f in can(["BF16", "Q8_0", "Q4_0", "Q4_K_M"]):
            groups[f"model {LLAMA32} {f}"] = lambda f=f: g.model(LLAMA32, f, h.prompt)
    for f in ["Q4_0"] if h.mode == "tiny" else ["BF16", "Q8_0", "Q4_0"]:
        groups[f"batch {main} {f}"] = lambda f=f: g.batch(main, f)
    groups["threads"] = lambda: g.one_and_two_threads(main, "Q4_0")
    groups["native"] = lambda: g.native(main if h.mode == "tiny" else M110, "Q4_0")
    for isa in ("avx512", "avx2"):
        # The machine's best set is the whole models' already, unless there is a peer built for it.
        best = machine.cpu_flags()[-1:] == [isa] and isa not in h.set_python and h.mode != "tiny"
        if isa in machine.cpu_flags() and not best:
            for f in ["Q4_0"] if h.mode != "full" else ["BF16", "Q8_0", "Q4_0", "Q4_K_M"]:
                if f in can([f]):
                    groups[f"isa {isa} {f}"] = lambda isa=isa, f=f: g.isa(isa, main, f)
    groups["first"] = lambda: g.first_token(main, "Q4_0")
    if h.mode != "tiny":
        groups["accuracy"] = lambda: g.accuracy()
    return groups


def library_commit():
    """The last commit that changed the headers; with a + where they differ from it. None where git cannot say."""
    if not shutil.which("git"):
        return None
    git = lambda *words: subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True).stdout.strip()
    commit = git("log", "-1", "--format=%h", "--", "include")
    changed = git("status", "--porcelain", "--", "include")
    return commit + ("+" if changed else "") if commit else None


def conditions(h):
    """What every number depends on, as a hash: our programs, the machine and its threads, the peers and the files."""
    programs = ("imbrex_side", "imbrex_side_native", "eigen_side", "accuracy")
    given = {"machine": machine.describe(h.build, h.threads), "libraries": h.libraries, "python": str(h.python),
             "llama": h.llama_version() if h.has_llama else None, "sets": {k: str(v) for k, v in h.set_python.items()},
             "files": [str(h.smollm2), str(h.smollm2_f32)]}
    digest = hashlib.sha256(json.dumps(given, sort_keys=True).encode())
    for name in programs:
        digest.update(h.program(name).read_bytes())
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="the build directory")
    mode = parser.add_mutually_exclusive_group()
    for name in ("quick", "full", "tiny"):
        mode.add_argument(f"--{name}", dest="mode", action="store_const", const=name)
    parser.add_argument("--python", help="a Python that has llama-cpp-python, instead of an environment of its own")
    parser.add_argument("--avx2-python", help="one with llama.cpp built for AVX2")
    parser.add_argument("--avx512-python", help="one with llama.cpp built for AVX-512 without AMX")
    parser.add_argument("--build-sets", action="store_true", help="build those two (some minutes each)")
    parser.add_argument("--torch", action="store_true", help="install torch too (gigabytes)")
    parser.add_argument("--no-peers", action="store_true", help="imbrex alone")
    parser.add_argument("--model", help="SmolLM2's file, if it is not where the tests keep it")
    parser.add_argument("--f32-model", help="the same in F32, for accuracy; without it the shipped weights are decoded")
    parser.add_argument("--only", default="", help="groups whose name matches this expression; others are left as they are")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--list", action="store_true", help="show the groups and what there is of them")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of every program")
    parser.add_argument("--report", help="write pages and numbers below this directory, not to docs/ and bench/peers/measured/ "
                                         "(in tiny mode it is the build directory's peers/)")
    options = parser.parse_args()
    options.mode = options.mode or "full"

    h = Harness(options)
    now = conditions(h)
    store = h.directory / f"results-{h.mode}.json"
    results = json.loads(store.read_text()) if store.exists() and not options.fresh else {}
    if results.get("conditions") != now:
        if results.get("measured") and not options.list:
            print("programs, machine, peers or files are others than before: measuring anew", file=sys.stderr)
        results = {"conditions": now, "mode": h.mode, "measured": {}}
    groups = plan(h)
    if options.list:
        for name in groups:
            print(("measured  " if name in results["measured"] else "          ") + name)
        return 0
    results["machine"] = machine.describe(h.build, h.threads)
    results["imbrex"] = library_commit()
    results["settings"] = {key: getattr(h, key) for key in MODES[h.mode]}
    results["date"] = time.strftime("%Y-%m-%d")
    results["llama"] = h.llama_version() if h.has_llama else None
    chosen = [n for n in groups if re.search(options.only, n)]
    failed = []
    for number, name in enumerate(chosen):
        h.progress.begin(name, number + 1, len(chosen))
        if name in results["measured"]:
            h.progress.end("measured before")
            continue
        disturbed, start = h.quiet.disturbed, time.monotonic()
        try:
            measured = groups[name]()
        except (Failed, subprocess.CalledProcessError, OSError) as error:
            h.progress.end(f"FAILED: {error}")
            failed.append(name)
            continue
        measured["disturbed"] = h.quiet.disturbed - disturbed
        measured["date"] = time.strftime("%Y-%m-%d")
        results["measured"][name] = measured
        partial = store.with_suffix(".partial")
        partial.write_text(json.dumps(results, indent=1))
        partial.rename(store)
        h.progress.end(f"{time.monotonic() - start:.0f} s" +
                       (f", the machine was busy {measured['disturbed']} times" if measured["disturbed"] else ""))
    apart = options.report or (h.directory if h.mode == "tiny" else None)
    docs, numbers = (pathlib.Path(apart), pathlib.Path(apart) / "measured") if apart else (report.DOCS, report.NUMBERS)
    report.keep(results, numbers)
    report.write(docs, numbers)
    print(report.summary(results))
    print(f"written: {docs / 'performance.md'}")
    if failed:
        print("failed: " + ", ".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        sys.exit(f"run.py: {error}")
    except KeyboardInterrupt:
        sys.exit("\nrun.py: interrupted; the same command goes on where it was")
