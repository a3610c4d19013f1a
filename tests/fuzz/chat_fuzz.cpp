// Dialogues of any roles and contents, behind any chat template: an error of the library, or the
// tokens of just that dialogue, in which no text became a control token.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "imbrex/text/chat.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/text/tiny_vocabulary.hpp"

using namespace imbrex;
using fuzz::require;

namespace {

Tokenizer tokenizer_with(std::string_view chat_template, bool add_begin) {
  tests::TinyVocabulary tiny("smollm", {{"\n", "\n"}, {"u", "s"}, {"us", "e"}, {"use", "r"}});
  tiny.parts.special.begin = tiny.add("<|endoftext|>", TokenType::control);
  tiny.add("<|im_start|>", TokenType::control);
  tiny.add("<|im_end|>", TokenType::control);
  tiny.parts.add_begin = add_begin;
  tiny.parts.chat_template = chat_template;
  return Tokenizer(Vocabulary(std::move(tiny.parts)));
}

/// The dialogue as the template has it.
std::string rendered(const std::vector<Message>& messages, const std::string& default_system) {
  std::string text;
  const auto add = [&](const std::string& role, const std::string& content) {
    text += "<|im_start|>" + role + "\n" + content + "<|im_end|>\n";
  };
  if (!messages.empty() && messages[0].role != "system" && !default_system.empty()) {
    add("system", default_system);
  }
  for (const Message& message : messages) add(message.role, message.content);
  return text + "<|im_start|>assistant\n";
}

void check_dialogue(const Tokenizer& tokenizer, const ChatMl& chat,
                    const std::vector<Message>& messages) {
  std::vector<token_t> ids = chat.encode(messages);
  if (tokenizer.vocabulary().add_begin()) {
    require(ids.front() == tokenizer.vocabulary().special().begin, "the first token begins a text");
    ids.erase(ids.begin());
  }
  require(tokenizer.decode(ids, SpecialText::shown) == rendered(messages, chat.default_system()),
          "the tokens are the dialogue");
  const bool adds =
      !messages.empty() && messages[0].role != "system" && !chat.default_system().empty();
  const auto turns = static_cast<index_t>(messages.size()) + (adds ? 1 : 0);
  require(std::count(ids.begin(), ids.end(), chat.end_of_turn()) == turns,
          "as many turns end as there are");
  if (messages.empty()) return;
  std::vector<token_t> next = chat.close_reply();
  for (const auto& part : {chat.encode_message(messages.back()), chat.open_reply()}) {
    next.insert(next.end(), part.begin(), part.end());
  }
  require(chat.encode_next(messages.back()) == next, "a dialogue goes on message by message");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned flags = input.below(2);
  const std::string_view chat_template = input.text('\0');
  text::default_system_message(chat_template);
  const Tokenizer tokenizer = tokenizer_with(chat_template, flags != 0);
  std::optional<ChatMl> chat;
  try {
    chat.emplace(tokenizer);
  } catch (const ConfigError&) {
    require(chat_template.find("<|im_start|>") == chat_template.npos, "ChatML is known as such");
    return 0;
  }
  std::vector<Message> messages;
  while (!input.empty() && messages.size() < 8) {
    const std::string role(input.text('\0'));
    messages.push_back({role, std::string(input.text('\0'))});
  }
  const bool roles = std::all_of(messages.begin(), messages.end(), [](const Message& m) {
    return !m.role.empty() && m.role.find('\n') == m.role.npos;
  });
  try {
    check_dialogue(tokenizer, *chat, messages);
    require(roles, "a role that is none is refused");
  } catch (const ConfigError&) {
    require(!roles, "roles that are some are taken");
  }
  return 0;
}
