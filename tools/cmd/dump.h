/* dump.h - the forms in which `dump` shows a file. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_DUMP_H
#define TOOLS_CMD_DUMP_H

#include "tools/cmd/dump_state.h"

/* For people: dump_text.c. */
void dump_text(struct dump *d);
/* dump_json.c.  With lines, a line an object; of one dataset, unless only its header is asked
 * for, a line an entry of its first dimension. */
void dump_json(struct dump *d);
void dump_jsonl(struct dump *d);
/* A schema that makes the file again: dump_yaml.c. */
void dump_yaml(struct dump *d);

#endif
