/* registry.c - the filters that programs and plugins registered, besides the built-in ones. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/fork.h"
#include "base/mem.h"
#include "base/plugin.h"
#include "chunk/registry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static struct {
    pthread_mutex_t lock; /* of those who add */
    struct user_filter *_Atomic first;
} registry = {PTHREAD_MUTEX_INITIALIZER, NULL};

/* The list is whole at any time. */
static void renew(void)
{
    pthread_mutex_init(&registry.lock, NULL);
}

static struct fork_hook hook;

const struct user_filter *user_filter_find(const struct span *name)
{
    const struct user_filter *f = atomic_load(&registry.first);

    while (f && (strlen(f->name) != name->len || memcmp(f->name, name->p, name->len) != 0))
        f = f->next;
    return f;
}

static const void *known(const char *name)
{
    struct span s = {(const uint8_t *)name, strlen(name)};

    return user_filter_find(&s);
}

int filter_resolve(const char *name, const char *dirs, const struct user_filter **out)
{
    const void *filter = NULL;
    int err = plugin_find(name, dirs, known, &filter);

    if (err == DREP_ERR_NOMEM)
        return err;
    if (err)
        return fail_in(DREP_ERR_UNSUPPORTED, "filter \"%s\"", name);
    *out = filter;
    return 0;
}

int drep_register_filter(const char *name, drep_filter_fn *encode, drep_filter_fn *decode,
                         void *extra_state, unsigned flags)
{
    size_t len = name ? strlen(name) : 0;
    struct user_filter *f;
    int err = 0;

    if (len == 0 || len >= DREP_MAX_FILTER_NAME)
        return fail(DREP_ERR_NAME, "a filter's name has 1 to %d bytes", DREP_MAX_FILTER_NAME - 1);
    if (!decode || flags & ~(unsigned)(DREP_FILTER_KEEP | DREP_FILTER_NO_SUM))
        return fail(DREP_ERR_ARG, "filter \"%s\": no decoding function, or unknown flags", name);
    f = mem_alloc(sizeof(*f) + len + 1);
    if (!f)
        return DREP_ERR_NOMEM;
    *f = (struct user_filter){NULL, encode, decode, extra_state, flags};
    memcpy(f->name, name, len + 1);
    fork_watch(&hook, renew);
    pthread_mutex_lock(&registry.lock);
    if (fmt_filter_from_name(name) || known(name))
        err = fail(DREP_ERR_EXISTS, "filter \"%s\" is known already", name);
    f->next = atomic_load(&registry.first);
    if (!err)
        atomic_store(&registry.first, f);
    pthread_mutex_unlock(&registry.lock);
    if (err)
        mem_free(f);
    return err;
}
