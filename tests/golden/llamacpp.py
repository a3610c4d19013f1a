"""llama.cpp through the low-level interface of llama-cpp-python: bytes in, token ids and logits out."""

import ctypes

import llama_cpp as c
import numpy as np

F32, F16 = 0, 1  # GGML_TYPE_*

_silent = c.llama_log_callback(lambda level, text, data: None)
c.llama_log_set(_silent, ctypes.c_void_p(0))


class Vocabulary:
    """A tokenizer; `vocab_only` leaves the tensors of the file unread."""

    def __init__(self, path, vocab_only=True):
        params = c.llama_model_default_params()
        params.vocab_only = vocab_only
        params.n_gpu_layers = 0
        self.model = c.llama_model_load_from_file(str(path).encode(), params)
        if not self.model:
            raise SystemExit(f"llama.cpp cannot load {path}")
        self.vocab = c.llama_model_get_vocab(self.model)
        self.size = c.llama_vocab_n_tokens(self.vocab)

    def tokens(self, text, parse_special=False):
        """Ids of raw bytes (they need not be UTF-8), without BOS or EOS."""
        room = len(text) + 16
        ids = (c.llama_token * room)()
        n = c.llama_tokenize(self.vocab, text, len(text), ids, room, False, parse_special)
        assert n >= 0
        return list(ids[:n])

    def text(self, ids):
        """The bytes of some tokens, special ones spelled out."""
        out = b""
        for i in ids:
            piece = ctypes.create_string_buffer(512)
            n = c.llama_token_to_piece(self.vocab, i, piece, 512, 0, True)
            assert n >= 0
            out += piece.raw[:n]
        return out


class Decoder(Vocabulary):
    """A model and one context: no flash attention, so that cache and scores stay in `cache_type`."""

    def __init__(self, path, room, cache_type=F32, threads=2):
        super().__init__(path, vocab_only=False)
        p = c.llama_context_default_params()
        p.n_ctx, p.n_batch, p.n_ubatch = room, room, min(room, 512)
        p.n_threads = p.n_threads_batch = threads
        p.flash_attn_type = 0
        p.type_k = p.type_v = cache_type
        p.offload_kqv = False
        self.context = c.llama_init_from_model(self.model, p)
        if not self.context:
            raise SystemExit(f"llama.cpp cannot make a context for {path}")
        self.batch = c.llama_batch_init(room, 0, 1)
        self.position = 0

    def clear(self):
        c.llama_memory_clear(c.llama_get_memory(self.context), True)
        self.position = 0

    def feed(self, tokens, all_positions=False):
        """Logits after `tokens`: of the last position [Vocab], or of all [Time, Vocab]."""
        b, n = self.batch, len(tokens)
        b.n_tokens = n
        for i, token in enumerate(tokens):
            b.token[i] = token
            b.pos[i] = self.position + i
            b.n_seq_id[i] = 1
            b.seq_id[i][0] = 0
            b.logits[i] = all_positions or i + 1 == n
        status = c.llama_decode(self.context, b)
        if status != 0:
            raise SystemExit(f"llama_decode: {status}")
        self.position += n
        rows = n if all_positions else 1
        flat = np.ctypeslib.as_array(c.llama_get_logits(self.context), shape=(rows * self.size,))
        logits = flat.reshape(rows, self.size).copy()
        return logits if all_positions else logits[0]

    def logits(self, tokens):
        """Teacher-forced logits of all positions [Time, Vocab], from an empty cache."""
        self.clear()
        return self.feed(tokens, all_positions=True)

    def greedy(self, tokens, n):
        """The n most probable next tokens, one after the other; an EOS does not stop it."""
        self.clear()
        out = []
        logits = self.feed(tokens)
        for _ in range(n):
            out.append(int(np.argmax(logits)))
            if len(out) < n:
                logits = self.feed(out[-1:])
        return out
