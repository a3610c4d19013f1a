"""Workers that answer requests, and taking turns with them."""

import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def median(values):
    ordered = sorted(values)
    n = len(ordered)
    return (ordered[n // 2] + ordered[(n - 1) // 2]) / 2


class Failed(Exception):
    """Something that was to be measured could not be, or was wrong."""


class Worker:
    """A program that answers a line of words with a line of JSON. `first` is said by those that speak at the start."""

    def __init__(self, command, env=None, speaks=True):
        self.command = [str(word) for word in command]
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=os.environ | (env or {}))
        self.hello = self._read() if speaks else {}

    def _read(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{' '.join(self.command)}: ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(f"{pathlib.Path(self.command[0]).name}: {answer['error']}")
        return answer

    def ask(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        return self._read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def busy_share(seconds):
    """The share of all processors' time that was not idle."""

    def read():
        fields = [int(n) for n in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        return sum(fields), fields[3] + fields[4]

    total, idle = read()
    time.sleep(seconds)
    total_now, idle_now = read()
    return 1 - (idle_now - idle) / max(total_now - total, 1)


class Quiet:
    """Waits until nobody else works on the machine, for `patience` seconds at most; then it goes on, and counts."""

    def __init__(self, patience=20.0, limit=0.1):
        self.patience, self.limit, self.disturbed = patience, limit, 0

    def wait(self):
        deadline = time.monotonic() + self.patience
        time.sleep(0.03)  # the other side's threads stop spinning
        while busy_share(0.1) > self.limit:
            if time.monotonic() > deadline:
                self.disturbed += 1
                return


def turns(sides, requests, rounds, quiet, tell=lambda text: None, beside=None):
    """Asks each side in turn, A B A B: {request: {side: [seconds]}}. `sides` is {name: Worker}; a request is (name,
    words) or (name, words, words to warm up with). After each turn of a request that `beside` names, its function is
    called: {request: function}; what it gives is a further side."""
    seconds = {}
    for name, words, *warm in requests:
        seconds[name] = {side: [] for side in sides}
        for turn in range(-1, rounds):
            for side, worker in sides.items():
                tell(f"{name}, {side}, " + (f"turn {turn + 1} of {rounds}" if turn >= 0 else "to warm up"))
                quiet.wait()
                answer = worker.ask(*(words if turn >= 0 or not warm else warm[0]))
                if turn >= 0:
                    seconds[name][side].append(answer["seconds"])
            if turn >= 0 and beside and name in beside:
                quiet.wait()
                seconds[name].setdefault("beside", []).append(beside[name]())
    return seconds


class Progress:
    """A line that is rewritten on a terminal; elsewhere, a line a group."""

    def __init__(self):
        self.terminal, self.start = sys.stderr.isatty(), time.monotonic()
        self.group = ""

    def begin(self, group, number, count):
        self.group = f"[{number}/{count}] {group}"
        if not self.terminal:
            print(f"{self.elapsed()} {self.group}", file=sys.stderr, flush=True)

    def elapsed(self):
        seconds = int(time.monotonic() - self.start)
        return f"{seconds // 60:3d}:{seconds % 60:02d}"

    def tell(self, text):
        if self.terminal:
            print(f"\r\033[K{self.elapsed()} {self.group}: {text}"[:160], end="", file=sys.stderr, flush=True)

    def end(self, text):
        print(("\r\033[K" if self.terminal else "") + f"{self.elapsed()} {self.group}: {text}", file=sys.stderr, flush=True)
