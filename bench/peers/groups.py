"""What is measured, a group at a time; each gives a dictionary of plain numbers, which report.py reads."""

import json
import math
import os
import re
import struct
import subprocess
import time

from sides import HERE, Failed, Worker, turns

TINYLLAMA, M110, LLAMA32 = "tinyllama-1.1b", "llama-110m", "llama-3.2-1b"
MAIN_FORMATS = ("BF16", "F16", "Q8_0", "Q4_0", "Q4_K_M", "Q4_1", "Q4_K", "Q6_K")  # of TinyLlama
WRITTEN = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1")  # by our own writer; others by llama.cpp's quantiser

# How far a product of two right programs may be apart, relative to its result: activations in f16, in bf16
# (half a step of 8 bits, of random sign), in 8 bits a block of 32; a cache in f16.
STEP = {"F32": 1e-3, "F16": 1e-3, "BF16": 4e-3}
STEP_QUANTISED = 8e-3


def allowed_error(format_name, layers):
    """Seven products a layer and the head, errors of random sign; either side errs."""
    return 2 * STEP.get(format_name, STEP_QUANTISED) * math.sqrt(7 * layers + 1)


def floats(path):
    data = path.read_bytes()
    return struct.unpack(f"<{len(data) // 4}f", data)


def distance(got, want):
    return math.sqrt(sum((g - w) ** 2 for g, w in zip(got, want)) / sum(w * w for w in want))


class Groups:
    """`h` is the harness: paths, sizes of the runs, and who the peers are."""

    def __init__(self, harness):
        self.h = harness

    # --- models --------------------------------------------------------------------------------------------------

    def imbrex(self, path, env=None, native=False):
        return Worker([self.h.program("imbrex_side_native" if native else "imbrex_side"), "serve", path],
                      self.h.env | (env or {}))

    def llama(self, path, python=None):
        return Worker([python or self.h.python, HERE / "llama_side.py", "serve", path, self.h.threads], self.h.env)

    def sides(self, path, env=None, python=None):
        sides = {"imbrex": self.imbrex(path, env)}
        if python or self.h.has_llama:
            sides["llama.cpp"] = self.llama(path, python)
        return sides

    def check(self, sides, format_name, count):
        """The error of imbrex's logits against the peer's; Failed where it is too large."""
        if len(sides) < 2:
            return {}
        rows = []
        for side, worker in sides.items():
            path = self.h.directory / f"logits-{len(rows)}.bin"
            worker.ask("logits", count, path)
            rows.append(floats(path))
            path.unlink()
        error = distance(*rows)
        allowed = allowed_error(format_name, sides["imbrex"].hello["layers"])
        if not error <= allowed:
            raise Failed(f"{format_name}: the logits differ by {error:.3g}, allowed {allowed:.3g}: nothing is timed")
        return {"error": error, "allowed": allowed}

    def timed(self, path, format_name, requests, env=None, python=None, rounds=None):
        """Both sides on one file: answers checked, then turns."""
        sides = self.sides(path, env, python)
        try:
            result = {"hello": sides["imbrex"].hello, "file_bytes": os.path.getsize(path)}
            result |= self.check(sides, format_name, self.h.check_tokens)
            with Worker([self.h.program("imbrex_side"), "limits"], self.h.env, speaks=False) as machine:
                # What memory gives wanders on a shared machine: it is read in the same turns.
                read = lambda: machine.ask("read", self.h.read_mib)["rate"]
                result["seconds"] = turns(sides, requests, rounds or self.h.rounds, self.h.quiet, self.h.tell,
                                          {"decode": read})
            if "beside" in result["seconds"].get("decode", {}):
                result["read"] = result["seconds"]["decode"].pop("beside")
            result["flops"] = {name: sides["imbrex"].ask("flops", words[1])["flops"]
                               for name, words, *_ in requests if words[0] == "prompt"}
            return result
        finally:
            for worker in sides.values():
                worker.__exit__()

    def decode_request(self):
        return ("decode", ("decode", self.h.before, self.h.decode_tokens))

    def prompt_request(self, tokens):
        return ("prompt", ("prompt", tokens), ("prompt", min(tokens, 64)))

    def model(self, shape, format_name, prompt, decode=True):
        requests = [self.decode_request()] if decode else []
        if prompt:
            requests.append(self.prompt_request(prompt))
        result = self.timed(self.h.model(shape, format_name), format_name, requests)
        return result | {"shape": shape, "format": format_name, "prompt_tokens": prompt}

    def batch(self, shape, format_name):
        count, steps = 16, self.h.batch_steps
        requests = [(str(n), ("batch", n, 16, steps)) for n in (1, count)]
        return self.timed(self.h.model(shape, format_name), format_name, requests) | {"count": count}

    def one_and_two_threads(self, shape, format_name):
        path = self.h.model(shape, format_name)
        seconds = {"prompt": {"1": [], "2": []}, "decode": {"1": [], "2": []}}
        with self.imbrex(path) as worker:
            for name, words, *warm in (self.prompt_request(self.h.prompt), self.decode_request()):
                for turn in range(-1, self.h.rounds):
                    for threads in (1, 2):
                        self.h.tell(f"{name}, {threads} threads, turn {turn + 1}")
                        worker.ask("threads", threads)
                        self.h.quiet.wait()
                        taken = worker.ask(*(words if turn >= 0 or not warm else warm[0]))["seconds"]
                        if turn >= 0:
                            seconds[name][str(threads)].append(taken)
        return {"shape": shape, "format": format_name, "seconds": seconds}

    def native(self, shape, format_name):
        """The program of a plain -O2 build and that of one for this machine."""
        path = self.h.model(shape, format_name)
        with self.imbrex(path) as plain, self.imbrex(path, native=True) as native:
            requests = [self.prompt_request(self.h.prompt), self.decode_request()]
            seconds = turns({"plain": plain, "native": native}, requests, self.h.rounds + 2, self.h.quiet, self.h.tell)
        return {"shape": shape, "format": format_name, "seconds": seconds}

    def isa(self, isa, shape, format_name):
        python = self.h.set_python.get(isa)
        result = self.timed(self.h.model(shape, format_name), format_name,
                            [self.prompt_request(self.h.prompt), self.decode_request()],
                            {"IMBREX_ISA": isa}, python)
        peer = self.h.llama_version(python) if (python or self.h.has_llama) else None
        return result | {"isa": isa, "shape": shape, "format": format_name, "peer": peer, "own_build": bool(python)}

    def smollm2(self):
        path = self.h.smollm2
        if path is None:
            return {"missing": "the model's file"}
        result = self.timed(path, "Q4_1", [self.decode_request(), self.prompt_request(self.h.prompt)],
                            rounds=self.h.rounds + 2)
        sides = self.sides(path)
        try:
            tokens = [worker.ask("greedy", 64, 32)["tokens"] for worker in sides.values()]
        finally:
            for worker in sides.values():
                worker.__exit__()
        if len(tokens) == 2:
            same = 0
            while same < len(tokens[0]) and tokens[0][same] == tokens[1][same]:
                same += 1
            result["greedy"] = {"tokens": len(tokens[0]), "same_from_start": same}
        return result | {"prompt_tokens": self.h.prompt}

    def first_token(self, shape, format_name):
        """From the start of the process (of loading, for a peer in Python) to the first token, less the same prompt's
        time once the model is there."""
        path, count = self.h.model(shape, format_name), 32
        path.read_bytes()  # in the page cache
        commands = {"imbrex": [self.h.program("imbrex_side"), "first", path, count]}
        if self.h.has_llama:
            commands["llama.cpp"] = [self.h.python, HERE / "llama_side.py", "first", path, count, self.h.threads]
        beyond = {side: [] for side in commands}
        for turn in range(self.h.rounds + 1):
            for side, command in commands.items():
                self.h.tell(f"{side}, turn {turn} of {self.h.rounds}")
                self.h.quiet.wait()
                start = time.perf_counter()
                worker = Worker(command, self.h.env)
                taken = time.perf_counter() - start if side == "imbrex" else worker.hello["seconds"]
                again = worker._read()["seconds"]
                worker.__exit__()
                if turn > 0:
                    beyond[side].append(taken - again)
        return {"shape": shape, "format": format_name, "tokens": count, "seconds": {"beyond": beyond}}

    # --- the machine, and products -------------------------------------------------------------------------------

    def limits(self):
        """Rates with all threads and with one; the highest of some, as others' work can only lower them."""
        with Worker([self.h.program("imbrex_side"), "limits"], self.h.env, speaks=False) as worker:
            def rate(*words):
                answers = []
                for _ in range(self.h.rounds):
                    self.h.quiet.wait()
                    answers.append(worker.ask(*words))
                return answers[0] if "missing" in answers[0] else {"rate": max(a["rate"] for a in answers)}

            result = {}
            for threads in (self.h.threads, 1):
                worker.ask("threads", threads)
                result[str(threads)] = {"read": rate("read", self.h.read_mib), "avx512": rate("fma", "avx512"),
                                        "avx2": rate("fma", "avx2"), "amx": rate("amx")}
        return result

    def products(self, shape):
        """f32 matrices; every side's numbers are held against sums in double."""
        sides = {"imbrex": Worker([self.h.program("imbrex_side"), "products"], self.h.env, speaks=False),
                 "Eigen": Worker([self.h.program("eigen_side")], self.h.env, speaks=False)}
        versions = {}
        for library in self.h.libraries:
            sides[library] = Worker([self.h.products_python, HERE / "product_side.py", library, self.h.threads],
                                    self.h.env | {"OPENBLAS_NUM_THREADS": str(self.h.threads)})
            versions[library] = sides[library].hello["version"]
        try:
            for side, worker in sides.items():
                check_product(side, worker.ask("product", *shape), shape)
            seconds = turns(sides, [("product", ("product", *shape))], max(5, 2 * self.h.rounds + 1), self.h.quiet,
                            self.h.tell)
        finally:
            for worker in sides.values():
                worker.__exit__()
        return {"shape": shape, "versions": versions, "seconds": seconds["product"]}

    def kernels(self, program, pattern):
        """Rows of a program on Google Benchmark, which checks its own answers."""
        self.h.quiet.wait()
        command = [self.h.build / "bench" / program, f"--benchmark_filter={pattern}", "--benchmark_format=json",
                   f"--benchmark_min_time={self.h.kernel_seconds}", "--benchmark_repetitions=3"]
        run = subprocess.run([str(w) for w in command], capture_output=True, text=True, env=os.environ | self.h.env)
        if run.returncode != 0:
            raise Failed(f"{program}: {run.stderr.strip()[-300:]}")
        rows = {}
        for row in json.loads(run.stdout)["benchmarks"]:
            if row.get("aggregate_name") != "median":
                continue
            name = re.sub(r"/real_time$", "", row["run_name"])
            rows[name] = {key: row[key] for key in ("real_time", "FLOP", "bytes") if key in row}
        return {"rows": rows}

    # --- accuracy ------------------------------------------------------------------------------------------------

    def accuracy(self):
        if self.h.smollm2_f32 is None:
            return {"missing": "SmolLM2's file"}
        files = []
        for format_name in self.h.accuracy_files:
            path = self.h.directory / "models" / f"smollm2-{format_name}.gguf"
            if not path.exists():
                self.h.quantize(self.h.smollm2_f32, path, format_name)
            files += [f"{format_name}={path}"]
        rows = []
        for arithmetic in ("f32", "int8"):
            env = self.h.env | {"IMBREX_ARITHMETIC": arithmetic}
            command = [self.h.program("accuracy"), self.h.smollm2_f32, HERE / "text.txt", self.h.accuracy_tokens, *files]
            run = subprocess.run([str(w) for w in command], capture_output=True, text=True, env=os.environ | env)
            if run.returncode != 0:
                raise Failed(run.stderr.strip()[-300:])
            new = [json.loads(line) for line in run.stdout.splitlines()]
            if any(row["arithmetic"] != arithmetic for row in new):
                break  # this library has one arithmetic
            rows += new
        return {"rows": rows, "weights": self.h.smollm2_f32.name}


def operand(i, seed):
    return (((i + seed) * 2654435761 & 0xFFFFFFFF) >> 8) * 2.0**-24 - 0.5


def check_product(side, answer, shape):
    """Some elements of y = x W^T against sums in double; n u/8 of the length, as the library's own tests allow."""
    rows, outputs, inputs = shape
    for i, got in enumerate(answer["some"]):
        at = (i * 7919 * 104729 + i) % (rows * outputs)
        row, column = divmod(at, outputs)
        first = (answer["copy"] * outputs + column) * inputs
        terms = [operand(row * inputs + k, 1) * operand(first + k, 2) for k in range(inputs)]
        allowed = (inputs / 8 + 260) * 2.0**-24 * sum(abs(t) for t in terms)
        if not abs(got - sum(terms)) <= allowed:
            raise Failed(f"product by {side}: element {at} is {got}, not {sum(terms)}")
