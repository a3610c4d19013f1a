// Whether a text is well-formed XML of the plain kind that pictures are: elements, attributes,
// text, the five entities.
#pragma once

#include <cctype>
#include <string>
#include <vector>

namespace imbrex::tests {

/// Empty where the text is well-formed; else what is wrong, and the place.
class XmlCheck {
 public:
  static std::string problem(const std::string& text) {
    XmlCheck check(text);
    check.run();
    return check.problem_;
  }

 private:
  explicit XmlCheck(const std::string& text) : text_(text) {}

  void run() {
    bool root_seen = false;
    while (problem_.empty() && at_ < text_.size()) {
      if (text_[at_] != '<') {
        if (open_.empty() && std::isspace(static_cast<unsigned char>(text_[at_])) == 0) {
          return fail("text outside of the root");
        }
        character();
        continue;
      }
      if (open_.empty() && root_seen) return fail("a second root");
      root_seen = true;
      tag();
    }
    if (problem_.empty() && (!root_seen || !open_.empty())) fail("an element is not closed");
  }

  void tag() {
    ++at_;
    if (take("/")) {
      const std::string name = word();
      if (open_.empty() || open_.back() != name) return fail("</" + name + "> closes nothing");
      open_.pop_back();
      if (!take(">")) fail("no > behind a name");
      return;
    }
    const std::string name = word();
    if (name.empty()) return fail("no name behind <");
    std::vector<std::string> attributes;
    while (take(" ")) {
      attributes.push_back(word());
      for (std::size_t i = 0; i + 1 < attributes.size(); ++i) {
        if (attributes[i] == attributes.back()) return fail("an attribute twice");
      }
      if (attributes.back().empty() || !take("=\"")) return fail("no attribute");
      while (problem_.empty() && at_ < text_.size() && text_[at_] != '"') {
        if (text_[at_] == '<') return fail("< in an attribute");
        character();
      }
      if (!take("\"")) return fail("no end of an attribute");
    }
    if (take("/>")) return;
    if (!take(">")) return fail("no end of a tag");
    open_.push_back(name);
  }

  void character() {
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c < 0x20 && c != '\n' && c != '\t') return fail("a control character");
    if (c != '&') {
      ++at_;
      return;
    }
    for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"}) {
      if (take(entity)) return;
    }
    fail("an unknown entity");
  }

  std::string word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '-' || text_[at_] == ':')) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  bool take(const std::string& expected) {
    if (text_.compare(at_, expected.size(), expected) != 0) return false;
    at_ += expected.size();
    return true;
  }

  void fail(const std::string& what) { problem_ = what + " at byte " + std::to_string(at_); }

  const std::string& text_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
  std::string problem_;
};

/// How often `piece` stands in `text`.
inline int occurrences(const std::string& text, const std::string& piece) {
  int count = 0;
  for (std::size_t at = text.find(piece); at != text.npos; at = text.find(piece, at + 1)) ++count;
  return count;
}

}  // namespace imbrex::tests
