#include "imbrex/base/errors.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace imbrex;

TEST_CASE("everything thrown is an Error, and a std::exception") {
  CHECK_THROWS_AS(raise(ShapeError("x")), const Error&);
  CHECK_THROWS_AS(raise(ConfigError("k", "v", "w")), const Error&);
  CHECK_THROWS_AS(raise(FormatError({})), const Error&);
  CHECK_THROWS_AS(raise(CapacityError("x")), const Error&);
  CHECK_THROWS_AS(raise(TokenError("x")), const Error&);
  CHECK_THROWS_AS(raise(NumericError("x")), const std::exception&);
  CHECK_THROWS_AS(raise(ShapeError("x")), const ShapeError&);  // not sliced to its base
}

TEST_CASE("a configuration error has key, value and what was expected") {
  const ConfigError error("IMBREX_ISA", "avx9", "one of scalar, avx2");
  CHECK(error.what() == std::string("IMBREX_ISA = avx9: expected one of scalar, avx2"));
  CHECK(error.key() == "IMBREX_ISA");
  CHECK(error.value() == "avx9");
}

TEST_CASE("an error is one line that upsets no terminal, whatever it tells of") {
  const ConfigError config("IMBREX_ISA", "a\nb\x1b[2J", "a name");
  CHECK(std::string(config.what()) == "IMBREX_ISA = a?b?[2J: expected a name");
  CHECK(config.value() == "a\nb\x1b[2J");
  FormatFault fault;
  fault.file = "x\n\x1b]0;title\x07.gguf";
  fault.problem = "cannot be opened";
  const FormatError format(fault);
  CHECK(std::string(format.what()) == "x??]0;title?.gguf: cannot be opened");
  const std::string path(5000, 'p');  // nothing is cut off
  CHECK(std::string(ShapeError(path).what()) == path);
  CHECK(std::string(Error(std::string("a\0b", 3)).what()) == "a?b");
  CHECK(std::string(Error("\u4E2D\u6587").what()) == "\u4E2D\u6587");
}

TEST_CASE("a format error says what is known, and no more") {
  FormatFault fault;
  fault.file = "m.gguf";
  fault.problem = "tensor data ends past the end of the file";
  CHECK(FormatError(fault).what() ==
        std::string("m.gguf: tensor data ends past the end of the file"));
  fault.tensor = "output.weight";
  fault.offset = 96;
  fault.expected = "64 bytes";
  fault.got = "3 bytes";
  const FormatError error(fault);
  CHECK(error.what() == std::string("m.gguf: tensor data ends past the end of the file "
                                    "(output.weight) at byte 96: expected 64 bytes, got 3 bytes"));
  CHECK(error.fault().offset == 96);
  FormatFault bare;
  bare.problem = "empty";
  bare.got = "0 bytes";
  CHECK(FormatError(bare).what() == std::string("empty: got 0 bytes"));
}
