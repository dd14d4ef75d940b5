/* plugin_xor.c - a filter as a shared object: each byte changed by the first parameter.
 *
 * Built as xor.so into a directory named by the hint drep_plugin_path, it serves every file
 * whose datasets name the filter "xor". */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>

static int turn(const uint32_t *params, int nparams, const void *in, size_t in_size, void *out,
                size_t *out_size, void *extra_state)
{
    const uint8_t *from = in;
    uint8_t *to = out;
    size_t i;

    (void)extra_state;
    if (nparams < 1)
        return 1;
    for (i = 0; i < in_size && in_size <= *out_size; i++)
        to[i] = (uint8_t)(from[i] ^ params[0]);
    *out_size = in_size;
    return 0;
}

int drep_plugin_init(void)
{
    return drep_register_filter("xor", turn, turn, NULL, DREP_FILTER_KEEP);
}
