/* url.h - names of files that are URLs, and what people may see of them.
 *
 * A URL may carry a password, and its query a signature: no message has them. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_URL_H
#define BASE_URL_H

#include <stdbool.h>
#include <stddef.h>

/* True for names that begin with http://, https:// or s3://: only these are taken for URLs, so a
 * local file that has such a name is reached as ./https://... */
bool url_is(const char *name);
/* The URL without its user part, query and fragment.  At most `room` bytes are written, the last of
 * them a NUL; a URL whose user part cannot be told from its host is shown without both.  Any other
 * name is copied.  Returns `out`. */
const char *url_shown(const char *name, char *out, size_t room);
/* The URL of a file beneath the folder of another one, without that one's query: a relative path of
 * plain names, so that it stays there.  Characters that mean something in a URL are encoded.  NULL:
 * it is no such path, without a message, or there is no memory; mem_free() it. */
char *url_beneath(const char *url, const char *path);

#endif
