"""Makes small BPE vocabularies and the token ids llama.cpp gives. See ../README.md.

    python make.py --model SmolLM2-135M-Instruct.Q4_1.gguf

Writes PRE.gguf and PRE.txt for the pre-tokenizers smollm, llama-bpe, qwen2 and gpt-2, and
smollm2.txt (the whole vocabulary of the model). Where the package `regex` is installed, the ids
are also compared with a BPE of twenty lines on the published split patterns.
"""

import argparse
import pathlib
import sys

from gguf import GGUFReader, GGUFWriter

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import llamacpp  # noqa: E402
import reference  # noqa: E402
from strings import cases  # noqa: E402

MERGES = 1500
NORMAL, CONTROL, USER_DEFINED = 1, 3, 4

_LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
           r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# Applied one after the other: what does not match stands as a piece of its own.
PATTERNS = {
    "smollm": [r"\p{N}", _GPT2],
    "llama-bpe": [_LLAMA3],
    "qwen2": [_LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")],
    "gpt-2": [_GPT2],
}

# Two bytes that some pre-tokenizer puts into one piece and another does not. As merges of the
# highest rank they make the difference visible in the ids, which the natural merges would hide
# (there is not one with a digit among them).
STRADDLING = [
    "12", "34", "00", "a1", "1b", " 1", "45",
    "'s", "'S", "'t", "'T", "'r", "'R", "'l", "'L", "'v", "'M", "'D", "n'", " '",
    "(x", "(H", "_b", "\tb", "\tr", ".b", ":q", ">q", "/f", "<t", "@e",
    ".\n", ";\n", ")\r", "!)", "=\n", "\n\n", "\r\n", "\n\r", "\n ", "\n\t", " \n", "\t\n", " \t",
    b" \xc2", b" \xe3", b" \xf0", b"\x80x", b"\xa0b", b"\xa0c", b"\x8bb", b"\x8dd", b"\x80\xe4",
    b"\xb8\xe0", b"\x95\xe0", b"\xa8\xe0", b"\x9f\xf0", b"\x95\xf0", b"e\xcc", b"5\xc2", b"x\xc2",
    b"\x99s", b"\x85\xd9", b"\xa3\xd9", b"\x82\xef", b"\x85d", b"\x0be", b"\x1cg", b"\xa8c",
]


def byte_symbols():
    """GPT-2's printable character for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}


SYMBOL = byte_symbols()


def spelled(data):
    return "".join(SYMBOL[b] for b in (data if isinstance(data, bytes) else data.encode()))


def small_vocabulary(natural):
    """Tokens, their types, and merges: bytes, straddling pairs, digits, natural merges, added."""
    pairs = [spelled(p) for p in STRADDLING]
    merges = [f"{p[0]} {p[1]}" for p in dict.fromkeys(pairs)]
    merges += ["12 3", "123 4", "34 5", "00 0", "000 0", "00 00"]
    tokens = dict.fromkeys([SYMBOL[b] for b in range(256)])
    kept = []
    for merge in merges + natural[:MERGES]:
        left, right = merge.split(" ")
        if left in tokens and right in tokens and left + right not in tokens:
            tokens[left + right] = None
            kept.append(merge)
    # In the vocabulary, but no merge makes them: only `ignore_merges` (llama-bpe) finds them.
    for word in (" Việt", "xyzzyplugh"):
        assert spelled(word) not in tokens
        tokens[spelled(word)] = None
    names = list(tokens)
    types = [NORMAL] * len(names)
    for name in ("<|endoftext|>", "<|im_start|>", "<|im_end|>"):
        names.append(name)
        types.append(CONTROL)
    for name in ("<tool>", "<tool_call>", "<think>", "</think>"):
        names.append(name)
        types.append(USER_DEFINED)
    return names, types, kept


def write_vocabulary(path, pre, names, types, merges):
    w = GGUFWriter(path, "llama")
    w.add_name(f"bpe-{pre}")
    w.add_vocab_size(len(names))
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre(pre)
    w.add_token_list(names)
    w.add_token_types(types)
    w.add_token_merges(merges)
    w.add_bos_token_id(names.index("<|im_start|>"))
    w.add_eos_token_id(names.index("<|im_end|>"))
    w.add_add_bos_token(False)
    reference.finish(w)


def golden_lines(vocabulary):
    """`bytes in hex TAB flags TAB ids` for every case."""
    for text, with_special in cases():
        for special in (False, True) if with_special else (False,):
            ids = vocabulary.tokens(text, parse_special=special)
            flags = ["special" if special else "plain"]
            try:
                text.decode()
            except UnicodeDecodeError:
                flags.append("invalid")
            if vocabulary.text(ids) != text:
                flags.append("lossy")
            yield text, ids, special, flags


class PatternBpe:
    """An independent encoder for plain text: split by `regex`, then merge the best pair."""

    def __init__(self, pre, names, merges, types):
        import regex
        self.patterns = [regex.compile(p) for p in PATTERNS[pre]]
        self.ids = {name: i for i, name in enumerate(names)}
        self.rank = {tuple(m.split(" ")): i for i, m in enumerate(merges)}
        self.whole = pre == "llama-bpe"
        self.added = [n for n, t in zip(names, types) if t == USER_DEFINED]

    def tokens(self, text):
        pieces = [text]
        for pattern in self.patterns:
            pieces = [part for piece in pieces for part in self.split(pattern, piece)]
        return [i for piece in pieces for i in self.merge(spelled(piece))]

    @staticmethod
    def split(pattern, piece):
        at = 0
        for match in pattern.finditer(piece):
            yield from filter(None, (piece[at:match.start()], match.group()))
            at = match.end()
        if at < len(piece):
            yield piece[at:]

    def merge(self, word):
        if self.whole and word in self.ids:
            return [self.ids[word]]
        parts = list(word)
        while len(parts) > 1:
            pairs = list(zip(parts, parts[1:]))
            best = min(range(len(pairs)), key=lambda i: self.rank.get(pairs[i], 1 << 30))
            if pairs[best] not in self.rank:
                break
            parts[best:best + 2] = ["".join(pairs[best])]
        return [self.ids.get(p, -1) for p in parts]


def write_goldens(path, vocabulary, other):
    differ = []
    with open(path, "w") as f:
        for text, ids, special, flags in golden_lines(vocabulary):
            f.write(f"{text.hex() or '-'}\t{','.join(flags)}\t{' '.join(map(str, ids))}\n")
            plain = not special and not any(a.encode() in text for a in other.added)
            if plain and "invalid" not in flags:
                expected = other.tokens(text.decode())
                if [i for i in expected if i >= 0] != ids:
                    differ.append((text, ids, expected))
    print(f"{path.name}: {sum(1 for _ in open(path))} lines, "
          f"{len(differ)} differ from the published patterns")
    for text, ids, expected in differ:
        print("   ", ascii(text.decode()), "\n      llama.cpp", ids, "\n      pattern  ", expected)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", required=True)
    model = options.parse_args().model
    reader = GGUFReader(model)
    get = lambda key: reader.get_field("tokenizer.ggml." + key).contents()  # noqa: E731
    names, types, merges = get("tokens"), get("token_type"), get("merges")
    write_goldens(HERE / "smollm2.txt", llamacpp.Vocabulary(model),
                  PatternBpe("smollm", names, merges, types))
    names, types, merges = small_vocabulary(merges)
    for pre in PATTERNS:
        path = HERE / f"{pre}.gguf"
        write_vocabulary(path, pre, names, types, merges)
        write_goldens(HERE / f"{pre}.txt", llamacpp.Vocabulary(path),
                      PatternBpe(pre, names, merges, types))


if __name__ == "__main__":
    main()
