// What must not be in a header, so that the test that looks for it is known to find it.
#include <string>

static const std::string text(100, 'x');

int size_of_text();
int size_of_text() { return static_cast<int>(text.size()); }
