// All of text/: tokenizers and chat formats. Needs PCRE2.
#pragma once

#include "imbrex/text/added_tokens.hpp"
#include "imbrex/text/bpe.hpp"
#include "imbrex/text/byte_level.hpp"
#include "imbrex/text/chat.hpp"
#include "imbrex/text/gguf_vocabulary.hpp"
#include "imbrex/text/pair_table.hpp"
#include "imbrex/text/split_expressions.hpp"
#include "imbrex/text/split_pattern.hpp"
#include "imbrex/text/tokenizer.hpp"
#include "imbrex/text/utf8.hpp"
#include "imbrex/text/utf8_stream.hpp"
#include "imbrex/text/vocabulary.hpp"
