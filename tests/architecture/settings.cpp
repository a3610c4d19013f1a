// Two units of one program that pass each other a file: with -DTHERE the one that takes it, else
// the one that gives it. Whether they link says whether their settings agree.
#include "imbrex/formats/mapped_file.hpp"

imbrex::index_t size_of(const imbrex::MappedFile& file);

#if defined(THERE)
imbrex::index_t size_of(const imbrex::MappedFile& file) {
  return static_cast<imbrex::index_t>(file.bytes().size());
}
#else
int main(int, char** words) { return size_of(imbrex::MappedFile(words[0])) > 0 ? 0 : 1; }
#endif
