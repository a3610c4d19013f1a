# What Doxygen reads instead of a header: the same lines, with the code's conventions spelled out.
#
# 1. A docstring documents the paragraph below it: all declarations up to the next empty line. That
#    of a class documents the first paragraph in it, too: the members that a small struct consists
#    of. Here every further declaration of a documented paragraph gets a docstring of its own, and
#    `index_t rows, cols;` becomes two declarations.
# 2. `namespace a::inline IMBREX_ABI` is a to its users; Doxygen takes it for another one. It does
#    not know `explicit(condition)` either.

function opens(text) { return gsub(/[{(]/, "", text) }
function closes(text) { return gsub(/[})]/, "", text) }

# "  index_t a = 0, b;" as "  index_t a = 0; /** note */ index_t b;"; others as they are.
function split_names(text, note,   i, c, deep, parts, part, type) {
  if (text !~ /^ *[A-Za-z_:]+[^()]*, [^()]*;$/ || text ~ /using|template|operator|enum/) return text
  for (i = 1; i < length(text); ++i) {
    c = substr(text, i, 1)
    if (c ~ /[<{]/) ++deep
    if (c ~ /[>}]/) --deep
    if (c == "," && !deep) ++parts
    else part[parts + 0] = part[parts + 0] c
  }
  type = part[0]
  sub(/ *(=|\{).*/, "", type)
  sub(/[a-z_0-9]+(\[[^\]]*\])?$/, "", type)
  sub(/^ */, "", type)
  text = part[0] ";"
  for (i = 1; i <= parts; ++i) text = text " /** " note " */ " type part[i] ";"
  return text
}

{
  sub(/::inline IMBREX_ABI \{/, " {")
  sub(/^inline namespace IMBREX_ABI \{/, "extern \"C++\" {")
  sub(/explicit\(!\([^()]*\)\)/, "explicit")
  sub(/explicit\([^()]*\)/, "explicit")
  sub(/static constexpr const char\* name = /, "/** As it is printed. */ &")  # an axis is one line
  line = code = $0
  gsub(/'[^']'|"([^"\\]|\\.)*"/, "", code)
  is_doc = code ~ /^ *\/\/\//
  sub(/ *\/\/.*/, "", code)
  empty = code ~ /^ *$/

  if (line ~ /^ *$/ && depth == base) documented = 0
  if (is_doc && depth == base) documented = 1

  declares = !empty && depth == base && ended && code !~ /^ *[#}]/ &&
             code !~ /^ *(public|private|protected|namespace|inline namespace)/
  if (declares && line ~ /\/\/\/</) {
    note = line
    sub(/.*\/\/\/< */, "", note)
    comment = substr(line, index(line, "///<"))
    line = split_names(code, note)
    if (line == code) line = line "  " comment
    else sub(/^ */, "&/** " note " */ ", line)
  } else if (declares && code ~ /= (default|delete);$/ && !follows_doc) {
    sub(/^ */, "&/** As the compiler has it. */ ", line)
  } else if (declares && documented) {
    note = "As above."
    if (code == line) line = split_names(code, note)
    if (!follows_doc) sub(/^ */, "&/** " note " */ ", line)
  }
  print line

  if (is_doc) follows_doc = 1
  if (empty) next
  follows_doc = 0
  before = depth
  depth += opens(code) - closes(code)
  ended = code ~ /[;{}:]$/ || code ~ /^ *#/
  in_class = header_of_class ||
             code ~ /^ *(template <.*> *)?(class|struct|enum|union|namespace|inline namespace|extern)/
  if (depth > before && in_class && code ~ /\{$/) {
    base = depth
    bases[depth] = before
    ended = 1
  }
  header_of_class = (header_of_class || code ~ /^ *(class|struct|union)/) && !ended
  while (base > depth) base = (base in bases) ? bases[base] : depth
}
