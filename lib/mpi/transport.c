/* transport.c - messages between ranks over MPI, point to point. */
/* SPDX-License-Identifier: MIT */
#include "mpi/transport.h"
#include "mpi/glue.h"
#include "mpi/mpiio.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Bytes that one count of MPI holds; a longer message has a datatype of its own. */
#ifndef TRANSPORT_COUNT_MAX
#define TRANSPORT_COUNT_MAX INT_MAX
#endif

enum {
    TAG = 1,
    EAGER_POLLS = 2000, /* then the processor is offered to other ranks */
    YIELDS = 2000,      /* then the wait sleeps, longer and longer */
    SLEEP_MIN_NS = 1000,
    SLEEP_MAX_NS = 200000,
    SLEEP_MOVING_NS = 20000 /* while a message moves, whose pieces need this rank */
};

struct transport {
    MPI_Comm comm;
    MPI_File file; /* for payload, or MPI_FILE_NULL */
    int rank, ranks;
    bool by_mpi; /* payload, unless MPI-IO is of no use */
    int64_t timeout_ns;
    /* Messages that MPI may not have copied yet. */
    MPI_Request *request;
    drep_message **sending;
    int n_sending, room;
    /* The message that is being received, if any: its beginning has arrived. */
    drep_message *arriving;
    MPI_Request arrival;
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Poll n of a wait failed.  Ranks are often more than processors: one that only polls would keep
 * another from sending what it polls for. */
static void wait_a_little(int64_t n, long longest_ns)
{
    struct timespec t = {0, longest_ns};

    if (n < EAGER_POLLS)
        return;
    if (n < EAGER_POLLS + YIELDS) {
        sched_yield();
        return;
    }
    if (n - EAGER_POLLS - YIELDS < longest_ns / SLEEP_MIN_NS)
        t.tv_nsec = SLEEP_MIN_NS * (1 + n - EAGER_POLLS - YIELDS);
    nanosleep(&t, NULL);
}

static long sleep_of(const struct transport *t)
{
    return t->n_sending > 0 || t->arriving ? SLEEP_MOVING_NS : SLEEP_MAX_NS;
}

/* ------------------------------------------------------------ a communicator */

static int check_comm(const char *call, MPI_Comm comm)
{
    int inter = 0, err;

    if (comm == MPI_COMM_NULL)
        return glue_fail(DREP_ERR_ARG, "%s: MPI_COMM_NULL", call);
    err = glue_mpi(MPI_Comm_test_inter(comm, &inter), call);
    if (!err && inter)
        err = glue_fail(DREP_ERR_ARG, "%s: an intercommunicator; merge it first", call);
    return err;
}

/* What MPI fills in until all ranks have come. */
struct transport_meeting {
    MPI_Comm copy;
    MPI_Request request[2];
    /* Hashes of nodes, their complements, and what rank 0's hint asks for. */
    uint64_t mine[3], most[3];
};

static int meeting_begin(const char *call, MPI_Comm comm, const drep_info *info,
                         struct transport_meeting *m)
{
    int rank = 0;
    int err = glue_mpi(MPI_Comm_idup(comm, &m->copy, &m->request[0]), call);

    m->mine[0] = mpiio_node();
    m->mine[1] = ~m->mine[0];
    if (!err)
        err = glue_mpi(MPI_Comm_rank(comm, &rank), call);
    m->mine[2] = rank ? 0 : (uint64_t)mpiio_asked(info);
    if (!err)
        err = glue_mpi(
            MPI_Iallreduce(m->mine, m->most, 3, MPI_UINT64_T, MPI_MAX, comm, &m->request[1]), call);
    return err;
}

static int meeting_wait(const char *call, struct transport_meeting *m, int64_t timeout_ns)
{
    int64_t n, deadline = timeout_ns ? now_ns() + timeout_ns : INT64_MAX;
    MPI_Status status[2];
    int done = 0, err = 0;

    for (n = 0; !err && !done; n++) {
        err = glue_mpi(MPI_Testall(2, m->request, &done, status), call);
        if (!err && !done && now_ns() >= deadline)
            err = glue_fail(DREP_ERR_TIMEOUT,
                            "%s: not all ranks of the communicator called it within %g s", call,
                            (double)timeout_ns / 1e9);
        if (!err && !done)
            wait_a_little(n, SLEEP_MAX_NS);
    }
    return err;
}

/* Make a duplicate, whose errors are returned.  A rank that does not come is given up; then MPI has
 * the meeting for ever. */
static int meet(const char *call, MPI_Comm comm, const drep_info *info, struct transport *t)
{
    struct transport_meeting *m = glue_alloc(1, sizeof *m);
    int err;

    if (!m)
        return DREP_ERR_NOMEM;
    err = meeting_begin(call, comm, info, m);
    if (!err)
        err = meeting_wait(call, m, t->timeout_ns);
    if (err)
        return err;
    t->comm = m->copy;
    t->by_mpi = mpiio_chosen((enum mpiio_asked)m->most[2], m->most[0] != ~m->most[1]);
    free(m);
    return glue_mpi(MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN), call);
}

int transport_new(const char *call, MPI_Comm comm, int64_t timeout_ns, const drep_info *info,
                  struct transport **out)
{
    struct transport *t;
    int err = check_comm(call, comm);

    if (err)
        return err;
    /* Without memory this rank is missed by the others until their timeout: too rare to agree on
     * before there is anything to agree over. */
    t = glue_alloc(1, sizeof *t);
    if (!t)
        return DREP_ERR_NOMEM;
    t->timeout_ns = timeout_ns;
    t->arrival = MPI_REQUEST_NULL;
    t->file = MPI_FILE_NULL;
    err = meet(call, comm, info, t);
    if (!err)
        err = glue_mpi(MPI_Comm_rank(t->comm, &t->rank), call);
    if (!err)
        err = glue_mpi(MPI_Comm_size(t->comm, &t->ranks), call);
    if (err) {
        free(t);
        return err;
    }
    *out = t;
    return 0;
}

void transport_fill(const struct transport *t, drep_transport *out)
{
    *out = DREP_TRANSPORT(.rank = t->rank, .ranks = t->ranks, .timeout_ns = t->timeout_ns,
                          .send = transport_send, .receive = transport_receive,
                          .flush = transport_flush, .release = transport_release,
                          .payload = t->by_mpi ? transport_payload : NULL);
}

int transport_payload(void *ctx, const char *path, int amode, const drep_info *info,
                      drep_driver *driver, void **state)
{
    struct transport *t = ctx;
    int err = mpiio_open(t->comm, path, amode, info, &t->file);

    if (err || t->file == MPI_FILE_NULL)
        return err;
    driver->read_many = mpiio_read;
    driver->write_at = mpiio_write;
    *state = &t->file;
    return 0;
}

/* ------------------------------------------------------------ the datatype */

/* `size` bytes as a count of a datatype: bytes, or one long derived datatype, which `made` has. */
struct message_extent {
    int count;
    MPI_Datatype datatype;
    bool made;
};

static int long_datatype(size_t size, MPI_Datatype *out)
{
    size_t whole = size / TRANSPORT_COUNT_MAX, rest = size % TRANSPORT_COUNT_MAX;
    MPI_Datatype part[2] = {MPI_DATATYPE_NULL, MPI_BYTE};
    MPI_Aint at[2] = {0, (MPI_Aint)(size - rest)};
    int len[2] = {(int)whole, (int)rest};
    int result;

    if (whole > INT_MAX)
        return MPI_ERR_COUNT;
    result = MPI_Type_contiguous(TRANSPORT_COUNT_MAX, MPI_BYTE, &part[0]);
    if (result != MPI_SUCCESS)
        return result;
    result = MPI_Type_create_struct(2, len, at, part, out);
    MPI_Type_free(&part[0]);
    return result == MPI_SUCCESS ? MPI_Type_commit(out) : result;
}

static int message_extent_of(size_t size, struct message_extent *e)
{
    *e = (struct message_extent){.count = (int)size, .datatype = MPI_BYTE};
    if (size <= TRANSPORT_COUNT_MAX)
        return 0;
    e->count = 1;
    e->made = true;
    return glue_mpi(long_datatype(size, &e->datatype), "a long message");
}

/* MPI keeps what a message under way needs of it. */
static void extent_release(struct message_extent *e)
{
    if (e->made)
        MPI_Type_free(&e->datatype);
}

/* ------------------------------------------------------------------ sending */

/* Free the messages that MPI has sent. */
static int reap(struct transport *t)
{
    int i, n = 0, err = 0;

    for (i = 0; i < t->n_sending; i++) {
        int done = 0;

        if (!err)
            err = glue_mpi(MPI_Test(&t->request[i], &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done) {
            drep_message_free(t->sending[i]);
        } else {
            t->sending[n] = t->sending[i];
            t->request[n++] = t->request[i];
        }
    }
    t->n_sending = n;
    return err;
}

static int room_for_one(struct transport *t)
{
    int room = t->room ? 2 * t->room : 16;
    void *p;

    if (t->n_sending < t->room)
        return 0;
    if ((p = realloc(t->request, (size_t)room * sizeof *t->request)))
        t->request = p;
    if (p && (p = realloc(t->sending, (size_t)room * sizeof *t->sending)))
        t->sending = p;
    if (!p)
        return glue_fail(DREP_ERR_NOMEM, "out of memory");
    t->room = room;
    return 0;
}

int transport_send(void *ctx, int to, drep_message *message)
{
    struct transport *t = ctx;
    struct message_extent e = {0};
    int err = glue_ready("message");

    if (!err)
        err = reap(t);
    if (!err)
        err = room_for_one(t);
    if (!err)
        err = message_extent_of(message->size, &e);
    if (!err)
        err = glue_mpi(MPI_Isend(DREP_MESSAGE_BYTES(message), e.count, e.datatype, to, TAG, t->comm,
                                 &t->request[t->n_sending]),
                       "MPI_Isend");
    extent_release(&e);
    if (err) {
        drep_message_free(message);
        return err;
    }
    t->sending[t->n_sending++] = message;
    return 0;
}

int transport_flush(void *ctx, int64_t deadline_ns)
{
    struct transport *t = ctx;
    int64_t n;
    int err = glue_ready("message");

    for (n = 0; !err && t->n_sending > 0; n++) {
        err = reap(t);
        if (t->n_sending > 0 && now_ns() >= deadline_ns)
            break;
        if (t->n_sending > 0)
            wait_a_little(n, sleep_of(t));
    }
    return err;
}

/* ---------------------------------------------------------------- receiving */

/* Begin to receive a message that was seen. */
static int begin(struct transport *t, MPI_Message *seen, const MPI_Status *status)
{
    struct message_extent e = {0};
    MPI_Count size = 0;
    drep_message *m;
    int err = glue_mpi(MPI_Get_elements_x(status, MPI_BYTE, &size), "MPI_Get_elements_x");

    if (err)
        return err;
    m = drep_message_new((size_t)size);
    if (!m)
        return glue_fail(DREP_ERR_NOMEM, "out of memory: a message of %lld bytes", (long long)size);
    m->from = status->MPI_SOURCE;
    err = message_extent_of((size_t)size, &e);
    if (!err)
        err = glue_mpi(MPI_Imrecv(DREP_MESSAGE_BYTES(m), e.count, e.datatype, seen, &t->arrival),
                       "MPI_Imrecv");
    extent_release(&e);
    if (err)
        drep_message_free(m);
    else
        t->arriving = m;
    return err;
}

/* Look once: *message, or NULL. */
static int look(struct transport *t, drep_message **message)
{
    MPI_Message seen;
    MPI_Status status;
    int flag = 0, err = 0;

    *message = NULL;
    if (!t->arriving) {
        err = glue_mpi(MPI_Improbe(MPI_ANY_SOURCE, TAG, t->comm, &flag, &seen, &status),
                       "MPI_Improbe");
        if (!err && flag)
            err = begin(t, &seen, &status);
    }
    if (err || !t->arriving)
        return err;
    err = glue_mpi(MPI_Test(&t->arrival, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    if (!err && flag) {
        *message = t->arriving;
        t->arriving = NULL;
    }
    return err;
}

int transport_receive(void *ctx, drep_message **message, int64_t deadline_ns)
{
    struct transport *t = ctx;
    drep_message *m = NULL;
    int64_t n;
    int err = glue_ready("message");

    for (n = 0; !err; n++) {
        err = look(t, &m);
        if (!err && !m && n % 64 == 0)
            err = reap(t);
        if (err || m)
            break;
        if (deadline_ns != INT64_MAX && now_ns() >= deadline_ns)
            return glue_fail(DREP_ERR_TIMEOUT, "no message in time");
        wait_a_little(n, sleep_of(t));
    }
    if (!err)
        *message = m;
    return err;
}

/* ---------------------------------------------------------------------- end */

/* The others take all that was sent to them before they end their last call. */
static bool all_sent(struct transport *t)
{
    int64_t deadline = t->timeout_ns ? now_ns() + t->timeout_ns : INT64_MAX;

    return !transport_flush(t, deadline) && t->n_sending == 0;
}

void transport_release(void *ctx, int gave_up)
{
    struct transport *t = ctx;
    bool usable = !glue_in_child() && !glue_ready("release");

    /* Messages under way keep their memory, and the communicator that they travel on.  Closing a
     * file of MPI-IO is collective. */
    if (usable && gave_up)
        reap(t);
    if (usable && !gave_up && !t->arriving && all_sent(t)) {
        if (t->file != MPI_FILE_NULL)
            MPI_File_close(&t->file);
        MPI_Comm_free(&t->comm);
    }
    free(t->request);
    free(t->sending);
    free(t);
}
