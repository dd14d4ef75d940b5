/* binding.h - the core for JavaScript: calls that answer with text and typed memory.
 *
 * An instance of the module holds one file.  Each call returns 0 or a DREP_ERR_... code, then
 * web_error() has the message.  What a call answers is JSON at web_text(), web_size() bytes, until
 * the next call; elements are in memory at the address that this names, until web_free().
 *
 * Bytes of the file come from the host, host_read().  A host that cannot answer at once notes the
 * ranges, returns 1, fetches them when the call has failed, and makes the call again: no call
 * changes anything that the second would find. */
/* SPDX-License-Identifier: MIT */
#ifndef CORE_BINDING_H
#define CORE_BINDING_H

#include <datarep.h>

#include <stddef.h>
#include <stdint.h>

#define EXPORT(name) __attribute__((used, visibility("default"), export_name(name)))

/* The open file, NULL between web_close() and web_open(). */
extern drep_file *web_file;

/* Begin an answer; add to it; add a text in quotes, bytes that are no UTF-8 as they are.  Where
 * memory is short the rest is left out, and out_end() is DREP_ERR_NOMEM. */
void out_begin(void);
void out(const char *format, ...) __attribute__((format(printf, 1, 2)));
void out_quoted(const char *text);
/* Add lengths as a list; rank DREP_NULL_SPACE: null. */
void out_lengths(int rank, const int64_t *lengths);
int out_end(void);

/* How the predefined types are stored, by code; size 0: not known. */
struct stored {
    drep_encoding row[DREP_CODE_MAX + 1];
};
void stored_fill(struct stored *s, const drep_encoding *rows, int n);

/* Choose the type in which JavaScript gets elements of `type`, the same on every machine, and
 * describe its layout in the answer:
 *
 *   {"k": kind, "size": bytes from one to the next, ...}
 *
 * Kinds: i u integers and f reals of `size` bytes, c complex, b bool, w integers of 16 bytes
 * ("signed"), a character in one byte, U in four, e enum ("base", "names": by value), s text of
 * fixed length ("pad"), S of variable length, o opaque ("tag"), R reference ("region"), A array
 * ("dims", "base"), V sequence ("base"), C compound and T struct without names ("fields": "name",
 * "t", "o": offset), x bits of a scalar ("order", "signed", "offset", "precision").  All but s, S,
 * A, V, C, T and e have "name".  *out is a new reference. */
int memory_type(const drep_type *type, const struct stored *s, drep_type **out);

#endif
