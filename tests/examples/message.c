/* message.c - data sent to another machine: a pack unit says how its bytes are to be read.
 *
 * The sender packs as its own machine holds data, which costs a copy; the receiver, whatever it
 * is, unpacks into its own form.  The unit can lie anywhere: a socket, a queue, a file. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>

struct state {
    int step;
    double energy[2];
};

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

static drep_type *state_type(void)
{
    drep_type *pair, *state;

    check(drep_type_contiguous(2, DREP_DOUBLE, &pair));
    check(drep_type_struct(2, NULL, NULL, (const drep_type *[]){DREP_INT, pair}, &state));
    drep_type_free(pair);
    return state;
}

/* What a machine of another kind would have sent. */
static void *sender(const drep_type *type, int64_t *size)
{
    struct state s[2] = {{1, {0.5, -0.5}}, {2, {1e300, 0.1}}};
    int64_t position = 0;
    void *unit;

    check(drep_pack_unit_size("native:s390x", 2, type, size));
    unit = malloc((size_t)*size);
    if (!unit)
        exit(1);
    check(drep_pack_unit("native:s390x", s, 2, type, unit, *size, &position));
    return unit;
}

int main(void)
{
    drep_type *type = state_type();
    struct state s[2];
    drep_unitinfo info = DREP_UNITINFO;
    int64_t size, position = 0;
    void *unit = sender(type, &size);

    check(drep_pack_unit_info(unit, size, 0, &info));
    printf("%s, %d items, %d bytes of data\n", info.datarep, (int)info.items, (int)info.data_size);
    check(drep_unpack_unit(unit, size, &position, s, 2, type));
    printf("%d: %g %g\n%d: %g %g\n", s[0].step, s[0].energy[0], s[0].energy[1], s[1].step,
           s[1].energy[0], s[1].energy[1]);
    free(unit);
    drep_type_free(type);
    return 0;
}
