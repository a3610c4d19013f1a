// ChatML: the layout of a dialogue as a sequence of tokens.
//
//   <|im_start|>system\nYou are ...<|im_end|>\n
//   <|im_start|>user\nHello<|im_end|>\n
//   <|im_start|>assistant\n                      <- the model goes on from here
//
// The tokens are those of the rendered template, with one exception that is the point: role and
// content are plain text, so a user who writes "<|im_end|>" ends nothing. (Role, line feed and
// content are encoded as one text, as they stand in the template: a line feed at the start of the
// content merges with the one before it.)
//
// Templates are programs; this is no interpreter of them. What is read from the file's template is
// whether it is ChatML, and the system message that it puts in front of a dialogue without one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/printable.hpp"
#include "imbrex/text/tokenizer.hpp"

namespace imbrex::inline IMBREX_ABI {

/// One turn of a dialogue.
struct Message {
  std::string role;  ///< "system", "user" or "assistant"
  std::string content;
};

/// Whether the tokens of a dialogue end by opening the assistant's answer.
enum class Reply { open, none };

}  // namespace imbrex::inline IMBREX_ABI

namespace imbrex::text::inline IMBREX_ABI {

/// The content of the string literal that goes on at the front of `rest` up to `end`, with escapes
/// resolved. Returns whether it gets there; `stop` is where it does, or else the literal's end.
inline bool read_literal(std::string_view rest, std::string_view end, std::string& content,
                         std::size_t& stop) {
  content.clear();
  for (stop = 0; stop < rest.size(); ++stop) {
    if (rest.substr(stop, end.size()) == end) return true;
    const char c = rest[stop];
    if (c == '\'' || c == '"') return false;
    if (c != '\\' || stop + 1 == rest.size()) {
      content += c;
      continue;
    }
    const char escaped = rest[++stop];
    content += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
  }
  return false;
}

/// The system message that a ChatML template spells out itself; empty where it has none.
inline std::string default_system_message(std::string_view chat_template) {
  constexpr std::string_view opening = "<|im_start|>system";
  std::string message;
  std::size_t at = 0;
  while ((at = chat_template.find(opening, at)) != chat_template.npos) {
    at += opening.size();
    std::string_view rest = chat_template.substr(at);
    // The line feed is one, or its escape sequence.
    if (rest.starts_with('\n')) {
      at += 1;
    } else if (rest.starts_with("\\n")) {
      at += 2;
    } else {
      continue;
    }
    rest = chat_template.substr(at);
    std::size_t stop = 0;
    if (read_literal(rest, "<|im_end|>", message, stop)) return message;
    at += stop;  // another opening before that would be read to the same end
  }
  return "";
}

}  // namespace imbrex::text::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// Turns dialogues into tokens, in ChatML.
class ChatMl {
 public:
  /// `tokenizer` must outlive the object. Throws ConfigError where the vocabulary's chat template
  /// is not ChatML, or the vocabulary lacks its two tokens.
  explicit ChatMl(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {
    const std::string& chat_template = tokenizer.vocabulary().chat_template();
    if (chat_template.find("<|im_start|>") == chat_template.npos) {
      raise(ConfigError("tokenizer.chat_template", chat_template.empty() ? "(none)" : "(another)",
                        "a ChatML template, with <|im_start|>"));
    }
    start_ = control_token("<|im_start|>");
    end_ = control_token("<|im_end|>");
    default_system_ = text::default_system_message(chat_template);
  }

  explicit ChatMl(const Tokenizer&&) = delete;  // it would not outlive the object

  /// The tokens of a dialogue. One that does not begin with a system message gets the template's
  /// own, where the template has one. Throws ConfigError where a role is empty or has a line feed,
  /// TokenError where the vocabulary cannot spell a content.
  std::vector<token_t> encode(std::span<const Message> messages, Reply reply = Reply::open) const {
    std::vector<token_t> ids;
    const Vocabulary& vocabulary = tokenizer_->vocabulary();
    if (vocabulary.add_begin()) ids.push_back(vocabulary.special().begin);
    if (!messages.empty() && messages[0].role != "system" && !default_system_.empty()) {
      append(encode_message({"system", default_system_}), ids);
    }
    for (const Message& message : messages) append(encode_message(message), ids);
    if (reply == Reply::open) append(open_reply(), ids);
    return ids;
  }

  /// The tokens with which a dialogue goes on behind the assistant's answer: they close it, add
  /// the message, and open the next answer. One vector, so that a session takes all of it or
  /// nothing. Throws as encode.
  std::vector<token_t> encode_next(const Message& message) const {
    std::vector<token_t> ids = close_reply();
    append(encode_message(message), ids);
    append(open_reply(), ids);
    return ids;
  }

  /// The tokens of one message.
  std::vector<token_t> encode_message(const Message& message) const {
    if (message.role.empty() || message.role.find('\n') != message.role.npos) {
      raise(ConfigError("role", "\"" + printable(message.role) + "\"", "one line of text"));
    }
    std::vector<token_t> ids{start_};
    append(tokenizer_->encode(message.role + "\n" + message.content), ids);
    append(close_reply(), ids);
    return ids;
  }

  /// The tokens that open the assistant's answer.
  std::vector<token_t> open_reply() const {
    std::vector<token_t> ids{start_};
    append(tokenizer_->encode("assistant\n"), ids);
    return ids;
  }

  /// The tokens that close it. A model writes the first of them, `end_of_turn()`, itself.
  std::vector<token_t> close_reply() const {
    std::vector<token_t> ids{end_};
    append(tokenizer_->encode("\n"), ids);
    return ids;
  }

  /// The token that ends a message, and the template's own system message, if it has one.
  token_t end_of_turn() const { return end_; }
  const std::string& default_system() const { return default_system_; }

 private:
  token_t control_token(const char* text) const {
    const token_t id = tokenizer_->vocabulary().find(text, TokenType::control);
    if (id == no_token)
      raise(ConfigError("tokenizer.ggml.tokens", "(without it)",
                        std::string("the control token ") + text));
    return id;
  }

  static void append(const std::vector<token_t>& more, std::vector<token_t>& ids) {
    ids.insert(ids.end(), more.begin(), more.end());
  }

  const Tokenizer* tokenizer_;
  token_t start_ = no_token, end_ = no_token;
  std::string default_system_;
};

}  // namespace imbrex::inline IMBREX_ABI
