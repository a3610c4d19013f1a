"""The machine of a run: what is recorded of it, and the name that its numbers and its page have."""

import os
import pathlib
import platform
import re
import subprocess

# Words of processors' names that tell no kind from another.
NOISE = re.compile(r"\((r|tm|c)\)|@.*|\bwith .*|\b\w+-core\b|\b(cpu|processor)\b")


def slug(machine):
    """The processor and its best set: "intel-xeon-platinum-8488c-amx". Machines of one slug are of one kind; where
    the name has no number (virtual machines say "AMD EPYC"), its generation tells: "amd-epyc-zen5-avx512"."""
    words = re.findall(r"[a-z0-9]+", NOISE.sub(" ", machine["processor"].lower()))
    generation = machine.get("generation")
    if generation and not any(re.search(r"\d", word) for word in words):
        words.append(generation.lower().replace(" ", ""))
    return "-".join(words + machine["sets"][-1:])


def generation(cpuinfo):
    """The microarchitecture that Linux's /proc/cpuinfo tells of, or None: the vendors' lists of families and models."""
    field = {name: value for name, value in re.findall(r"^([\w ]+?)\s*:[ \t]*(.*)$", cpuinfo, re.M)}
    family, model = (int(field.get(name, -1)) for name in ("cpu family", "model"))
    if field.get("vendor_id") == "AuthenticAMD" and family == 25:
        return "Zen 4" if "avx512f" in field.get("flags", "").split() else "Zen 3"
    names = {("AuthenticAMD", 26): {None: "Zen 5"},
             ("GenuineIntel", 6): {106: "Ice Lake", 143: "Sapphire Rapids", 207: "Emerald Rapids", 173: "Granite Rapids"}}
    models = names.get((field.get("vendor_id"), family), {})
    return models.get(model, models.get(None))


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
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"^model name\s*:\s*(.*)$", cpuinfo, re.M)
    compiler = re.search(r"CMAKE_CXX_COMPILER:\w+=(.*)", (build / "CMakeCache.txt").read_text())
    version = subprocess.run([compiler.group(1), "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    return {"processor": name.group(1) if name else platform.machine(), "generation": generation(cpuinfo),
            "cores": os.cpu_count(), "threads": threads, "sets": cpu_flags(),
            "extensions": cpu_flags([(f, f) for f in ("avx512_vnni", "avx512_bf16")]),
            "compiler": version, "system": f"{platform.system()} {platform.release()}"}
