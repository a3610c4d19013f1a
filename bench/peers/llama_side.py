"""llama.cpp's side of the comparison, through the low-level interface of llama-cpp-python.

    llama_side.py serve FILE THREADS           the requests of `imbrex_side serve`
    llama_side.py first FILE N THREADS         the first token behind a prompt of N, and the same again
    llama_side.py quantize FROM TO FORMAT      writes the model in another format, all its matrices
    llama_side.py version                      what it is and what it is built for

A line of words in, a line of JSON out. Times are those of llama_decode, and of nothing in Python. Settings are
llama.cpp's defaults (cache in f16, 512 rows at a time, flash attention where it chooses it).
"""

import ctypes
import json
import sys
import time

import llama_cpp as c

_silent = c.llama_log_callback(lambda level, text, data: None)
c.llama_log_set(_silent, ctypes.c_void_p(0))

FORMATS = {"Q2_K": c.LLAMA_FTYPE_MOSTLY_Q2_K, "Q3_K": c.LLAMA_FTYPE_MOSTLY_Q3_K_M,
           "Q4_K": c.LLAMA_FTYPE_MOSTLY_Q4_K_S, "Q4_K_M": c.LLAMA_FTYPE_MOSTLY_Q4_K_M,
           "Q5_K": c.LLAMA_FTYPE_MOSTLY_Q5_K_S, "Q6_K": c.LLAMA_FTYPE_MOSTLY_Q6_K,
           "Q5_0": c.LLAMA_FTYPE_MOSTLY_Q5_0, "Q5_1": c.LLAMA_FTYPE_MOSTLY_Q5_1}


def prompt(count, vocab):
    return [(7919 * i + 13) % vocab for i in range(count)]


class Context:
    """A context for some sequences, and a batch."""

    def __init__(self, model, room, sequences, threads):
        p = c.llama_context_default_params()
        p.n_ctx, p.n_batch, p.n_ubatch = room, room, min(room, 512)
        p.n_seq_max = sequences
        p.n_outputs_max = p.n_outputs_max_per_seq = 0 if sequences == 1 else sequences
        p.n_threads = p.n_threads_batch = threads
        p.offload_kqv = False
        self.context = c.llama_init_from_model(model, p)
        if not self.context:
            raise RuntimeError("llama.cpp cannot make a context")
        self.memory = c.llama_get_memory(self.context)
        self.batch = c.llama_batch_init(room, 0, 1)
        self.length = 0  # of sequence 0

    def close(self):
        c.llama_batch_free(self.batch)
        c.llama_free(self.context)

    def decode(self, rows):
        """Takes rows (token, position, sequence, wants logits) through the model; seconds."""
        b = self.batch
        b.n_tokens = len(rows)
        for i, (token, position, sequence, wanted) in enumerate(rows):
            b.token[i], b.pos[i], b.n_seq_id[i], b.logits[i] = token, position, 1, wanted
            b.seq_id[i][0] = sequence
        start = time.perf_counter()
        status = c.llama_decode(self.context, b)
        c.llama_synchronize(self.context)
        taken = time.perf_counter() - start
        if status != 0:
            raise RuntimeError(f"llama_decode: {status}")
        return taken

    def feed(self, tokens, sequence=0):
        """A prompt in an empty cache."""
        c.llama_memory_seq_rm(self.memory, sequence, 0, -1)
        taken = self.decode([(t, i, sequence, i + 1 == len(tokens)) for i, t in enumerate(tokens)])
        self.length = len(tokens)
        return taken

    def logits(self, vocab):
        return c.llama_get_logits_ith(self.context, -1)[:vocab]


class Served:
    def __init__(self, path, threads):
        p = c.llama_model_default_params()
        p.n_gpu_layers = 0
        self.model = c.llama_model_load_from_file(path.encode(), p)
        if not self.model:
            raise RuntimeError(f"llama.cpp cannot load {path}")
        self.vocab = c.llama_vocab_n_tokens(c.llama_model_get_vocab(self.model))
        self.threads = threads
        self.context = None

    def room(self, positions):
        if self.context is None or c.llama_n_ctx(self.context.context) < positions:
            if self.context is not None:
                self.context.close()
            self.context = Context(self.model, max(1024, positions), 1, self.threads)
        return self.context

    def hello(self):
        return {"side": "llama.cpp", "vocab": self.vocab, "threads": self.threads}

    def answer(self, words):
        name, numbers = words[0], [int(w) for w in words[1:] if w.lstrip("-").isdigit()]
        if name == "hello":
            return self.hello()
        if name == "threads":
            self.threads = numbers[0]
            if self.context is not None:
                c.llama_set_n_threads(self.context.context, numbers[0], numbers[0])
            return {"threads": self.threads}
        if name == "prompt":
            return {"seconds": self.room(numbers[0] + 256).feed(prompt(numbers[0], self.vocab))}
        if name == "decode":
            return {"seconds": self.time_decode(*numbers)}
        if name == "batch":
            return {"seconds": self.time_batch(*numbers)}
        if name == "logits":
            self.room(numbers[0] + 256).feed(prompt(numbers[0], self.vocab))
            values = self.context.logits(self.vocab)
            with open(words[2], "wb") as file:
                file.write((ctypes.c_float * self.vocab)(*values))
            return {"count": self.vocab}
        if name == "greedy":
            return {"tokens": self.greedy(*numbers)}
        raise RuntimeError(f"no such request: {name}")

    def time_decode(self, before, count):
        tokens = prompt(before + count, self.vocab)
        context = self.room(before + count)
        if context.length < before:
            context.feed(tokens[:before])
        c.llama_memory_seq_rm(context.memory, 0, before, -1)
        context.length = before
        taken = sum(context.decode([(tokens[i], i, 0, True)]) for i in range(before, before + count))
        return taken / count

    def time_batch(self, count, before, steps):
        tokens = prompt(before + steps + count, self.vocab)
        context = Context(self.model, count * 256, count, self.threads)
        try:
            for s in range(count):
                context.feed(tokens[s:s + before], s)
            taken = sum(context.decode([(tokens[before + i], before + i, s, True) for s in range(count)])
                        for i in range(steps))
        finally:
            context.close()
        return taken / steps

    def greedy(self, before, count):
        context = self.room(before + count)
        context.feed(prompt(before, self.vocab))
        taken = []
        for i in range(count):
            logits = context.logits(self.vocab)
            taken.append(max(range(self.vocab), key=logits.__getitem__))
            context.decode([(taken[-1], before + i, 0, True)])
        context.length = before + count
        return taken


def say(answer):
    print(json.dumps(answer), flush=True)


def serve(path, threads):
    start = time.perf_counter()
    served = Served(path, threads)
    say(served.hello() | {"load_seconds": time.perf_counter() - start})
    for line in sys.stdin:
        try:
            say(served.answer(line.split()))
        except Exception as error:  # the driver shows it
            say({"error": str(error)})


def first(path, count, threads):
    start = time.perf_counter()
    served = Served(path, threads)
    context = served.room(count + 16)
    context.feed(prompt(count, served.vocab))
    say({"seconds": time.perf_counter() - start})
    say({"seconds": context.feed(prompt(count, served.vocab))})


def quantize(source, target, wanted):
    params = c.llama_model_quantize_default_params()
    params.ftype = FORMATS[wanted]
    params.pure = wanted != "Q4_K_M"  # the one mixture: what files of that name hold
    params.allow_requantize = True
    status = c.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(params))
    if status != 0:
        raise SystemExit(f"llama_model_quantize: {status}")


def main(words):
    if words[:1] == ["serve"]:
        serve(words[1], int(words[2]))
    elif words[:1] == ["first"]:
        first(words[1], int(words[2]), int(words[3]))
    elif words[:1] == ["quantize"]:
        quantize(*words[1:])
    elif words == ["version"]:
        c.llama_backend_init()
        info = c.llama_print_system_info().decode()
        on = [part.split("=")[0].strip().split(":")[-1].strip() for part in info.split("|") if part.strip().endswith("= 1")]
        say({"version": c.__version__, "built_for": on})
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
