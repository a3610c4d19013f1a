// Any stop texts in any stream of pieces: what comes out is what stands before the first of them
// that is complete, wherever the stream is cut.
#include <string>
#include <vector>

#include "imbrex/generation/stop_text.hpp"
#include "imbrex/text/utf8_stream.hpp"
#include "tests/fuzz/input.hpp"

using namespace imbrex;
using fuzz::require;

namespace {

/// The definition: of the stop texts the one that ends first, of those the longest.
std::size_t end_of(const std::string& text, const std::vector<std::string>& stops, bool& found) {
  std::size_t begin = text.size(), end = text.size() + 1;
  for (const std::string& stop : stops) {
    const std::size_t at = text.find(stop);
    if (at == text.npos) continue;
    if (at + stop.size() < end || (at + stop.size() == end && at < begin)) {
      begin = at;
      end = at + stop.size();
    }
  }
  found = end <= text.size();
  return begin;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  std::vector<std::string> stops;
  for (unsigned n = input.below(4); n > 0; --n) {
    stops.emplace_back(input.text('\0'));
    if (stops.back().empty()) stops.pop_back();
  }
  std::string whole, out;
  StopText stop(stops);
  Utf8Stream characters;
  while (!input.empty() && !stop.found()) {
    const std::string piece(input.text('\0'));
    whole += piece;
    out += stop.feed(characters.feed(piece));
  }
  out += stop.feed(characters.flush());
  out += stop.flush();
  bool found = false;
  const std::size_t end = end_of(whole, stops, found);
  require(found == stop.found(), "a stop text is found where there is one");
  require(out == whole.substr(0, end), "the text up to the stop text comes out, and no more");
  return 0;
}
