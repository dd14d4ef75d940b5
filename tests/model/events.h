/* events.h - the visible steps of a run: what recorded.py writes into a trace and commit.pml waits
 * for. Each is followed by who does it and two numbers. */
/* SPDX-License-Identifier: MIT */
#define END 0           /* of the trace */
#define HAS 1           /* at first: commit 1 refers to extent a */
#define END_SLOT 2      /* at first: the state stands at the end of the file */
#define LOCK_WRITER 3   /* the writer's lock is taken, */
#define BUSY 4          /* or another has it, */
#define UNLOCK_WRITER 5 /* or it is given up */
#define PROBE 6         /* b: a reader has a lock on a commit of 0 to a */
#define WRITE 7         /* extent a */
#define DROP 8          /* the next commit does not refer to extent a */
#define CUT 9           /* extent a is cut off with the end of the file */
#define SYNC 10
#define SYNC_FAILED 11
#define SLOT_BEGUN 12 /* slot a is being written */
#define SLOT 13       /* and has commit b now */
#define CUT_TAIL 14   /* the slot at the end is gone */
#define LOCK 15       /* a reader locks commit a, */
#define UNLOCK 16     /* or gives it up */
#define SLOTS 17      /* both slots are read */
#define TAIL 21       /* and then the slot at the end */
#define READ 18       /* extent a is read */
#define STALE 19      /* a reader finds its commit overwritten */
#define KILL 20
#define JOIN 22  /* a rank shares the lock of all ranks, */
#define LEAVE 23 /* or gives it up */
