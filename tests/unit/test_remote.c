/* test_remote.c - the parts of datarep-http.so that need no network: which addresses are private,
 * what a head says, which requests fetch a list of ranges. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/bytes.h"

#include "remote/address.h"
#include "remote/plan.h"
#include "remote/reply.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_private(const char *text)
{
    struct sockaddr_in in4 = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &in4.sin_addr) == 1)
        return address_private((const struct sockaddr *)&in4);
    ck_assert_int_eq(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
    return address_private((const struct sockaddr *)&in6);
}

START_TEST(test_private_addresses)
{
    static const char *const hidden[] = {"0.0.0.0",
                                         "10.1.2.3",
                                         "100.64.0.1",
                                         "127.0.0.1",
                                         "127.255.255.254",
                                         "169.254.169.254",
                                         "172.16.0.1",
                                         "172.31.255.255",
                                         "192.168.0.1",
                                         "198.18.0.1",
                                         "224.0.0.1",
                                         "255.255.255.255",
                                         "::",
                                         "::1",
                                         "::ffff:127.0.0.1",
                                         "::ffff:10.0.0.1",
                                         "::ffff:169.254.169.254",
                                         "::127.0.0.1",
                                         "64:ff9b::7f00:1",
                                         "64:ff9b:1::1",
                                         "2002:7f00:1::",
                                         "2001::1",
                                         "fc00::1",
                                         "fd12::1",
                                         "fe80::1",
                                         "fec0::1",
                                         "ff02::1",
                                         "100::1"};
    static const char *const open[] = {
        "1.1.1.1",        "9.255.255.255",    "11.0.0.0",        "100.63.255.255",  "100.128.0.0",
        "126.1.1.1",      "128.0.0.1",        "169.253.1.1",     "172.15.1.1",      "172.32.0.0",
        "192.167.1.1",    "192.169.0.1",      "223.255.255.255", "2606:4700::1111", "2a00:1450::1",
        "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::"};
    struct sockaddr local = {.sa_family = AF_UNIX};

    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        ck_assert_msg(is_private(hidden[i]), "%s", hidden[i]);
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        ck_assert_msg(!is_private(open[i]), "%s", open[i]);
    ck_assert(address_private(&local));
}
END_TEST

static struct reply reply_of(const char *text)
{
    struct reply r;

    reply_init(&r);
    while (*text) {
        size_t n = strcspn(text, "\n") + 1;

        ck_assert(reply_line(&r, text, n));
        text += n;
    }
    return r;
}

START_TEST(test_heads)
{
    struct reply r = reply_of("HTTP/1.1 100 Continue\r\nETag: \"old\"\r\n\r\n"
                              "HTTP/1.1 206 Partial Content\r\netag:  \"a b\"  \r\n"
                              "Content-Range: bytes 0-65535/1000000\r\nContent-Length: 65536\r\n"
                              "Last-Modified: Sat, 28 Nov 2026 20:00:00 GMT\r\n\r\n");

    ck_assert_int_eq(r.status, 206);
    ck_assert_str_eq(r.tag, "\"a b\"");
    ck_assert(r.tagged && r.dated && r.sized && r.ranged && !r.encoded);
    ck_assert_uint_eq(r.first, 0);
    ck_assert_uint_eq(r.last, 65535);
    ck_assert_uint_eq(r.total, 1000000);
    ck_assert_uint_eq(r.length, 65536);
    ck_assert_int_eq(r.wait, -1);
    r = reply_of("HTTP/2 503 \r\nRetry-After: 7\r\nContent-Encoding: gzip\r\n\r\n");
    ck_assert_int_eq(r.status, 503);
    ck_assert_int_eq(r.wait, 7);
    ck_assert(r.encoded && !r.tagged && !r.ranged);
}
END_TEST

START_TEST(test_false_ranges)
{
    static const char *const wrong[] = {"bytes 5-4/10",
                                        "bytes 0-10/10",
                                        "bytes 0-9/*",
                                        "bytes 0-9",
                                        "bytes */10",
                                        "bytes -9/10",
                                        "lines 0-9/10",
                                        "bytes 0-9/10x",
                                        "bytes 0-99999999999999999999/1",
                                        "",
                                        "bytes"};
    char line[200];

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct reply r;

        snprintf(line, sizeof line, "HTTP/1.1 206 OK\r\nContent-Range: %s\r\n", wrong[i]);
        r = reply_of(line);
        ck_assert_msg(!r.ranged, "%s", wrong[i]);
    }
}
END_TEST

START_TEST(test_heads_end)
{
    struct reply r;
    size_t n = 0;

    reply_init(&r);
    while (reply_line(&r, "X-Filler: aaaaaaaaaaaaaaaaaaaaaa\r\n", 34))
        n += 34;
    ck_assert_uint_le(n, REPLY_HEAD_MAX);
    ck_assert_uint_gt(n, REPLY_HEAD_MAX - 34);
    /* A new head is no new start. */
    ck_assert(!reply_line(&r, "X-Filler: aaaaaaaaaaaaaaaaaaaaaa\r\n", 34));
}
END_TEST

/* Check that parts hold each range whole, in order, and give their number. */
static size_t parts_of(const drep_range *range, size_t n, uint64_t *bytes)
{
    struct part *part;
    size_t nparts, at = 0;
    uint64_t done = range->offset;

    ck_assert_int_eq(plan_parts(range, n, &part, &nparts), 0);
    *bytes = 0;
    for (size_t i = 0; i < nparts; i++) {
        ck_assert_uint_le(part[i].size, PLAN_PART);
        ck_assert_uint_gt(part[i].size, 0);
        ck_assert_uint_ge(part[i].first, done);
        *bytes += part[i].size;
        done = part[i].first + part[i].size;
        for (; at < n && range[at].offset + range[at].size <= done; at++)
            ;
        if (at < n) /* the next range begins behind this part, or is cut by it */
            ck_assert(range[at].offset >= done || i + 1 < nparts);
    }
    ck_assert_uint_eq(at, n);
    free(part);
    return nparts;
}

START_TEST(test_plans)
{
    const uint64_t m = (uint64_t)1 << 20, k = 1024;
    drep_range near[] = {{0, 4096, NULL}, {8192, 4096, NULL}, {100 * k, 4096, NULL}};
    drep_range far[] = {{0, 4096, NULL}, {m, 4096, NULL}, {64 * m, 4096, NULL}};
    drep_range long_one[] = {{5, 20 * m, NULL}, {20 * m + 5, 7, NULL}};
    drep_range many[1000];
    uint64_t bytes;

    ck_assert_uint_eq(parts_of(near, 3, &bytes), 1);
    ck_assert_uint_eq(bytes, 104 * k - 4096 + 4096);
    ck_assert_uint_eq(parts_of(far, 3, &bytes), 3);
    ck_assert_uint_eq(bytes, 3 * 4096);
    ck_assert_uint_eq(parts_of(long_one, 2, &bytes), 3);
    ck_assert_uint_eq(bytes, 20 * m + 7);
    /* Every other chunk of 64 KiB: gaps are not fetched where they are as long as what is wanted.
     */
    for (size_t i = 0; i < 1000; i++)
        many[i] = (drep_range){i * 128 * k, 64 * k, NULL};
    parts_of(many, 1000, &bytes);
    ck_assert_uint_le(bytes, 1000 * 64 * k * 5 / 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("remote");
    TCase *tc = tcase_create("remote");

    tcase_add_test(tc, test_private_addresses);
    tcase_add_test(tc, test_heads);
    tcase_add_test(tc, test_false_ranges);
    tcase_add_test(tc, test_heads_end);
    tcase_add_test(tc, test_plans);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
