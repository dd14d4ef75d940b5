/* describe.h - what a dataset says of itself. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_DESCRIBE_H
#define ELEM_DESCRIBE_H

#include "base/handles.h"

/* The filters as a spec names them; names live as long as the handle. */
void dataset_filters(const drep_dataset *ds, drep_filter *out);

#endif
