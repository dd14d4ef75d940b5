/* work.c - what one thread needs while it moves chunks.  A struct work given back keeps its
 * buffers and compressors for the next thread that takes it. */
/* SPDX-License-Identifier: MIT */
#include "chunk/work.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "chunk/work_state.h"

int works_init(struct works *works)
{
    return lock_init(&works->lock) ? fail(DREP_ERR_NOMEM, "out of memory: cannot make a lock") : 0;
}

void works_release(struct works *works)
{
    struct work *w;

    while ((w = works->free)) {
        works->free = w->next;
        codec_release(&w->codec);
        buf_release(&w->own);
        buf_release(&w->payload);
        mem_free(w->window);
        mem_free(w);
    }
    pthread_mutex_destroy(&works->lock);
}

struct work *work_take(struct store *st)
{
    struct work *w;

    pthread_mutex_lock(&st->works->lock);
    w = st->works->free;
    if (w)
        st->works->free = w->next;
    pthread_mutex_unlock(&st->works->lock);
    if (w)
        return w;
    w = mem_zalloc(1, sizeof(*w));
    if (w)
        w->window = mem_aligned(FMT_SUM_BLOCK, WINDOW_BYTES);
    if (w && !w->window) {
        mem_free(w);
        return NULL;
    }
    return w;
}

void work_fetched(struct work *w)
{
    w->fetched = true;
}

/* The run of the last chunk is given back too, so that idle ones hold nothing of a dataset. */
void work_give(struct store *st, struct work *w)
{
    if (!w)
        return;
    if (w->found.run)
        run_done(st, &w->found);
    w->fetched = false;
    pthread_mutex_lock(&st->works->lock);
    w->next = st->works->free;
    st->works->free = w;
    pthread_mutex_unlock(&st->works->lock);
}

struct buf *work_buf(struct work *w)
{
    return &w->own;
}
