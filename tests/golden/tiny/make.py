"""Makes the tiny Llama models of this folder and their golden logits. See ../README.md.

    python make.py            writes NAME.gguf and NAME.logits for every model
    python make.py --trace NAME    prints the norm of each step of the float64 forward
"""

import argparse
import pathlib
import struct
import sys
import tempfile

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as Type, GGUFWriter
from gguf.quants import dequantize, quantize

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import reference  # noqa: E402

VOCAB = 320
TIME = 24

# `types` are dealt out in turn to the matrices in file order; norms stay F32.
MODELS = {
    # Everything F32, tied: the first one to get right.
    "f32": dict(width=64, heads=4, kv_heads=2, head_dim=16, hidden=64, tied=True, types=["F32"],
                eps=1e-5, embedding_std=1.0, seed=1),
    # One of each small type, untied, no freq_base key (10000 is the default).
    "mixed": dict(width=64, heads=4, kv_heads=2, head_dim=16, hidden=96, tied=False,
                  types=["F16", "Q8_0", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "F32"],
                  eps=1e-6, embedding_std=1.0, seed=2),
    # K-quants, tied to a Q6_K embedding, freq_base and the per-frequency factors of Llama 3.
    "kquant": dict(width=256, heads=4, kv_heads=2, head_dim=64, hidden=256, tied=True,
                   types=["Q6_K", "Q4_K", "Q3_K", "Q5_K", "Q2_K"], eps=1e-5, embedding_std=1.0,
                   freq_base=500000.0, factors=True, seed=3),
    # heads * head_dim = 128 > 96 = width, one KV head, linear RoPE scaling, and an eps that
    # outweighs the mean square of the embeddings (4e-4), so that a wrong eps shows.
    "wide": dict(width=96, heads=4, kv_heads=1, head_dim=32, hidden=160, tied=False,
                 types=["Q8_0", "Q4_1", "BF16", "Q5_1"], eps=1e-3, embedding_std=0.02,
                 freq_base=20000.0, linear=4.0, seed=4),
}

# Where the f16 scales of a K-quant block lie (byte offsets), and what the minimum's scale must be,
# relative to the scale's, for random bytes to have mean zero: mean(q) of the quants.
K_SCALES = {"Q2_K": (80, 82, 1.5), "Q3_K": (108, None, 0), "Q4_K": (0, 2, 7.5),
            "Q5_K": (0, 2, 15.5), "Q6_K": (208, None, 0)}


def random_blocks(rng, rows, columns, name, std):
    """Valid K-quant blocks with every byte random and finite f16 scales; values of about `std`."""
    block, size = GGML_QUANT_SIZES[Type[name]]
    at, minimum_at, ratio = K_SCALES[name]
    data = rng.integers(0, 256, (rows * columns // block, size), dtype=np.uint8)

    def set_scales(scale):
        for offset, factor in ((at, 1.0), (minimum_at, ratio)):
            if offset is not None:
                halves = (scale * factor).astype("<f2").view(np.uint8).reshape(-1, 2)
                data[:, offset:offset + 2] = halves

    set_scales(np.ones(len(data)))
    spread = dequantize(data, Type[name]).std()
    scale = std / spread * rng.uniform(0.5, 1.5, len(data)) * rng.choice([-1, 1, 1], len(data))
    set_scales(scale)
    return data.reshape(rows, -1)


def vocabulary():
    """256 byte tokens, 60 merges of a consonant and a vowel, four control tokens."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    symbol = {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}
    merges = [f"{a} {b}" for a in "bcdfghklmnst" for b in "aeiou"]
    tokens = [symbol[b] for b in range(256)] + [m.replace(" ", "") for m in merges]
    control = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|pad|>"]
    types = [1] * len(tokens) + [3] * len(control)
    return tokens + control, types, merges


def write_model(path, spec, name):
    rng = np.random.default_rng(spec["seed"])
    width, hidden, d = spec["width"], spec["hidden"], spec["head_dim"]
    q, kv = spec["heads"] * d, spec["kv_heads"] * d
    w = GGUFWriter(path, "llama")
    w.add_name(f"tiny-{name}")
    w.add_context_length(256)
    w.add_embedding_length(width)
    w.add_block_count(2)
    w.add_feed_forward_length(hidden)
    w.add_head_count(spec["heads"])
    w.add_head_count_kv(spec["kv_heads"])
    w.add_layer_norm_rms_eps(spec["eps"])
    w.add_vocab_size(VOCAB)
    w.add_rope_dimension_count(d)
    if q != width:
        w.add_key_length(d)
        w.add_value_length(d)
    if "freq_base" in spec:
        w.add_rope_freq_base(spec["freq_base"])
    if "linear" in spec:
        w.add_string("llama.rope.scaling.type", "linear")
        w.add_float32("llama.rope.scaling.factor", spec["linear"])
    tokens, types, merges = vocabulary()
    assert len(tokens) == VOCAB
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("smollm")
    w.add_token_list(tokens)
    w.add_token_types(types)
    w.add_token_merges(merges)
    w.add_bos_token_id(VOCAB - 3)
    w.add_eos_token_id(VOCAB - 2)
    w.add_add_bos_token(False)

    dealt = 0

    def matrix(tensor, rows, columns, std):
        nonlocal dealt
        kind = spec["types"][dealt % len(spec["types"])]
        dealt += 1
        if kind in K_SCALES:
            data = random_blocks(rng, rows, columns, kind, std)
        else:
            data = quantize(rng.normal(0, std, (rows, columns)).astype(np.float32), Type[kind])
        w.add_tensor(tensor, data, raw_dtype=Type[kind])

    def norm(tensor):
        w.add_tensor(tensor, (1 + 0.3 * rng.normal(size=width)).astype(np.float32))

    matrix("token_embd.weight", VOCAB, width, spec["embedding_std"])
    if spec.get("factors"):
        # As Llama 3.1 (factor 8, low 1, high 4, trained on 64 positions here): fast pairs stay,
        # slow ones are divided by 8, those between are blended.
        wave = 2 * np.pi * spec["freq_base"] ** (np.arange(0, d, 2) / d)
        blend = np.clip((64 / wave - 1) / (4 - 1), 0, 1)
        w.add_tensor("rope_freqs.weight", (1 / ((1 - blend) / 8 + blend)).astype(np.float32))
    for i in range(2):
        b = f"blk.{i}."
        norm(b + "attn_norm.weight")
        matrix(b + "attn_q.weight", q, width, 1.5 * width ** -0.5)
        matrix(b + "attn_k.weight", kv, width, 1.5 * width ** -0.5)
        matrix(b + "attn_v.weight", kv, width, width ** -0.5)
        matrix(b + "attn_output.weight", width, q, q ** -0.5)
        norm(b + "ffn_norm.weight")
        matrix(b + "ffn_gate.weight", hidden, width, width ** -0.5)
        matrix(b + "ffn_up.weight", hidden, width, width ** -0.5)
        matrix(b + "ffn_down.weight", width, hidden, hidden ** -0.5)
    norm("output_norm.weight")
    if not spec["tied"]:
        matrix("output.weight", VOCAB, width, width ** -0.5)
    reference.finish(w)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trace", metavar="NAME", choices=MODELS)
    trace = options.parse_args().trace
    for name, spec in MODELS.items():
        path = HERE / f"{name}.gguf"
        rng = np.random.default_rng(1000 + spec["seed"])
        tokens = [0, VOCAB - 1, *(int(t) for t in rng.integers(0, VOCAB, TIME - 2))]
        if trace:
            if trace == name:
                reference.Model(path).forward(
                    tokens, lambda step, x: print(f"{step:24} {np.linalg.norm(x):.9g}", x[-1][:4]))
            continue
        write_model(path, spec, name)
        want = reference.Model(path).forward(tokens)
        with open(HERE / f"{name}.logits", "wb") as f:
            f.write(b"IMBXTINY" + struct.pack("<III", 1, TIME, VOCAB))
            f.write(np.asarray(tokens, "<i4").tobytes())
            f.write(want.astype("<f4").tobytes())
        print(f"{name:8} {path.stat().st_size:7} bytes  rms {want.std():.3f}", end="  ")
        compare(path, tokens, want)


def compare(path, tokens, want):
    """llama.cpp on the F32 twin must agree with the float64 forward."""
    import llamacpp
    with tempfile.TemporaryDirectory() as folder:
        twin = pathlib.Path(folder) / "twin.gguf"
        reference.write_f32_twin(path, twin)
        got = llamacpp.Decoder(twin, 256).logits(tokens)
    error = reference.relative_l2(got, want).max()
    direct = llamacpp.Decoder(path, 256).logits(tokens)
    other = reference.relative_l2(direct, want).max()
    print(f"llama.cpp: F32 twin {error:.2e}, file itself {other:.2e}")
    assert error < 2e-5, "the two references disagree"


if __name__ == "__main__":
    main()
