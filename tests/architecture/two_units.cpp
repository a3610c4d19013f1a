// Every header in a second translation unit: with a function that is not inline the program would
// not link, and what is `inline` is the same object in both.
#include "all_headers.hpp"

const void* threads_setting_of_unit();

int main() { return threads_setting_of_unit() == &imbrex::threads_detail::chosen_threads ? 0 : 1; }
