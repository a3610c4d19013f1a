"""Products of f32 matrices by libraries: the requests of `imbrex_side products`.

    product_side.py openblas|onednn|torch THREADS

OpenBLAS is the one inside NumPy; oneDNN is dnnl_sgemm of the package onednn-cpu-gomp; torch is torch.matmul.
y = x W^T, x [rows, inputs], W [outputs, inputs], four matrices W in turn.
"""

import ctypes
import json
import pathlib
import sys
import time

import numpy as np

COPIES = 4


def operand(first, count, seed):
    """Number i of the same operand in every program (worker.hpp)."""
    i = np.arange(first, first + count, dtype=np.uint64) + np.uint64(seed)
    hashed = (i * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)
    return (hashed >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24) - np.float32(0.5)


def openblas(threads):
    config = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return (lambda x, w, y: np.matmul(x, w.T, out=y)), f"{config['name']} {config['version']}"


def onednn(threads):
    found = [p for root in (sys.prefix, *sys.path) for p in pathlib.Path(root or ".").glob("lib/libdnnl.so.*")]
    if not found:
        raise SystemExit("no libdnnl.so: pip install onednn-cpu-gomp")
    library = ctypes.CDLL(str(sorted(found)[-1]))

    class Version(ctypes.Structure):
        _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int)]

    library.dnnl_version.restype = ctypes.POINTER(Version)
    v = library.dnnl_version().contents
    n, f, p = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
    library.dnnl_sgemm.argtypes = [ctypes.c_char, ctypes.c_char, n, n, n, f, p, n, p, n, f, p, n]

    def multiply(x, w, y):  # row-major: y = x w^T
        (rows, inputs), outputs = x.shape, w.shape[0]
        status = library.dnnl_sgemm(b"N", b"T", rows, outputs, inputs, 1.0, x.ctypes.data, inputs, w.ctypes.data,
                                    inputs, 0.0, y.ctypes.data, outputs)
        if status != 0:
            raise RuntimeError(f"dnnl_sgemm: {status}")

    return multiply, f"oneDNN {v.major}.{v.minor}.{v.patch}"


def torch(threads):
    import torch as t

    t.set_num_threads(threads)

    def multiply(x, w, y):
        t.matmul(t.from_numpy(x), t.from_numpy(w).T, out=t.from_numpy(y))

    return multiply, f"torch {t.__version__}"


def main(library, threads):
    multiply, version = {"openblas": openblas, "onednn": onednn, "torch": torch}[library](threads)
    print(json.dumps({"side": library, "version": version, "threads": threads}), flush=True)
    x = w = y = None
    at = 0
    for line in sys.stdin:
        try:
            rows, outputs, inputs = (int(n) for n in line.split()[1:4])
            if x is None or x.shape != (rows, inputs) or w[0].shape != (outputs, inputs):
                x = operand(0, rows * inputs, 1).reshape(rows, inputs)
                w = [operand(i * outputs * inputs, outputs * inputs, 2).reshape(outputs, inputs) for i in range(COPIES)]
                y = np.empty((rows, outputs), np.float32)
            at = (at + 1) % COPIES
            start = time.perf_counter()
            multiply(x, w[at], y)
            taken = time.perf_counter() - start
            places = [(i * 7919 * 104729 + i) % y.size for i in range(8)]
            answer = {"seconds": taken, "copy": at, "some": [float(y.flat[p]) for p in places]}
        except Exception as error:  # the driver shows it
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
