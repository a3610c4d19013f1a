"""A Llama decoder in float64 numpy, and what the golden scripts need from GGUF files.

Written from the papers (RoPE: arXiv 2104.09864, RMSNorm: 1910.07467, SwiGLU: 2002.05202, GQA:
2305.13245), in the plainest form: whole sequences, no cache, one matrix of scores per head.
Only the decoding of stored weights comes from elsewhere: `gguf.quants.dequantize`.
"""

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from gguf.quants import dequantize


class Model:
    """Weights as float64 matrices [out, in], and the settings of an architecture `llama` file."""

    def __init__(self, path):
        self.reader = GGUFReader(path)
        self.weights = {}
        for t in self.reader.tensors:
            self.weights[t.name] = decoded(t).astype(np.float64)
        key = self.key
        self.layers = key("llama.block_count")
        self.heads = key("llama.attention.head_count")
        self.kv_heads = key("llama.attention.head_count_kv", self.heads)
        self.width = key("llama.embedding_length")
        self.head_dim = key("llama.attention.key_length", self.width // self.heads)
        self.eps = key("llama.attention.layer_norm_rms_epsilon")
        self.theta = key("llama.rope.freq_base", 10000.0)
        self.linear = 1.0
        if key("llama.rope.scaling.type", "none") == "linear":
            self.linear = key("llama.rope.scaling.factor")
        assert key("general.architecture") == "llama"
        assert key("llama.rope.dimension_count", self.head_dim) == self.head_dim

    def key(self, name, otherwise=None):
        field = self.reader.get_field(name)
        if field is None:
            assert otherwise is not None, name
            return otherwise
        return field.contents()

    def forward(self, tokens, trace=None):
        """Logits [Time, Vocab] of the whole sequence; `trace(name, array)` sees each step."""
        seen = trace or (lambda name, value: None)
        w, time = self.weights, len(tokens)
        heads, kv_heads, d = self.heads, self.kv_heads, self.head_dim
        x = w["token_embd.weight"][np.asarray(tokens)]
        seen("embedding", x)
        cos, sin = self.angles(time)
        hidden_from = np.triu(np.full((time, time), -np.inf), 1)  # causal: key j <= query i
        for i in range(self.layers):
            b = f"blk.{i}."
            h = rms_norm(x, w[b + "attn_norm.weight"], self.eps)
            q = (h @ w[b + "attn_q.weight"].T).reshape(time, heads, d)
            k = (h @ w[b + "attn_k.weight"].T).reshape(time, kv_heads, d)
            v = (h @ w[b + "attn_v.weight"].T).reshape(time, kv_heads, d)
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
            out = np.empty((time, heads, d))
            for head in range(heads):
                kv = head // (heads // kv_heads)
                scores = q[:, head] @ k[:, kv].T / np.sqrt(d) + hidden_from
                out[:, head] = softmax(scores) @ v[:, kv]
            a = out.reshape(time, heads * d) @ w[b + "attn_output.weight"].T
            seen(b + "attention", a)
            x = x + a
            h = rms_norm(x, w[b + "ffn_norm.weight"], self.eps)
            gate = h @ w[b + "ffn_gate.weight"].T
            up = h @ w[b + "ffn_up.weight"].T
            f = (gate / (1 + np.exp(-gate)) * up) @ w[b + "ffn_down.weight"].T
            seen(b + "feed_forward", f)
            x = x + f
        x = rms_norm(x, w["output_norm.weight"], self.eps)
        seen("final_norm", x)
        return x @ w.get("output.weight", w["token_embd.weight"]).T

    def angles(self, time):
        """cos and sin [Time, HeadDim / 2] of position / linear * theta^(-2i/d) / factor_i."""
        d = self.head_dim
        frequency = self.theta ** (-np.arange(0, d, 2) / d)
        if "rope_freqs.weight" in self.weights:
            frequency = frequency / self.weights["rope_freqs.weight"]
        angle = np.outer(np.arange(time), frequency) / self.linear
        return np.cos(angle), np.sin(angle)


def rms_norm(x, weight, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def rotate(x, cos, sin):
    """Interleaved pairs (2i, 2i+1) of x[Time, Heads, HeadDim]."""
    cos, sin = cos[:, None, :], sin[:, None, :]
    even, odd = x[..., 0::2], x[..., 1::2]
    y = np.empty_like(x)
    y[..., 0::2] = even * cos - odd * sin
    y[..., 1::2] = even * sin + odd * cos
    return y


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def decoded(tensor):
    """The float32 values of a GGUFReader tensor, in numpy's order (rows first)."""
    shape = tuple(int(n) for n in reversed(tensor.shape))
    return dequantize(tensor.data, tensor.tensor_type).astype(np.float32).reshape(shape)


def write_f32_twin(source, target):
    """Copies a GGUF with every tensor decoded to F32: the same model without quantisation."""
    reader = GGUFReader(source)
    writer = GGUFWriter(target, "llama")
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        sub_type = field.types[-1] if len(field.types) > 1 else None
        value = 0 if field.name == "general.file_type" else field.contents()
        writer.add_key_value(field.name, value, field.types[0], sub_type)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, decoded(tensor), raw_dtype=GGMLQuantizationType.F32)
    finish(writer)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def relative_l2(got, want):
    """|got - want| / |want| for each row."""
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    return np.linalg.norm(got - want, axis=-1) / np.linalg.norm(want, axis=-1)
