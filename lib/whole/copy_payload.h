/* copy_payload.h - the elements of one dataset into another that has none yet; of the same shape
 * and type, perhaps in other chunks, through other filters, under another representation. */
#ifndef DATA_CARRY_H
#define DATA_CARRY_H

#include "conv/transcode.h"
#include "elem/dataset.h"

struct carry {
    drep_dataset *from, *to;
    bool same_elements; /* stored elements are equal in both files */
    int range, threads;
    uint64_t (*map)(void *ctx, uint64_t id); /* of references; NULL: they stay */
    void *map_ctx;
    int (*progress)(int64_t bytes, void *ctx); /* payload written; may stop it; may be NULL */
    void *ctx;
    /* What came of it. */
    drep_report report; /* no indices */
    int64_t bytes;
    /* For the work. */
    bool stored;
    struct transcoder across;
    struct buf room[3];
};
int dataset_carry(struct carry *c);
void carry_release(struct carry *c);

#endif
