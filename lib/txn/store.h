/* store.h - all that the rooms above use of an open container. */
#ifndef TXN_STORE_H
#define TXN_STORE_H

#include "chunk/each.h"
#include "chunk/edit.h"
#include "chunk/patch.h"
#include "chunk/read.h"
#include "chunk/registry.h"
#include "chunk/write.h"
#include "chunk/filter.h"
#include "space/slots.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/walk.h"
#include "txn/check.h"
#include "txn/commit.h"
#include "txn/numbers.h"
#include "txn/op.h"
#include "txn/open.h"
#include "txn/salvage.h"
#include "txn/seal.h"
#include "txn/snapshot.h"
#include "txn/writeback.h"

#endif
