/* commit.pml - commits, crashes, ranks and readers of one file, for spin (SPEC.md 2, 2.1 and 6).
 *
 * A file is E extents and two slots.  An extent holds the number of the commit that wrote it, so
 * that whoever reads another one has found bytes that were overwritten, torn or lost.  What is
 * written stands in a cache until a sync; a crash leaves any part of it on the disk.  Numbers of
 * commits count attempts: one that a crash has lost keeps its number, and another with the same
 * sequence gets its own.
 *
 * run-model.py says which processes take part (RANKS, READERS, WRITERS), what goes wrong
 * (KILLS, CRASHES, FAILS) and which rule is broken on purpose (FAULT).  With TRACE the same
 * processes may only do what a recorded run did: every visible step waits for its event (EV), and
 * the run is accepted when all events have happened. */
/* SPDX-License-Identifier: MIT */

#ifndef EXTENTS
#define EXTENTS 4
#endif
#ifndef COMMITS
#define COMMITS 4
#endif

/* Settings, from the environment (settings.h): they are no part of a state. */
hidden byte E, T;                   /* extents; attempts to commit: the file has commit 1 at first */
hidden byte WRITERS, RANKS, READERS; /* ranks of the first writer; 1: it is alone */
hidden byte WRITES;                 /* extents that a writer writes in a transaction */
hidden byte LOWEST;                 /* each takes the lowest extent that it may, as the library does */
hidden byte KEEP;                   /* commits that all writers keep; 0: 1, 2, 3 or, of five, 4 */
hidden byte STREAM;                 /* the file was written to a pipe: its slot stands at its end */
hidden byte FAULT;                  /* the rule that is not kept */

/* The faults: each is one rule that is not kept. */
#define SLOT_BEFORE_SYNC 1   /* R6.8: no sync between payload and slot */
#define REUSE_TOO_EARLY 2    /* R6.7: space freed by N is used by N+1 */
#define LOCK_TOO_LATE 3      /* R6.10: a reader does not read the slots again under its lock */
#define READERS_IGNORED 4    /* R6.7: locks of readers are not looked at */
#define LOG_IGNORED 5        /* R6.7: nor is the LOG */
#define NO_LAST_SYNC 6       /* R6.8: the slot is not synced before the commit is reported */
#define RANK_NOT_SYNCED 7    /* R6.8: a rank's payload is not synced */
#define TAIL_CUT_EARLY 8     /* R2.22: the slot at the end goes before slot A is synced */
#define SAME_SLOT 9          /* R6.8: each commit goes to slot A */
#define ORPHANS_IGNORED 10   /* R6.14: ranks whose rank 0 is gone still write */
#define OPENED_UNSYNCED 11   /* R6.12: a writer reuses space although the newest slot may be lost */
#define OLDER_LOG_IGNORED 12 /* R6.12: the LOG of the other slot's commit is not looked at then */

#define ACTORS (WRITERS + RANKS - 1 + READERS)
#define RANK(r) (WRITERS + (r) - 1)
#define READER(r) (WRITERS + RANKS - 1 + (r))

/* What a slot or an extent holds beside numbers of commits. */
#define NOTHING 0
#define FRONT 253 /* slot A of a stream: look at the end */
#define BAD 255   /* torn, or of a transaction that was given up */
#define VALID(x) ((x) > 0 && (x) <= T)

typedef commit_t {
    byte seq;
    byte who[EXTENTS];   /* the commit that wrote what stands there; 0: not in use */
    byte freed[EXTENTS]; /* the sequence that freed it; 0: nobody can see it any more */
    int log;       /* bit n: commit n can still be opened */
};
commit_t is[COMMITS + 1];
byte ids = 1; /* attempts so far whose slot may have been written */

byte cache[EXTENTS], disk[EXTENTS], dirty[EXTENTS]; /* dirty: 1 + the node that has to sync it */
byte cslot[2], dslot[2];
byte ctail, dtail; /* the slot at the end: 1 or nothing */

byte locked_by;            /* the writer's byte: 1 + writer */
byte all[2];     /* a reader's lock on byte 2^62 */
byte has[2];     /* and on a commit: 1 + sequence, */
byte old[2];     /* and on the one that it leaves */
byte dead[5];     /* 1: killed, its locks are still there; 2: they are gone */
byte kills, crashes, fails; /* that may still come */

byte lease[2];  /* 1 + the extent that a rank may write */
byte behind[2]; /* it has written and not synced */
byte joined[2]; /* it is a rank of the open file: its share of the lock on their byte */
byte orphan[2]; /* its rank 0 is gone, and it does not know */
byte lost[2];   /* it is gone, and rank 0 learns of it when they meet */

/* What is promised: after a crash the file is `acked` or the commit under way. */
byte acked = 1, writing;

hidden byte i, j, yes;

c_decl {
\#include "settings.h"
};
inline settings()
{
    c_code {
        E = setting("EXTENTS", EXTENTS);
        T = setting("COMMITS", COMMITS);
        WRITERS = setting("WRITERS", 1);
        RANKS = setting("RANKS", 1);
        READERS = setting("READERS", 0);
        WRITES = setting("WRITES", 1);
        LOWEST = setting("LOWEST", 0);
        KEEP = setting("KEEP", 0);
        STREAM = setting("STREAM", 0);
        FAULT = setting("FAULT", 0);
        now.kills = setting("KILLS", 0);
        now.crashes = setting("CRASHES", 0);
        now.fails = setting("FAILS", 0);
    }
}

#ifdef TRACE
int at;                /* events that have happened */
byte kind, by, ea, eb; /* the next one */
inline next() { c_code { trace_next(&now.at, &now.kind, &now.by, &now.ea, &now.eb); } }
#define EV(k, who, x, y) (kind == k && by == (who) && ea == (x) && eb == (y))
#define NEXT next()
#define MORE(behind) true
/* Who has the next event moves; steps of others that nobody sees can wait.  Actor n is process n + 1,
 * and writer 0 gives ranks their space. */
#define TURN provided (by == _pid - 1 || _pid == 1 && by == RANK(RANKS - 1))
#define EVENT_IS(k, who) (kind == k && by == (who))
#define CHECK(x) (x)
#define PICK(k, who, e, ok) EVENT_IS(k, who) -> e = ea; (ok)
#define PICK_ACTOR(k, e) kind == k -> e = by
#else
#define EV(k, who, x, y) skip
#define NEXT skip
#define MORE(behind) (!behind)
#define TURN
#define EVENT_IS(k, who) true
#define CHECK(x) assert(x)
#define PICK(k, who, e, ok) e = 0; \
    do \
    :: e < E && (ok) -> break \
    :: e < E && !(LOWEST && (ok)) -> e++ \
    :: e == E -> break \
    od
#define PICK_ACTOR(k, e) e = 0; \
    do \
    :: e < ACTORS - 1 -> e++ \
    :: break \
    od
#endif
#include "events.h"

/* ---- the disk ---- */

/* c: the valid slot with the greater sequence, or the one at the end (R2.5, R2.20). */
inline newest(a, b, tail, c)
{
    if
    :: VALID(a) && (!VALID(b) || is[a].seq > is[b].seq) -> c = a
    :: VALID(b) && (!VALID(a) || is[b].seq > is[a].seq) -> c = b
    :: !VALID(a) && !VALID(b) -> c = (VALID(tail) -> tail : 0)
    fi
}

/* yes: every extent that commit c refers to holds what it wrote. */
#define WHOLE(c, bytes) i = 0; yes = 1; \
    do \
    :: i < E -> yes = yes && (is[c].who[i] == 0 || bytes[i] == is[c].who[i]); i++ \
    :: else -> break \
    od

inline put(e, what, node)
{
    cache[e] = what;
    dirty[e] = 1 + (node)
}

/* All that a node has written is durable.  Slots are node 0's. */
inline sync(node)
{
    i = 0;
    do
    :: i < E ->
        if
        :: dirty[i] == 1 + (node) -> disk[i] = cache[i]; dirty[i] = 0
        :: else
        fi;
        i++
    :: else -> break
    od;
    if
    :: (node) == 0 ->
        dslot[0] = cslot[0];
        dslot[1] = cslot[1];
        dtail = ctail;
        newest(dslot[0], dslot[1], dtail, acked);
        writing = (writing == acked -> 0 : writing)
    :: else
    fi
}

/* What is left of a transaction that nobody will commit: bytes that nobody knows. */
inline forget(t)
{
    i = 0;
    do
    :: i < E ->
        cache[i] = (cache[i] == t -> BAD : cache[i]);
        disk[i] = (disk[i] == t -> BAD : disk[i]);
        i++
    :: else -> break
    od
}

/* ---- the writer ---- */

#define BETWEEN(lock, from, to) ((lock) > (from) && (lock) - 1 <= (to))
/* held: a reader has a lock on a commit of `from` to `to`. */
inline probe(from, to, held)
{
    i = 0;
    held = 0;
    do
    :: i < READERS ->
        held = held || all[i] && (from) == 0 || BETWEEN(has[i], from, to) || BETWEEN(old[i], from, to);
        i++
    :: else -> break
    od
}

inline log_oldest(c, limit)
{
    i = 1;
    do
    :: i <= T ->
        limit = ((is[c].log & (1 << i)) && is[i].seq < limit -> is[i].seq : limit);
        i++
    :: else -> break
    od
}

/* What may be used now is free for all who come later. */
inline free_update(t, limit)
{
    i = 0;
    do
    :: i < E -> is[t].freed[i] = (is[t].freed[i] <= limit -> 0 : is[t].freed[i]); i++
    :: else -> break
    od
}

/* The LOG of t, whose last commit is c. */
inline log_update(t, c, keep)
{
    i = 1;
    is[t].log = 0;
    do
    :: i <= T && keep > 1 ->
        is[t].log = is[t].log |
            (((is[c].log & (1 << i)) || i == c) && is[i].seq + keep > is[t].seq -> 1 << i : 0);
        i++
    :: else -> break
    od
}

/* True if the open transaction may write to an extent (R6.7). */
#define FREE(t, e, limit) (is[t].who[e] == 0 && \
    (is[t].freed[e] <= (limit) || FAULT == REUSE_TOO_EARLY))
#ifdef TRACE
#define DROPPABLE(t, e) (is[t].who[e] != 0)
#else
#define DROPPABLE(t, e) (is[t].who[e] != 0 && is[t].who[e] != t)
#endif

/* Ranks may have written some of it already. */
inline begin(t, c)
{
    t = ids + 1;
    is[t].seq = is[c].seq + 1;
    i = 0;
    do
    :: i < E ->
        if
        :: is[t].who[i] != t -> is[t].who[i] = is[c].who[i]; is[t].freed[i] = is[c].freed[i]
        :: else
        fi;
        i++
    :: else -> break
    od
}

/* The extent is not part of t any more.  One that t wrote is free again at once. */
inline drop(t, e)
{
    is[t].freed[e] = (is[t].who[e] == t -> 0 : is[t].seq);
    is[t].who[e] = 0
}

/* Ranks of a rank 0 that ended without them. */
inline leave_ranks()
{
    i = 1;
    do
    :: i < RANKS -> orphan[i] = joined[i]; i++
    :: else -> break
    od
}

inline unlock(me)
{
    locked_by = (locked_by == 1 + me -> 0 : locked_by)
}

/* Transaction t ends without a commit. */
inline give_up(t)
{
    forget(t);
    is[t].seq = 0;
    i = 0;
    do
    :: i < E -> is[t].who[i] = 0; is[t].freed[i] = 0; i++
    :: else -> break
    od
}

/* A rank gets an extent for the next commit. */
#define DEAL(ok) atomic { \
        RANKS > 1 && ids < T && me == 0 && joined[RANKS - 1] && !lease[RANKS - 1] && \
            MORE(behind[RANKS - 1]) -> \
        PICK(WRITE, RANK(RANKS - 1), e, ok); \
        if \
        :: e < E -> \
            is[ids + 1].freed[e] = 0; \
            is[ids + 1].who[e] = ids + 1; \
            lease[RANKS - 1] = 1 + e \
        :: else \
        fi; \
        e = 0 \
    }

/* Ranks of a writer that is gone hold their lock. */
#define RANKS_LEFT (FAULT != ORPHANS_IGNORED && RANKS > 1 && orphan[RANKS - 1])

proctype writer(byte me) TURN
{
    byte cur, t, e, keep, limit, oldest, low, high, n;
    bool held, first;

again:
    {
        /* ---- open ---- */
        do
        :: atomic { locked_by == 0 && !RANKS_LEFT -> EV(LOCK_WRITER, me, 0, 0); locked_by = 1 + me; NEXT; break }
#ifdef TRACE
        :: atomic { locked_by != 0 || RANKS_LEFT -> EV(BUSY, me, 0, 0); NEXT }
#endif
        od;
        atomic {
            EV(SLOTS, me, 0, 0);
            newest(cslot[0], cslot[1], ctail, cur);
            CHECK(cur != 0);
            oldest = 0;
            first = 1;
            if
            :: KEEP > 0 -> keep = KEEP
            :: KEEP == 0 -> keep = 1
            :: KEEP == 0 -> keep = 2
            :: KEEP == 0 -> keep = 3
            :: KEEP == 0 && T > 4 -> keep = 4
#ifdef TRACE
            :: keep = 5
#endif
            fi;
            i = 1;
            do
#ifdef TRACE
            :: i < RANKS && me == 0 -> i++
#endif
            :: i < RANKS && me == 0 -> joined[i] = !orphan[i]; lost[i] = 0; i++
            :: else -> break
            od;
            NEXT
        }
        /* ---- transactions ---- */
        do
        :: atomic { /* with ranks: what nobody can see may be written at any time */
                RANKS > 1 && ids < T && MORE(n) ->
                PICK(WRITE, me, e, is[cur].who[e] == 0 && is[ids + 1].who[e] == 0 && is[cur].freed[e] <= oldest);
                if
                :: e < E ->
                    EV(WRITE, me, e, 0);
                    is[ids + 1].freed[e] = 0;
                    is[ids + 1].who[e] = ids + 1;
                    put(e, ids + 1, 0);
                    n = 1
                :: else
                fi;
                e = 0;
                NEXT
            }
        :: DEAL(is[cur].who[e] == 0 && is[ids + 1].who[e] == 0 && is[cur].freed[e] <= oldest)
        :: ids < T ->
            if
            :: cslot[0] == FRONT && !VALID(cslot[1]) -> /* R2.22 */
                atomic { EV(SLOT_BEGUN, me, 0, 0); cslot[0] = BAD; NEXT };
                atomic { EV(SLOT, me, 0, 1); cslot[0] = 1; NEXT };
                if
                :: FAULT == TAIL_CUT_EARLY -> ctail = 0
                :: else
                fi;
                atomic { EV(SYNC, me, 0, 0); d_step { sync(0) }; NEXT };
                atomic { EV(CUT_TAIL, me, 0, 0); ctail = 0; first = 0; NEXT }
            :: else
            fi;
            /* R6.12: the newest slot may be lost; then this one counts. */
            d_step { n = (cslot[0] == cur -> cslot[1] : cslot[0]) }
            if
            :: first && FAULT != OPENED_UNSYNCED && is[cur].seq > 1 &&
                !(VALID(n) && is[n].seq + 1 == is[cur].seq) ->
                atomic { EV(SYNC, me, 0, 0); d_step { sync(0) }; first = 0; NEXT }
            :: else
            fi;
            d_step {
                first = first && FAULT != OPENED_UNSYNCED;
                begin(t, cur);
                limit = (keep > 2 -> keep + first : 2 + first);
                limit = (is[t].seq > limit -> is[t].seq - limit : 0);
                if
                :: FAULT != LOG_IGNORED -> log_oldest(cur, limit)
                :: else
                fi;
                if
                :: first && VALID(n) && FAULT != LOG_IGNORED && FAULT != OLDER_LOG_IGNORED ->
                    log_oldest(n, limit)
                :: else
                fi;
                first = 0;
                n = 0;
                low = 0;
                high = (limit > 0 -> limit - 1 : 0)
            }
            if
            :: high > 0 && FAULT != READERS_IGNORED -> /* search for the oldest lock */
                atomic { probe(0, high, held); EV(PROBE, me, high, held); NEXT };
                if
                :: held ->
                    do
                    :: low < high ->
                        atomic {
                            n = low + (high - low) / 2;
                            probe(low, n, held);
                            EV(PROBE, me, n, held);
                            high = (held -> n : high);
                            low = (held -> low : n + 1);
                            NEXT
                        }
                    :: else -> break
                    od;
                    limit = low
                :: else
                fi
            :: else
            fi;
            d_step { oldest = (limit > oldest -> limit : oldest); limit = 0; low = 0; high = 0; held = 0; n = 0 }
            /* ---- what it changes ---- */
            do
            :: n < WRITES ->
                atomic {
                    PICK(WRITE, me, e, FREE(t, e, oldest));
                    if
                    :: e < E ->
                        EV(WRITE, me, e, 0);
                        is[t].freed[e] = 0;
                        is[t].who[e] = t;
                        put(e, t, 0);
                        n++
                    :: else
                    fi;
                    e = 0;
                    NEXT
                }
#ifdef TRACE
            :: atomic { /* an extent that it has written already */
                    PICK(WRITE, me, e, is[t].who[e] == t);
                    EV(WRITE, me, e, 0);
                    put(e, t, 0);
                    e = 0;
                    NEXT
                }
            :: atomic { EV(SYNC, me, 0, 0); d_step { sync(0) }; NEXT }
            :: atomic { /* cut off behind the end */
                    PICK(CUT, me, e, FREE(t, e, oldest));
                    EV(CUT, me, e, 0);
                    put(e, BAD, 0);
                    e = 0;
                    NEXT
                }
#endif
            :: DEAL(is[t].who[e] == 0 && is[t].freed[e] <= oldest)
            :: atomic {
                    PICK(DROP, me, e, DROPPABLE(t, e));
                    if
                    :: e < E -> EV(DROP, me, e, 0); drop(t, e)
                    :: else
                    fi;
                    e = 0;
                    NEXT
                }
            :: n > 0 -> break
            :: goto shut /* it gives up */
            od;
            /* ---- the commit ---- */
            n = 0;
            if
            :: RANKS > 1 && me == 0 -> /* all ranks have written and synced */
                if
                :: !lost[RANKS - 1] && lease[RANKS - 1] == 0 &&
                    (!behind[RANKS - 1] || FAULT == RANK_NOT_SYNCED)
                :: lost[RANKS - 1] -> goto shut
                fi
            :: else
            fi;
            d_step { log_update(t, cur, keep); free_update(t, oldest) }
            if
            :: FAULT != SLOT_BEFORE_SYNC ->
                if
                :: atomic { EV(SYNC, me, 0, 0); d_step { sync(0) }; NEXT }
                :: atomic { fails > 0 -> EV(SYNC_FAILED, me, 0, 0); fails--; NEXT } goto shut
                fi
            :: else
            fi;
            n = (FAULT == SAME_SLOT -> 0 : 1 - is[t].seq % 2);
            atomic { EV(SLOT_BEGUN, me, n, 0); ids = t; writing = t; cslot[n] = BAD; NEXT };
            atomic { EV(SLOT, me, n, is[t].seq); cslot[n] = t; d_step { WHOLE(t, cache); CHECK(yes) }; NEXT };
            n = 0;
            if
            :: FAULT != NO_LAST_SYNC ->
                if
                :: atomic { EV(SYNC, me, 0, 0); d_step { sync(0) }; NEXT }
                :: atomic { fails > 0 -> EV(SYNC_FAILED, me, 0, 0); fails--; NEXT } t = 0; break
                fi
            :: else
            fi;
            atomic { CHECK(acked == t); cur = t; t = 0 }
        :: break
        od;
        /* ---- close ---- */
shut:
        if
        :: RANKS == 1 || me > 0 || !joined[RANKS - 1] || orphan[RANKS - 1]
        :: atomic { /* all close the file */
                RANKS > 1 && me == 0 && joined[RANKS - 1] && !orphan[RANKS - 1] && !lease[RANKS - 1] ->
                EV(LEAVE, RANK(RANKS - 1), 0, 0);
                joined[RANKS - 1] = 0;
                NEXT
            }
        :: atomic { RANKS > 1 && me == 0 && joined[RANKS - 1] && !orphan[RANKS - 1] -> leave_ranks() } /* rank 0 abandons it */
        fi;
        if
        :: ids < T -> d_step { give_up(ids + 1); t = 0 }
        :: else
        fi;
        do
#ifdef TRACE
        :: atomic {
                PICK(CUT, me, e, FREE(cur, e, oldest));
                EV(CUT, me, e, 0);
                put(e, BAD, 0);
                e = 0;
                NEXT
            }
#endif
        :: atomic {
                EV(UNLOCK_WRITER, me, 0, 0);
                unlock(me);
                cur = 0;
                n = 0;
                oldest = 0;
                keep = 0;
                NEXT;
                break
            }
        od;
        if
        :: ids < T -> goto again
        :: else
        fi
    } unless { dead[me] > 0 };
    if
    :: dead[me] > 0 ->
        dead[me] == 2;
        d_step {
            t = 0; cur = 0; e = 0; keep = 0; limit = 0; oldest = 0; low = 0; high = 0; n = 0;
            held = 0; first = 0; dead[me] = 0
        }
        goto again
    :: else
    fi
}

/* A rank but 0 writes to the space that it was given, and syncs.  It learns late that rank 0 is
 * gone. */
proctype rank(byte r) TURN
{
    byte e;

again:
    {
        skip;
end:
        do
        :: atomic {
                lease[r] -> e = lease[r] - 1;
                EV(WRITE, RANK(r), e, 0);
                put(e, (orphan[r] -> BAD : ids + 1), r);
                lease[r] = 0;
                behind[r] = 1;
                e = 0;
                NEXT
            }
        :: atomic { behind[r] -> EV(SYNC, RANK(r), 0, 0); d_step { sync(r) } behind[r] = 0; NEXT }
        :: atomic {
                orphan[r] -> EV(LEAVE, RANK(r), 0, 0);
                lease[r] = 0;
                behind[r] = 0;
                joined[r] = 0;
                orphan[r] = 0;
                NEXT
            }
#ifdef TRACE
        :: atomic { joined[r] -> EV(JOIN, RANK(r), 0, 0); NEXT }
        :: atomic { /* to space that it was given before rank 0 was gone */
                orphan[r] -> PICK(WRITE, RANK(r), e, is[acked].who[e] == 0);
                EV(WRITE, RANK(r), e, 0);
                put(e, BAD, r);
                e = 0;
                NEXT
            }
#endif
        od
    } unless { dead[RANK(r)] > 0 };
    dead[RANK(r)] == 2;
    dead[RANK(r)] = 0;
    goto again
}

/* ---- readers ---- */

/* Both slots; a is read before b. */
inline read_slots(me)
{
#ifdef TRACE
    atomic { EV(SLOTS, READER(me), 0, 0); a = cslot[0]; b = cslot[1]; NEXT };
#else
    a = cslot[0];
    b = cslot[1];
#endif
    if
    :: !VALID(b) && !VALID(a) -> atomic { EV(TAIL, READER(me), 0, 0); tail = ctail; NEXT }
    :: else
    fi
}

/* The newest commit; what looks damaged while a writer is at work is read again (R6.11). */
inline choose(me, c)
{
    do
    :: read_slots(me);
        if
        :: locked_by != 0 && (a == BAD || b == BAD || (!VALID(b) && !VALID(a) && !VALID(tail)))
        :: (VALID(a) || VALID(b) || VALID(tail)) -> break
        :: !VALID(a) && !VALID(b) && !VALID(tail) -> /* once more: the writer may have ended */
            read_slots(me);
            CHECK(VALID(a) || VALID(b) || VALID(tail) || locked_by != 0)
        fi
    od;
    newest(a, b, tail, c)
}

#define IN_SLOT(s) ((VALID(a) && is[a].seq == (s)) || (VALID(b) && is[b].seq == (s)) || \
    (!VALID(a) && !VALID(b) && VALID(tail) && (s) == 1))

/* An extent of a commit is read, and is what it was, or bytes that mean nothing there.  Who has no
 * lock may come too late (1): then it reads nothing more once it has looked at the slots (2), but
 * says that its commit is gone. */
#define KEPT(c) (is[c].who[i] == 0 || cache[i] == is[c].who[i])
#define LOOK(c) atomic { \
        PICK(READ, READER(me), i, late < 2 && (!locked || KEPT(c))); \
        late = (KEPT(c) -> late : 1); \
        NEXT \
    }

proctype reader(byte me) TURN
{
    byte c, n, s, a, b, tail;
    bool locked;
#ifdef TRACE
    byte late;
#endif

again:
    {
        skip;
end:
        if
        :: atomic { EV(LOCK, READER(me), 0, 0); all[me] = 1; locked = 1; NEXT } /* the library's way */
            choose(me, c);
            atomic { EV(LOCK, READER(me), is[c].seq, 0); has[me] = 1 + is[c].seq; NEXT };
            atomic { EV(UNLOCK, READER(me), 0, 0); all[me] = 0; NEXT }
        :: choose(me, c); /* R6.10 as it stands there */
            atomic { EV(LOCK, READER(me), is[c].seq, 0); has[me] = 1 + is[c].seq; locked = 1; NEXT };
            if
            :: FAULT != LOCK_TOO_LATE ->
                read_slots(me);
                if
                :: IN_SLOT(is[c].seq)
                :: else -> has[me] = 0; c = 0; goto close
                fi
            :: else
            fi
        :: choose(me, c) /* without locks */
        :: locked = 1; /* an earlier one, by its number */
#ifdef TRACE
            atomic { EVENT_IS(LOCK, READER(me)) && ea > 0 -> s = ea };
#else
            s = 1;
            do
            :: s < T -> s++
            :: break
            od;
#endif
            atomic { EV(LOCK, READER(me), s, 0); has[me] = 1 + s; NEXT };
            choose(me, n);
            if
            :: VALID(a) && is[a].seq == s -> c = a
            :: VALID(b) && is[b].seq == s -> c = b
            :: is[n].seq == s -> c = n
            :: else ->
                if
                :: is[n].seq > s -> /* its LOG */
#ifdef TRACE
                    do
                    :: LOOK(n)
                    :: break
                    od;
                    skip;
#endif
                    d_step {
                        WHOLE(n, cache);
                        CHECK(yes);
                        i = 1;
                        c = 0;
                        do
                        :: i <= T -> c = ((is[n].log & (1 << i)) && is[i].seq == s -> i : c); i++
                        :: else -> break
                        od
                    }
                :: else
                fi;
                if
                :: c == 0 -> goto close
                :: else
                fi
            fi
        fi;
        d_step { a = 0; b = 0; n = 0; s = 0; tail = 0 }
        /* ---- it reads ---- */
        do
#ifdef TRACE
        :: LOOK(c)
        :: atomic { EV(STALE, READER(me), 0, 0); CHECK(!locked); late = 0; NEXT } break
#else
        :: locked -> d_step { WHOLE(c, cache); CHECK(yes) }
        :: atomic { !locked -> d_step { WHOLE(c, cache); s = yes } }
            if
            :: s == 0 -> /* stale, or damaged? */
                read_slots(me);
                CHECK(!IN_SLOT(is[c].seq));
                break
            :: else -> s = 0
            fi
#endif
        :: choose(me, n); /* it follows */
#ifdef TRACE
            late = (late -> 2 : 0);
#endif
            if
            :: is[n].seq > is[c].seq ->
                if
                :: locked ->
                    atomic { EV(LOCK, READER(me), is[n].seq, 0); old[me] = has[me]; has[me] = 1 + is[n].seq; s = is[c].seq; c = n; NEXT };
                    d_step { WHOLE(c, cache); CHECK(yes) };
                    atomic { EV(UNLOCK, READER(me), s, 0); old[me] = 0; NEXT }
                :: locked -> d_step { WHOLE(n, cache); CHECK(yes) } /* or reads the LOG there alone */
                :: !locked -> c = n
                fi
            :: else
            fi;
            d_step { a = 0; b = 0; n = 0; s = 0; tail = 0 }
#ifdef TRACE
        :: late == 0 -> break
#else
        :: break
#endif
        od;
close:
        skip;
        d_step { c = 0; n = 0; s = 0; a = 0; b = 0; tail = 0 }
        atomic {
            if
            :: locked && has[me] -> EV(UNLOCK, READER(me), has[me] - 1, 0); has[me] = 0; locked = 0; NEXT
            :: else -> locked = 0
            fi
        }
        goto again
    } unless { dead[READER(me)] > 0 };
    dead[READER(me)] == 2;
    d_step { c = 0; n = 0; s = 0; a = 0; b = 0; tail = 0; locked = 0; dead[READER(me)] = 0 }
#ifdef TRACE
    late = 0;
#endif
    goto again
}

/* ---- what goes wrong ---- */

/* Those whose death makes a difference: who writes, and readers. */
#define ALIVE(who) (who < WRITERS && locked_by == 1 + who || \
    RANKS > 1 && who == RANK(RANKS - 1) && joined[RANKS - 1] || who >= READER(0))

/* kill -9: nothing more is written; the system drops the locks a little later. */
proctype killer()
{
    byte who;
end:
    do
    :: atomic {
            kills > 0 && ids < T -> PICK_ACTOR(KILL, who);
            if
            :: !dead[who] && ALIVE(who) -> EV(KILL, who, 0, 0); kills--; dead[who] = 1; NEXT
            :: else -> who = ACTORS
            fi
        }
        d_step {
            if
            :: who == ACTORS
            :: who < WRITERS ->
                unlock(who);
                leave_ranks();
                if
                :: ids < T -> give_up(ids + 1)
                :: else
                fi
            :: RANKS > 1 && who == RANK(RANKS - 1) -> lease[RANKS - 1] = 0; behind[RANKS - 1] = 0; joined[RANKS - 1] = 0; orphan[RANKS - 1] = 0; lost[RANKS - 1] = 1
            :: else -> has[who - READER(0)] = 0; old[who - READER(0)] = 0; all[who - READER(0)] = 0
            fi;
            dead[who] = (who < ACTORS -> 2 : 0);
            who = 0
        }
    od
}

/* The power goes: of what was not synced any part is there, and every commit that the file
 * promises is whole. */
proctype power()
{
    byte c, k;
end:
    do
    :: atomic {
            crashes > 0 -> crashes--;
            k = 0;
            do
            :: k < E && dirty[k] ->
                if
                :: disk[k] = cache[k]
                :: disk[k] = BAD
                :: skip
                fi;
                dirty[k] = 0;
                cache[k] = disk[k];
                k++
            :: k < E && !dirty[k] -> k++
            :: k == E -> break
            od;
            k = 0;
            do
            :: k < 2 && cslot[k] != dslot[k] ->
                if
                :: dslot[k] = cslot[k]
                :: dslot[k] = BAD
                :: skip
                fi;
                cslot[k] = dslot[k];
                k++
            :: k < 2 && cslot[k] == dslot[k] -> k++
            :: k == 2 -> break
            od;
            k = 0;
            if
            :: dtail = ctail
            :: ctail = dtail
            fi;
            d_step {
                newest(dslot[0], dslot[1], dtail, c);
                CHECK(c != 0 && (c == acked || c == writing)); /* never older */
                WHOLE(c, disk);
                CHECK(yes);
                acked = c;
                writing = 0;
                k = 1;
                do
                :: k <= T ->
                    if
                    :: (is[c].log & (1 << k)) || k == dslot[0] || k == dslot[1] ->
                        WHOLE(k, disk);
                        CHECK(yes) /* commits that are kept */
                    :: else
                    fi;
                    k++
                :: else -> break
                od;
                if
                :: ids < T -> give_up(ids + 1)
                :: else
                fi;
                k = 0;
                do
                :: k < ACTORS -> dead[k] = 2; k++
                :: else -> break
                od;
                k = 1;
                do
                :: k < RANKS -> lease[k] = 0; behind[k] = 0; joined[k] = 0; orphan[k] = 0; lost[k] = 0; k++
                :: else -> break
                od;
                k = 0;
                locked_by = 0;
                c = 0
            }
        }
    od
}

init
{
    atomic {
        settings();
#ifdef TRACE
        next();
        do
        :: EVENT_IS(HAS, 0) -> is[1].who[ea] = 1; cache[ea] = 1; disk[ea] = 1; next()
        :: else -> break
        od;
#else
        is[1].who[0] = 1;
        cache[0] = 1;
        disk[0] = 1;
#endif
        is[1].seq = 1;
        cslot[0] = 1;
        if
#ifdef TRACE
        :: EVENT_IS(END_SLOT, 0) -> cslot[0] = FRONT; ctail = 1; next()
#else
        :: STREAM -> cslot[0] = FRONT; ctail = 1
#endif
        :: else
        fi;
        dslot[0] = cslot[0];
        dtail = ctail;
        j = 0;
        do
        :: j < WRITERS -> run writer(j); j++
        :: else -> break
        od;
        j = 1;
        do
        :: j < RANKS -> run rank(j); j++
        :: else -> break
        od;
        j = 0;
        do
        :: j < READERS -> run reader(j); j++
        :: else -> break
        od;
        if
        :: kills > 0 -> run killer()
        :: else
        fi;
        if
        :: crashes > 0 -> run power()
        :: else
        fi
    }
#ifdef TRACE
    kind == END;
    assert(false) /* accepted */
#endif
}
