/* bashword.h - the words of a bash command line, and texts quoted to go into it.
 *
 * Readline replaces only the end of a word: what stands behind an open quote, or behind one
 * of the characters in COMP_WORDBREAKS.  A candidate must therefore be quoted for the state
 * that bash's parser is in where the replacement begins. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_BASHWORD_H
#define TOOLS_CMD_BASHWORD_H

#include "tools/text/sink.h"
#include <stdbool.h>
#include <stddef.h>

#define BASHWORD_MAX 256

enum bash_state { BASH_PLAIN, BASH_SINGLE, BASH_DOUBLE, BASH_ANSI /* $'...' */ };

struct bash_line {
    char *word[BASHWORD_MAX]; /* behind "datarep", unquoted; the last one ends at the cursor */
    int n;                    /* 0: the cursor is not in a datarep command */
    size_t kept;              /* bytes of the last word in front of the replaced text */
    enum bash_state state;    /* of the parser where the replaced text begins */
    char quote;               /* quote that readline takes for open and closes, or 0 */
    bool known;               /* `kept`, `state` and `quote` agree: candidates can be quoted */
    bool expands;             /* bash expands something in the last word: $, `, * */
    bool tilde;               /* the last word begins with an unquoted "~/" */
    bool redirect;            /* the last word is the target of a redirection */
};

/* Splits the line up to the cursor; `replaced` is its end that readline will replace ($2 of a
 * completion function).  Release it in any case; false: no memory. */
bool bash_line_read(struct bash_line *line, const char *text, const char *replaced);
void bash_line_release(struct bash_line *line);

/* Prints what readline must put in place of the replaced text so that the last word becomes
 * `word`, which begins as that word does.  Printable characters only: control characters and
 * bytes that are not UTF-8 become escapes of $'...'. */
void bash_quote(struct sink *s, const struct bash_line *line, const char *word);

#endif
