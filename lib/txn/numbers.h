/* numbers.h - the numbers of objects and datatypes that a tree uses. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_NUMBERS_H
#define TXN_NUMBERS_H

#include "space/store.h"

/* Give the greatest object id in the tree, and the number behind the greatest of a datatype. */
int numbers_in_use(struct store *st, uint64_t *object, uint64_t *type);
/* DREP_ERR_FORMAT: an object or a datatype has a number that would be given again. */
int store_numbers(struct store *st);

#endif
