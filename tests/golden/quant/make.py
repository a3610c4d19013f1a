"""Writes the goldens of the quantised formats, computed by Python's gguf package.

    python make.py          (needs gguf and numpy)

decode_<format>.bin   u32 blocks, the blocks' bytes, the numbers they stand for as f32
encode_<format>.bin   u32 numbers, the numbers as f32, the bytes they are stored as
"""

import pathlib
import struct

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as Type
from gguf import quants

HERE = pathlib.Path(__file__).parent
BLOCKS = 4

# Byte offsets of the f16 scales within a block.
SCALES = {
    Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0],
    Type.Q2_K: [80, 82], Type.Q3_K: [108], Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208],
}


def decode(rng, kind):
    """Blocks of random bytes with random finite scales of either sign."""
    size = GGML_QUANT_SIZES[kind][1]
    blocks = rng.integers(0, 256, (BLOCKS, size), dtype=np.uint8)
    for at in SCALES[kind]:
        scale = rng.normal(0, 0.05, BLOCKS).astype(np.float16)
        blocks[:, at:at + 2] = scale.view(np.uint8).reshape(BLOCKS, 2)
    numbers = quants.dequantize(blocks, kind).astype("<f4")
    data = struct.pack("<I", BLOCKS) + blocks.tobytes() + numbers.tobytes()
    (HERE / f"decode_{kind.name.lower()}.bin").write_bytes(data)


def encode(rng, kind):
    """Random rows of different scale, a row of zeros, one of equal numbers, one spike, tiny ones."""
    rows = [rng.normal(0, s, 32) for s in (1, 1e-3, 300, 1)]
    rows += [np.zeros(32), np.full(32, 0.75), np.full(32, -3.0), np.eye(1, 32, 17)[0] * -6.5]
    rows += [rng.normal(0, 1e-6, 32), np.linspace(-1, 1, 32)]
    numbers = np.stack(rows).astype(np.float32)
    with np.errstate(invalid="ignore"):
        stored = quants.quantize(numbers, kind)
    data = struct.pack("<I", numbers.size) + numbers.astype("<f4").tobytes() + stored.tobytes()
    (HERE / f"encode_{kind.name.lower()}.bin").write_bytes(data)


if __name__ == "__main__":
    generator = np.random.default_rng(20240229)
    for each in SCALES:
        decode(generator, each)
    for each in (Type.F16, Type.BF16, Type.Q8_0, Type.Q4_0, Type.Q4_1):
        encode(generator, each)
