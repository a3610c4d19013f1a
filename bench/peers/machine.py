"""The machine of a run: what is recorded of it, and the name that its numbers and its page have."""

import os
import pathlib
import platform
import re
import subprocess

# Words of processors' names that tell no kind from another.
NOISE = re.compile(r"\((r|tm|c)\)|@.*|\bwith .*|\b\w+-core\b|\b(cpu|processor)\b")


def slug(machine):
    """The processor and its best set: "intel-xeon-avx512". Machines of one slug are of one kind."""
    words = re.findall(r"[a-z0-9]+", NOISE.sub(" ", machine["processor"].lower()))
    return "-".join(words + machine["sets"][-1:])


def sets_text(machine):
    extensions = ", ".join(machine.get("extensions", []))
    return ", ".join(machine["sets"]) + (f" (with {extensions})" if extensions else "")


def cpu_flags(names=(("avx2", "avx2"), ("avx512", "avx512bw"), ("amx", "amx_bf16"))):
    """The sets of this processor by the names that IMBREX_ISA has, weakest first; `names` (set, flag of Linux)."""
    flags = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    words = flags.group(1).split() if flags else []
    return [name for name, flag in names if flag in words]


def describe(build, threads):
    """`extensions`: what kernels of AVX-512 use where it is there (docs/kernels.md says which processors gain)."""
    name = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    compiler = re.search(r"CMAKE_CXX_COMPILER:\w+=(.*)", (build / "CMakeCache.txt").read_text())
    version = subprocess.run([compiler.group(1), "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    return {"processor": name.group(1) if name else platform.machine(), "cores": os.cpu_count(), "threads": threads,
            "sets": cpu_flags(), "extensions": cpu_flags([(f, f) for f in ("avx512_vnni", "avx512_bf16")]),
            "compiler": version, "system": f"{platform.system()} {platform.release()}"}
