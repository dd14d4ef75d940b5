/* registry.h - entries of the registry, inside this room. */
/* SPDX-License-Identifier: MIT */
#ifndef REP_REGISTRY_H
#define REP_REGISTRY_H

#include "rep/rep.h"

#include <datarep.h>

/* rep_find() with DREP_ERR_UNSUPPORTED_DATAREP. */
int rep_need(const char *name, const struct datarep **out);

/* Enclose every call of its functions: one thread at a time if it asked for that. */
static inline void rep_enter(const struct datarep *rep)
{
    if (rep->flags & DREP_REP_SERIAL)
        pthread_mutex_lock((pthread_mutex_t *)&rep->serial);
}

static inline void rep_leave(const struct datarep *rep)
{
    if (rep->flags & DREP_REP_SERIAL)
        pthread_mutex_unlock((pthread_mutex_t *)&rep->serial);
}

#endif
