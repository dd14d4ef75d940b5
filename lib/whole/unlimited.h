/* unlimited.h - dimensions that become unlimited, or fixed, with the datasets along them. */
/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_UNLIMITED_H
#define WHOLE_UNLIMITED_H

#include "base/idset.h"
#include "elem/dataset.h"
#include "name/object.h"

/* The datasets whose maxima change: each handle, and its record as the file has it then. */
struct limited {
    struct limited_dataset {
        drep_dataset *ds; /* a reference */
        struct stored_object o;
    } * p;
    size_t n, room;
};

/* Make a dimension unlimited or fixed, inside an operation, and collect the datasets that change
 * with it; limited_release() frees them, also after an error.  except: ids of datasets that stay as
 * they are, or NULL.  DREP_ERR_UNSUPPORTED_OPERATION: the message names a dataset that cannot. */
int dimension_limit(drep_file *f, uint64_t id, bool unlimited, const struct idset *except,
                    struct limited *l);
/* The handles take over what was stored, when nothing can fail any more. */
void limited_exchange(struct limited *l);
void limited_release(struct limited *l);

#endif
