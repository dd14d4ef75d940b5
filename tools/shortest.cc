/* shortest.cc - the shortest text that reads back to the same number.
 *
 * The one C++ file: std::to_chars is a well-kept implementation of shortest round-trip
 * printing, and needs no locale. */
#include "shortest.h"
#include <charconv>

extern "C" std::size_t shortest_float(char *text, float value)
{
    return static_cast<std::size_t>(std::to_chars(text, text + SHORTEST_MAX, value).ptr - text);
}

extern "C" std::size_t shortest_double(char *text, double value)
{
    return static_cast<std::size_t>(std::to_chars(text, text + SHORTEST_MAX, value).ptr - text);
}
