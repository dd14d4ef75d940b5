/* shortest.cc - the shortest text that reads back to the same number.
 *
 * The one C++ file: std::to_chars is a well-kept implementation of shortest round-trip
 * printing, and needs no locale. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/shortest.h"
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

/* Digits up to the last that is not 0. */
static std::size_t digits(const char *text, const char *end)
{
    std::size_t n = 0, last = 0;

    for (; text < end && *text != 'e'; text++) {
        if (*text < '0' || *text > '9')
            continue;
        n++;
        last = *text != '0' ? n : last;
    }
    return last;
}

/* Without an exponent std::to_chars writes all digits of a large integer, also those that are
 * not needed to tell it from its neighbours. */
template <typename T> static std::size_t shortest(char *text, T value)
{
    char *end = std::to_chars(text, text + SHORTEST_MAX, value).ptr;
    char other[SHORTEST_MAX], *other_end;
    /* Every integer below has a value of its own. */
    const T all = std::ldexp(T(1), std::numeric_limits<T>::digits);

    if (std::fabs(value) < all || std::memchr(text, 'e', static_cast<std::size_t>(end - text)))
        return static_cast<std::size_t>(end - text);
    other_end =
        std::to_chars(other, other + SHORTEST_MAX, value, std::chars_format::scientific).ptr;
    if (digits(other, other_end) >= digits(text, end))
        return static_cast<std::size_t>(end - text);
    std::memcpy(text, other, static_cast<std::size_t>(other_end - other));
    return static_cast<std::size_t>(other_end - other);
}

extern "C" std::size_t shortest_float(char *text, float value)
{
    return shortest(text, value);
}

extern "C" std::size_t shortest_double(char *text, double value)
{
    return shortest(text, value);
}
