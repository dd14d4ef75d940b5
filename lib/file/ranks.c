/* ranks.c - the ranks that share an open file. */
/* SPDX-License-Identifier: MIT */
#include "file/ranks.h"

#include "base/error.h"
#include "base/mem.h"

drep_message *drep_message_new(size_t size)
{
    drep_message *m = size <= SIZE_MAX - sizeof *m ? mem_alloc(size + sizeof *m) : NULL;

    if (m)
        *m = (drep_message){.size = size};
    return m;
}

void drep_message_free(drep_message *message)
{
    mem_free(message);
}

/* ---- a team on the caller's transport ---- */

/* A transport's own error has no message of ours. */
static int transport_failed(const struct ranks *r, int err, const char *what)
{
    if (err == DREP_ERR_TIMEOUT)
        return err;
    return fail(err, "rank %d: %s: %s", r->team.rank, what, drep_strerror(err));
}

static int send_message(struct team *t, int to, struct drep_message *m)
{
    const struct ranks *r = t->ctx;
    int err = r->transport.send(r->ctx, to, m);

    return err ? transport_failed(r, err, "a message was not sent") : 0;
}

static int receive_message(struct team *t, struct drep_message **m, int64_t deadline)
{
    const struct ranks *r = t->ctx;
    int err = r->transport.receive(r->ctx, m, deadline);

    if (err)
        return transport_failed(r, err, "no message was received");
    if ((*m)->from < 0 || (*m)->from >= t->size) {
        err = fail(DREP_ERR_ARG, "a message of rank %d, and there are %d", (*m)->from, t->size);
        mem_free(*m);
    }
    return err;
}

static const struct team_ops ops = {send_message, receive_message};

int ranks_new(const drep_transport *transport, void *ctx, struct ranks **out)
{
    struct ranks *r = mem_zalloc(1, sizeof *r);

    if (!r) {
        if (transport->release)
            transport->release(ctx, 0);
        return fail_nomem();
    }
    r->transport = *transport;
    r->ctx = ctx;
    team_init(&r->team, &ops, r, transport->rank, transport->ranks, transport->timeout_ns);
    *out = r;
    return 0;
}

void ranks_release(struct ranks *r)
{
    int gave_up;

    if (!r)
        return;
    gave_up = r->team.dead != 0;
    team_release(&r->team);
    if (r->transport.release)
        r->transport.release(r->ctx, gave_up);
    idset_release(&r->written);
    mem_free(r);
}

/* ---- for calls ---- */

int shared_refuses(const drep_file *f, const char *call)
{
    if (!file_shared(f))
        return 0;
    return fail(DREP_ERR_UNSUPPORTED_OPERATION, "%s: not on a file that %d ranks share", call,
                f->ranks->team.size);
}

struct io *ranks_io(const drep_file *f)
{
    return f->st->shadow ? io_shadow_base(f->st->io) : f->st->io;
}

int drep_team_of(drep_file *file, int *rank, int *ranks)
{
    int err = file_check(file);

    if (err)
        return err;
    if (rank)
        *rank = file->ranks ? file->ranks->team.rank : 0;
    if (ranks)
        *ranks = file->ranks ? file->ranks->team.size : 1;
    return 0;
}
