"""Writes small GGUF files with Python's gguf package, to be read by the tests of formats/.

    python make.py          (needs gguf and numpy)

python.gguf       every type of metadata, arrays of some, three tensors, alignment 64
big_endian.gguf   a big-endian file
"""

import pathlib

import numpy as np
from gguf import GGMLQuantizationType, GGUFEndian, GGUFValueType, GGUFWriter, quants

HERE = pathlib.Path(__file__).parent


def python_gguf():
    w = GGUFWriter(HERE / "python.gguf", "llama")
    w.add_custom_alignment(64)
    w.add_uint8("t.uint8", 200)
    w.add_int8("t.int8", -100)
    w.add_uint16("t.uint16", 60000)
    w.add_int16("t.int16", -30000)
    w.add_uint32("t.uint32", 4000000000)
    w.add_int32("t.int32", -2000000000)
    w.add_float32("t.float32", 0.15625)
    w.add_bool("t.bool", True)
    w.add_string("t.string", "Grüße, 世界")
    w.add_uint64("t.uint64", 2**64 - 1)
    w.add_int64("t.int64", -(2**63))
    w.add_float64("t.float64", 0.1)
    w.add_array("t.strings", ["a", "", "Ġthe"])
    w.add_array("t.numbers", [1, -2, 3])
    w.add_key_value("t.floats", [0.5, -0.25], GGUFValueType.ARRAY, GGUFValueType.FLOAT32)
    w.add_key_value("t.bools", [True, False, True], GGUFValueType.ARRAY, GGUFValueType.BOOL)
    w.add_tensor("matrix", np.arange(6, dtype=np.float32).reshape(2, 3))
    w.add_tensor("halves", np.arange(5, dtype=np.float16) / 4)
    rows = np.linspace(-1, 1, 64, dtype=np.float32).reshape(2, 32)
    kind = GGMLQuantizationType.Q8_0
    w.add_tensor("blocks", quants.quantize(rows, kind), raw_dtype=kind)
    finish(w)


def big_endian():
    w = GGUFWriter(HERE / "big_endian.gguf", "llama", endianess=GGUFEndian.BIG)
    w.add_tensor("matrix", np.arange(6, dtype=np.float32).reshape(2, 3))
    finish(w)


def finish(w):
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


if __name__ == "__main__":
    python_gguf()
    big_endian()
