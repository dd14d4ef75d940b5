/* base64.h - bytes as text (RFC 4648, section 4). */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_REFS_BASE64_H
#define TOOLS_REFS_BASE64_H

#include "tools/text/sink.h"

void base64_put(struct sink *s, const void *bytes, size_t size);

#endif
