/* ranks.c - the ranks that share an open file. */
/* SPDX-License-Identifier: MIT */
#include "par/leases.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"

#include <datarep-team.h>
#include <string.h>

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

int ranks_new(const drep_transport *transport, void *ctx, struct ranks **out)
{
    struct ranks *r = mem_zalloc(1, sizeof *r);
    drep_transport *own = mem_alloc(sizeof *own);

    if (!r || !own) {
        mem_free(own);
        mem_free(r);
        if (transport->release)
            transport->release(ctx, 0);
        return fail_nomem();
    }
    *own = *transport;
    r->transport = own;
    team_init(&r->team, own, ctx);
    *out = r;
    if (!leases_new(r))
        return 0;
    ranks_release(r);
    return DREP_ERR_NOMEM;
}

void pending_free(struct pending *p)
{
    buf_release(&p->runs);
    buf_release(&p->elements);
    buf_release(&p->heap);
    for (size_t i = 0; i < p->nranges; i++)
        byte_ranges_release(&p->ranges[i]);
    mem_free(p->ranges);
    for (size_t i = 0; i < p->nleased; i++)
        mem_free(p->leased[i].sums);
    mem_free(p->leased);
    idset_release(&p->leased_at);
    mem_free(p);
}

struct shrunk_dataset *ranks_find_shrunk(const struct ranks *r, uint64_t id)
{
    for (size_t i = 0; i < r->nshrunk; i++)
        if (r->shrunk[i].id == id)
            return &r->shrunk[i];
    return NULL;
}

void ranks_shrunk_alike(struct ranks *r, uint64_t id, const uint64_t *len)
{
    struct shrunk_dataset *s = ranks_find_shrunk(r, id);

    if (s)
        memcpy(s->len, len, (size_t)s->rank * sizeof *len);
}

int ranks_shrunk(struct ranks *r, uint64_t id, int rank, const uint64_t *len)
{
    struct shrunk_dataset *s = ranks_find_shrunk(r, id);

    if (!s) {
        if (VEC_ROOM(r->shrunk, r->nshrunk, r->shrunk_room, 1))
            return fail_nomem();
        s = &r->shrunk[r->nshrunk++];
        *s = (struct shrunk_dataset){.id = id, .rank = rank};
        memcpy(s->len, len, (size_t)rank * sizeof *len);
    }
    for (int d = 0; d < rank; d++)
        s->len[d] = len[d] < s->len[d] ? len[d] : s->len[d];
    return 0;
}

int ranks_implied(struct ranks *r, uint64_t id, uint64_t group, const char *path, const char *name)
{
    size_t n = strlen(path) + 1;
    char *text;

    if (VEC_ROOM(r->implied, r->nimplied, r->implied_room, 1) ||
        !(text = mem_alloc(n + strlen(name) + 1)))
        return fail_nomem();
    memcpy(text, path, n);
    strcpy(text + n, name);
    r->implied[r->nimplied++] = (struct implied_dim){id, group, text, text + n};
    return 0;
}

void ranks_settled(struct ranks *r)
{
    while (r->pending) {
        struct pending *p = r->pending;

        r->pending = p->next;
        pending_free(p);
    }
}

void ranks_committed(struct ranks *r)
{
    for (size_t i = 0; i < r->nmarked; i++)
        mem_free(r->marked[i].bit);
    for (size_t i = 0; i < r->nimplied; i++)
        mem_free(r->implied[i].path);
    r->nmarked = r->nshrunk = r->nimplied = 0;
    idset_release(&r->marked_at);
    r->wrote = false;
    idset_release(&r->written);
    ranks_settled(r);
}

/* ---- files that are open ---- */

static struct {
    pthread_mutex_t lock;
    struct ranks *first;
} opened = {PTHREAD_MUTEX_INITIALIZER, NULL};

void ranks_opened(struct ranks *r, drep_file *f)
{
    r->file = f;
    r->opener = pthread_self();
    if (r->team.size == 1)
        return;
    pthread_mutex_lock(&opened.lock);
    r->next = opened.first;
    opened.first = r;
    pthread_mutex_unlock(&opened.lock);
}

static void ranks_closed(struct ranks *r)
{
    struct ranks **at = &opened.first;

    pthread_mutex_lock(&opened.lock);
    while (*at && *at != r)
        at = &(*at)->next;
    if (*at)
        *at = r->next;
    pthread_mutex_unlock(&opened.lock);
}

drep_file *ranks_only_file(void)
{
    const struct ranks *mine = NULL, *any = NULL;
    size_t nmine = 0, n = 0;

    pthread_mutex_lock(&opened.lock);
    for (const struct ranks *r = opened.first; r; r = r->next, n++) {
        any = r;
        if (pthread_equal(r->opener, pthread_self())) {
            mine = r;
            nmine++;
        }
    }
    pthread_mutex_unlock(&opened.lock);
    return nmine == 1 ? mine->file : nmine == 0 && n == 1 ? any->file : NULL;
}

void ranks_release(struct ranks *r)
{
    int gave_up;

    if (!r)
        return;
    if (r->file)
        ranks_closed(r);
    gave_up = (r->team.dead != 0 && !r->team.apart) || r->shared.left;
    team_release(&r->team);
    if (r->payload)
        r->payload->ops->close(r->payload);
    if (r->transport->release)
        r->transport->release(r->team.ctx, gave_up);
    mem_free(r->transport);
    ranks_committed(r);
    mem_free(r->shrunk);
    mem_free(r->implied);
    mem_free(r->marked);
    leases_release(r);
    mem_free(r);
}
