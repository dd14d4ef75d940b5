/* long.c - messages that exceed a count of MPI, with a count of 1000. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"

#define TRANSPORT_COUNT_MAX 1000
#include "lib/mpi/transport.c"

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 999, 1000, 1001, 1999, 2000, 123456, 10000000};
    struct transport *t;
    size_t k, i;

    check_begin(&argc, &argv);
    OK(transport_new("test", MPI_COMM_WORLD, 0, NULL, &t));
    for (k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        drep_message *m = drep_message_new(sizes[k]);

        for (i = 0; i < sizes[k]; i++)
            DREP_MESSAGE_BYTES(m)[i] = (unsigned char)(i * 7 + k);
        OK(transport_send(t, (t->rank + 1) % t->ranks, m));
        OK(transport_receive(t, &m, INT64_MAX));
        CHECK(m->size == sizes[k] && m->from == (t->rank + t->ranks - 1) % t->ranks,
              "%zu bytes of %d", m->size, m->from);
        for (i = 0; i < m->size; i++)
            if (DREP_MESSAGE_BYTES(m)[i] != (unsigned char)(i * 7 + k))
                break;
        CHECK(i == m->size, "byte %zu", i);
        drep_message_free(m);
    }
    transport_release(t, 0);
    check_case("messages around and beyond a count");
    return check_end();
}
