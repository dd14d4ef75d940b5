/* address.c - addresses that a stranger's URL must not reach.
 *
 * The lists are IANA's special-purpose registries (RFC 6890).  The address is the one that a
 * connection is made to, after names were resolved, so that no name server decides. */
/* SPDX-License-Identifier: MIT */
#include "remote/address.h"
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const struct {
    uint8_t prefix[4];
    int bits;
} special4[] = {{{0}, 8},         {{10}, 8},       {{100, 64}, 10},      {{127}, 8},
                {{169, 254}, 16}, {{172, 16}, 12}, {{192, 0, 0}, 24},    {{192, 0, 2}, 24},
                {{192, 168}, 16}, {{198, 18}, 15}, {{198, 51, 100}, 24}, {{203, 0, 113}, 24},
                {{224}, 3}};

/* at: where an IPv4 address is inside, -1: the whole range is special. */
static const struct {
    uint8_t prefix[16];
    int bits, at;
} special6[] = {{{[10] = 0xff, 0xff}, 96, 12},         /* IPv4-mapped */
                {{0}, 96, -1},                         /* ::, ::1, IPv4-compatible */
                {{0, 0x64, 0xff, 0x9b}, 96, 12},       /* NAT64 */
                {{0, 0x64, 0xff, 0x9b, 0, 1}, 48, -1}, /* local NAT64 */
                {{0x01}, 8, -1},                       /* discard-only */
                {{0x20, 0x01, 0x00}, 23, -1},          /* protocol assignments, Teredo */
                {{0x20, 0x01, 0x0d, 0xb8}, 32, -1},    /* documentation */
                {{0x20, 0x02}, 16, 2},                 /* 6to4 */
                {{0xfc}, 7, -1},                       /* unique local */
                {{0xfe, 0x80}, 9, -1},                 /* link-local, site-local */
                {{0xff}, 8, -1}};                      /* multicast */

static bool in_prefix(const uint8_t *address, const uint8_t *prefix, int bits)
{
    int whole = bits / 8, rest = bits % 8;

    return memcmp(address, prefix, (size_t)whole) == 0 &&
           (rest == 0 || (address[whole] ^ prefix[whole]) >> (8 - rest) == 0);
}

static bool is_private4(const uint8_t *address)
{
    for (size_t i = 0; i < sizeof special4 / sizeof *special4; i++)
        if (in_prefix(address, special4[i].prefix, special4[i].bits))
            return true;
    return false;
}

static bool is_private6(const uint8_t *address)
{
    for (size_t i = 0; i < sizeof special6 / sizeof *special6; i++)
        if (in_prefix(address, special6[i].prefix, special6[i].bits))
            return special6[i].at < 0 || is_private4(address + special6[i].at);
    return false;
}

bool address_private(const struct sockaddr *address)
{
    struct sockaddr_in in4;
    struct sockaddr_in6 in6;

    if (address->sa_family == AF_INET) {
        memcpy(&in4, address, sizeof in4);
        return is_private4((const uint8_t *)&in4.sin_addr);
    }
    if (address->sa_family == AF_INET6) {
        memcpy(&in6, address, sizeof in6);
        return is_private6((const uint8_t *)&in6.sin6_addr);
    }
    return true;
}
