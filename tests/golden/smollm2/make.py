"""Makes the SmolLM2 goldens: prompts.txt, logits.bin and france.txt. See ../README.md.

    python make.py --model SmolLM2-135M-Instruct.Q4_1.gguf [--f32 TWIN.gguf]

The F32 twin is written where it is not there yet.
"""

import argparse
import pathlib
import struct
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import llamacpp  # noqa: E402
import reference  # noqa: E402
from prompts import FRANCE, FRANCE_BARE, PROMPTS  # noqa: E402

CONTINUATION = 64
SAMPLED = 64
ROOM = 1024  # positions of a context: the longest prompt and its continuation


def prompt_ids(vocabulary, kind, text):
    if kind == "ids":
        return [i for part in text for i in prompt_ids(vocabulary, *part)]
    return vocabulary.tokens(text.encode(), parse_special=kind == "special")


def greedy_answer(decoder, prompt, stop, most=64):
    """Tokens up to and with `stop`, and the smallest top-two margin on the way."""
    decoder.clear()
    out, margin = [], np.inf
    logits = decoder.feed(prompt)
    while True:
        second, first = np.sort(np.partition(logits, -2)[-2:])
        margin = min(margin, first - second)
        out.append(int(np.argmax(logits)))
        if out[-1] == stop or len(out) == most:
            return out, margin
        logits = decoder.feed(out[-1:])


def joined(ids):
    return " ".join(map(str, ids))


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", required=True)
    options.add_argument("--f32")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        twin = pathlib.Path(given.f32 or pathlib.Path(folder) / "twin.gguf")
        if not twin.exists():
            reference.write_f32_twin(given.model, twin)
        make(given.model, twin)


def make(model, twin):
    quantised = llamacpp.Decoder(model, ROOM, cache_type=llamacpp.F16)
    lines, sequences = [], []
    for name, kind, text in PROMPTS:
        ids = prompt_ids(quantised, kind, text)
        more = quantised.greedy(ids, CONTINUATION)
        spelled = "-" if kind == "ids" else text.encode().hex()
        lines.append(f"{name}\t{kind}\t{spelled}\t{joined(ids)}\t{joined(more)}\n")
        sequences.append((name, len(ids), ids + more))
    (HERE / "prompts.txt").write_text("".join(lines))

    exact = llamacpp.Decoder(twin, ROOM)
    independent = reference.Model(twin)
    columns = np.sort(np.random.default_rng(2024).choice(exact.size, SAMPLED, replace=False))
    with open(HERE / "logits.bin", "wb") as f:
        f.write(b"IMBXSMOL" + struct.pack(
            "<IIIII", 1, len(PROMPTS), CONTINUATION, exact.size, SAMPLED))
        f.write(columns.astype("<i4").tobytes())
        for name, n, ids in sequences:
            # The row of position p predicts token p + 1: these rows predict the continuation.
            rows = slice(n - 1, n - 1 + CONTINUATION)
            logits = exact.logits(ids)[rows]
            for row in logits:
                best = np.argsort(row)[::-1][:2]
                norm = np.linalg.norm(row.astype(np.float64))
                f.write(struct.pack("<fIIff", norm, *best, *row[best]))
                f.write(row[columns].astype("<f4").tobytes())
            error = reference.relative_l2(logits, independent.forward(ids)[rows])
            same = np.mean(logits.argmax(1) == np.array(ids[n:n + CONTINUATION]))
            print(f"{name:16} {n:4} tokens  rms {logits.std():6.3f}  llama.cpp F32 against "
                  f"float64: {error.max():.2e}  argmax is the continuation: {same:.2f}", flush=True)
            assert error.max() < 5e-5, "the two references disagree"

    stop = quantised.tokens(b"<|im_end|>", parse_special=True)[0]
    with open(HERE / "france.txt", "w") as f:
        for name, chat in (("system", FRANCE), ("bare", FRANCE_BARE)):
            prompt = prompt_ids(quantised, "ids", chat)
            for label, decoder in (("f32", exact), ("quantised", quantised)):
                answer, margin = greedy_answer(decoder, prompt, stop)
                text = decoder.text(answer)
                f.write(f"{name}\t{label}\t{joined(prompt)}\t{joined(answer)}\t{text.hex()}\t"
                        f"{margin:.4f}\n")
                print(f"france, {name}, {label}: {text}, smallest margin {margin:.4f}")


if __name__ == "__main__":
    main()
