// imbrex::json: nlohmann-json is found.
#include <cstdio>

#include "imbrex/json.hpp"

int main() {
  const imbrex::Json json = imbrex::Json::parse(R"({"layers": [1, 2, 3]})", "text");
  std::printf("%s\n", json.root().at("layers").describe().c_str());
  return json.root().at("layers").size() == 3 ? 0 : 1;
}
