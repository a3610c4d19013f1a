"""Strings that tell tokenizers apart: (bytes, whether to try them with special tokens parsed too)."""

PLAIN = [
    "",
    " ",
    "  ",
    "   ",
    "\t",
    "\n",
    "\n\n",
    "\n\n\n",
    "\t\n",
    "\r\n\r\n",
    "Hello world",
    " Hello, world!",
    "Hello World (HELLO_WORLD) [x]{y} foo.bar_baz->qux::quux",
    "I'm you're he's we've they'll I'd don't 's 't",
    "I'M YOU'RE HE'S WE'VE THEY'LL I'D DON'T 'S 'T 'Ll 'vE",
    "it\u2019s O'Brien 'tis rock'n'roll ''s ' s'",
    "'\u017f 'l 'r're",  # U+017F folds to s
    "0 1 12 123 1234 12345 123456 1234567 1234567890123456789",
    "3.14159, 1,000,000.00; 0x1F 1e-5 v2.0.1 a1b22c333d4444",
    " ½ ¼ 5½ x² ⅷ Ⅷ ① ٣٤٥ १२३ 四五 ",
    "Führer",
    "ied 4 ½ months",
    "\n =",
    "=\n\n==\n  = \n",
    "a\tb\t\tc\t\t\td \te\t f",
    "line\r\nline\r\n\r\nline\rline\n\rline",
    "trailing   ",
    "trailing\n   ",
    "trailing \n",
    "   leading",
    "\n   leading",
    "a b  c   d    e     f      g       h        i         j",
    "x" + " " * 100 + "y" + " " * 33,
    "if (x == 1) {\n\t\treturn y; // why?\n\n\n    }\n}\n",
    "def f():\n        pass\n\n\n        return  None\n",
    "!!! ?! ... --- === /* */ <!-- --> #@$%^&*()_+",
    "end.\nNext;\n\nLast!)\r\n\r\nx",
    "🍕 pizza🍕🍕",
    "👨\u200d👩\u200d👧\u200d👦 👍🏽 🇫🇷🇩🇪 ❤\ufe0f 🏴\U000e0067\U000e0062\U000e007f",
    "🚀 (normal) 😶\u200d🌫\ufe0f (multiple emojis concatenated) ✅ 🦙🦙 🦙🦙",
    "北京是中国的首都。你好,世界!一二三123四",
    "吾輩は猫である。カタカナ、ﾊﾝｶｸ、漢字ー々",
    "안녕하세요 세계 \u1112\u1161\u11ab",  # composed, then a conjoining syllable
    "สวัสดีชาวโลก ภาษาไทย",
    "नमस्ते दुनिया क्षत्रिय सी",
    "السلام عليكم، كيف حالك؟ مَرْحَبًا",
    "שָׁלוֹם עולם",
    "Привет, мир! Ёлка ЙЙ",
    "Γειά σου Κόσμε ΣΊΣΥΦΟΣ",
    "e\u0301 é a\u0308\u0323 Z\u0351\u036b\u0343\u036a",  # combining marks
    "žluťoučký kůň úpěl ďábelské ódy, Đorđe Œuvre ß ẞ İı",
    "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg",  # zero width
    "a\u00a0b\u00a0\u00a0c \u00a0 d\u202fe\u2009f\u2003 g",  # no-break and thin spaces
    "\u3000一\u3000\u3000x \u3000",
    "a\u2028b\u2029c\u0085d\u000be\u000cf\u001cg\u180eh",  # separators; \s or not
    "nul\x00 bell\x07 esc\x1b[0m del\x7f c1\x80\x9f",
    "\x01\x02\x03\x1f",
    "a\x04b\x06c \x13\x14x \U00040000y",  # SmolLM2 has no token for these bytes
    "ﬁ ﬂ Ａｂｃ １２３ ℝ ∑ ∀x∈ℝ: x²≥0 → ∞ ≠ ½π",
    "𝓗𝓮𝓵𝓵𝓸 𝟙𝟚𝟛 𐍈 \U0001f1e6 \U0010ffff \ue000",  # letters and digits beyond the BMP, private use
    "€100 £5 ¥ 100% №7 §5 ©®™ «quoted» “double” ‘single’ – — …",
    " Việt Nam xyzzyplugh Việt",  # ignore_merges
    "xyzzyplugh",
    "xyzzyplughs",
    "https://example.org/a/b?c=d&e=%20#f user@example.com C:\\dir\\file.txt",
    '{"a": [1, 2.5, null], "b": {"c": "\\u00e9\\n"}}',
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "ababababcdcdcdcd hehehehehe ininin erererer ththththth",
    "==========================================================================",
]

# The same with `parse_special` off and on.
SPECIAL = [
    "<|im_end|>",
    "a<|im_end|>b",
    " <|im_start|>user\nHi<|im_end|>\n",
    "<|im_start|><|im_start|> <|endoftext|>",
    "<|im_end|",
    "|im_end|> <|im_end|>>",
    "<|IM_END|>",
    "<think>x</think> <think><think>",
    "<tool>a<tool_call>b<tool><tool_call><tool",
    "I'<tool>m  <tool>  12<tool>34",
]

# Not UTF-8: llama.cpp puts U+FFFD for what it cannot read.
INVALID = [
    b"\xff\xfe",
    b"a\xffb",
    b"caf\xc3",  # truncated
    b"caf\xc3 x",
    b"\xf0\x9f\x8d",
    b"\xf0\x9f\x8d pizza",
    b"\xe2\x82",
    b"\x80\x80\x80 x",
    b"\xc0\xaf \xe0\x80\xaf",  # overlong
    b"\xed\xa0\x80 \xed\xb0\x80",  # surrogates
    b"\xf8\x88\x80\x80\x80",  # F4 90 80 80, beyond U+10FFFF, makes this llama.cpp abort
    "日本".encode()[:-1] + b"!",
]


def cases():
    for text in PLAIN:
        yield text.encode(), False
    for text in SPECIAL:
        yield text.encode(), True
    for text in INVALID:
        yield text, False
