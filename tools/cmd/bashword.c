/* bashword.c - the words of a bash command line, and texts quoted to go into it. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/bashword.h"
#include "format/utf8.h"
#include "tools/text/sink.h"
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- reading */

struct word_reader {
    const char *p;
    const char *replaced; /* where the replaced text begins */
    struct bash_line *line;
    enum bash_state state;
    char *word;
    size_t len;
};

/* Byte of an escape in $'...'; p is behind the backslash.  An octal or hexadecimal number that
 * the line's end cuts off is dropped, as completion of several candidates leaves one there. */
static void take_ansi_escape(struct word_reader *r)
{
    static const char letters[] = "abeEfnrtv", bytes[] = "\a\b\033\033\f\n\r\t\v";
    const char *letter = strchr(letters, *r->p), *end;
    bool hex = *r->p == 'x';
    char digits[4] = "";
    size_t n;

    if (letter) {
        r->word[r->len++] = bytes[letter - letters];
        r->p++;
        return;
    }
    n = hex ? strspn(r->p + 1, "0123456789abcdefABCDEF") : strspn(r->p, "01234567");
    if (n == 0) {
        /* Also \', \", \\ and \?; others are not made by bash_quote(). */
        if (!strchr("'\"\\?", *r->p))
            r->word[r->len++] = '\\';
        r->word[r->len++] = *r->p++;
        return;
    }
    if (n > (hex ? 2u : 3u))
        n = hex ? 2 : 3;
    memcpy(digits, r->p + hex, n);
    end = r->p + hex + n;
    if (*end || n == (hex ? 2u : 3u))
        r->word[r->len++] = (char)strtoul(digits, NULL, hex ? 16 : 8);
    r->p = end;
}

/* One backslash and what it quotes. */
static void take_backslash(struct word_reader *r)
{
    r->p++;
    if (!*r->p)
        return; /* half an escape: dropped */
    if (r->state == BASH_ANSI) {
        take_ansi_escape(r);
        return;
    }
    if (r->state == BASH_DOUBLE && !strchr("\\\"$`\n", *r->p))
        r->word[r->len++] = '\\';
    r->word[r->len++] = *r->p++;
}

/* Opens or closes a quote; false if the character at p does neither. */
static bool take_quote(struct word_reader *r)
{
    char c = *r->p;

    switch (r->state) {
    case BASH_PLAIN:
        if (c == '$' && (r->p[1] == '\'' || r->p[1] == '"'))
            r->state = *++r->p == '"' ? BASH_DOUBLE : BASH_ANSI;
        else if (c == '"' || c == '\'')
            r->state = c == '"' ? BASH_DOUBLE : BASH_SINGLE;
        else
            return false;
        break;
    case BASH_DOUBLE:
        if (c != '"')
            return false;
        r->state = BASH_PLAIN;
        break;
    default:
        if (c != '\'')
            return false;
        r->state = BASH_PLAIN;
    }
    r->p++;
    return true;
}

/* Notes the parser's state where the replaced text begins. */
static void mark_replaced(struct word_reader *r)
{
    if (r->p == r->replaced) {
        r->line->kept = r->len;
        r->line->state = r->state;
        r->line->known = true;
    }
}

/* The next word without its quotes, malloc'ed; a quote that is not closed ends with the line. */
static char *take_word(struct word_reader *r)
{
    const char *begin = r->p;

    r->word = malloc(strlen(r->p) * 2 + 1);
    if (!r->word)
        return NULL;
    r->len = 0;
    r->state = BASH_PLAIN;
    r->line->known = r->line->expands = false;
    r->line->tilde = strncmp(begin, "~/", 2) == 0;
    for (;;) {
        mark_replaced(r);
        if (!*r->p || (r->state == BASH_PLAIN && strchr(" \t\n|&;()<>", *r->p)))
            break;
        if (take_quote(r))
            continue;
        if (*r->p == '\\' && r->state != BASH_SINGLE) {
            take_backslash(r);
            continue;
        }
        if ((r->state == BASH_PLAIN && strchr("$`*?[{", *r->p)) ||
            (r->state == BASH_DOUBLE && strchr("$`", *r->p)))
            r->line->expands = true;
        r->word[r->len++] = *r->p++;
    }
    r->word[r->len] = '\0';
    return r->word;
}

/* The quote that readline takes for open at the end of the text: its own scan knows neither
 * $'...' nor that a backslash means nothing before most characters in double quotes. */
static char open_quote(const char *p)
{
    char quote = 0;

    for (; *p; p++) {
        if (*p == '\\' && quote != '\'') {
            if (!*++p)
                break;
        } else if (quote) {
            quote = *p == quote ? 0 : quote;
        } else if (*p == '"' || *p == '\'') {
            quote = *p;
        }
    }
    return quote;
}

static bool is_datarep(const char *word)
{
    const char *slash = strrchr(word, '/');

    return strcmp(slash ? slash + 1 : word, "datarep") == 0;
}

/* Skip blanks or an operator between two words.  Gives whether a redirection's target
 * comes next; *ended: another command begins. */
static bool skip_operators(struct word_reader *r, bool *ended)
{
    bool redirect = false;

    for (;; r->p++) {
        if (*r->p == '<' || *r->p == '>')
            redirect = true;
        else if (*r->p && strchr("|;()\n", *r->p))
            *ended = true;
        else if (*r->p == '&')
            *ended = *ended || (!redirect && r->p[1] != '>');
        else if (*r->p != ' ' && *r->p != '\t')
            return redirect && !*ended;
    }
}

static void drop_words(struct bash_line *line)
{
    while (line->n > 0)
        free(line->word[--line->n]);
}

/* True if the word just read is the number in front of a redirection: 2>file. */
static bool is_descriptor(const struct word_reader *r)
{
    return (*r->p == '<' || *r->p == '>') && r->len > 0 && strspn(r->word, "0123456789") == r->len;
}

static bool split_word(struct word_reader *r)
{
    struct bash_line *line = r->line;
    bool begun = false, ended, redirect;
    char *word;

    for (;;) {
        ended = false;
        redirect = skip_operators(r, &ended);
        if (ended) {
            drop_words(line);
            begun = false;
        }
        word = take_word(r);
        if (!word)
            return false;
        if (begun && line->n < BASHWORD_MAX && (!*r->p || !(redirect || is_descriptor(r)))) {
            line->word[line->n++] = word;
        } else {
            begun = begun || (!redirect && is_datarep(word));
            free(word);
        }
        if (!*r->p) {
            line->redirect = redirect;
            return true;
        }
    }
}

bool bash_line_read(struct bash_line *line, const char *text, const char *replaced)
{
    size_t len = strlen(text), tail = strlen(replaced);
    struct word_reader r = {.p = text, .line = line};
    bool single, ok;

    *line = (struct bash_line){.n = 0};
    if (tail <= len && strcmp(text + len - tail, replaced) == 0)
        r.replaced = text + len - tail;
    ok = split_word(&r);
    line->quote = open_quote(text);
    single = line->state == BASH_SINGLE || line->state == BASH_ANSI;
    if ((line->quote == '\'') != single || (line->quote == '"') != (line->state == BASH_DOUBLE))
        line->known = false;
    return ok;
}

void bash_line_release(struct bash_line *line)
{
    drop_words(line);
}

/* -------------------------------------------------------------------- quoting */

/* Bytes at p that may stand on a terminal as they are: one character, or 0. */
static size_t printable_length(const char *p)
{
    uint32_t code;
    size_t n = *p ? utf8_next(p, strnlen(p, 4), &code) : 0;

    return n == 0 || utf8_control(code) ? 0 : n;
}

/* One byte as $'...' has it: three octal digits, so that nothing behind it can belong to it. */
static void put_ansi_byte(struct sink *s, char c)
{
    sink_format(s, "\\%03o", (unsigned char)c);
}

/* A character that needs no help of another kind of quotes. */
static void put_character(struct sink *s, enum bash_state state, const char *p, size_t n)
{
    switch (state) {
    case BASH_PLAIN:
        if (n == 1 && !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-+./:=@%",
                              *p))
            sink_char(s, '\\');
        break;
    case BASH_DOUBLE:
        if (strchr("\\\"$`", *p))
            sink_char(s, '\\');
        break;
    case BASH_ANSI:
        if (*p == '\\')
            sink_char(s, '\\');
        break;
    case BASH_SINGLE:
        break;
    }
    sink_put(s, p, n);
}

/* A run of bytes that a state cannot hold.  Single and double quotes are closed for them. */
static const char *put_foreign(struct sink *s, enum bash_state state, const char *p)
{
    const char *quote = state == BASH_SINGLE ? "'" : state == BASH_DOUBLE ? "\"" : "";

    sink_text(s, quote);
    if (printable_length(p) && state != BASH_ANSI) {
        sink_char(s, '\\');
        sink_char(s, *p++);
    } else if (state == BASH_ANSI) {
        put_ansi_byte(s, *p++);
    } else {
        sink_text(s, "$'");
        while (*p && !printable_length(p))
            put_ansi_byte(s, *p++);
        sink_char(s, '\'');
    }
    sink_text(s, quote);
    return p;
}

/* True if the state has a way to write this character. */
static bool can_write(enum bash_state state, const char *p)
{
    if (!printable_length(p))
        return false;
    switch (state) {
    case BASH_SINGLE:
        return *p != '\'';
    case BASH_DOUBLE:
        return *p != '!'; /* a backslash would stop history expansion, and stay */
    case BASH_ANSI:
        return *p != '\'' && *p != '!'; /* readline takes \' for the end of the quotes */
    default:
        return true;
    }
}

static void put_quoted(struct sink *s, enum bash_state state, const char *p)
{
    size_t n;

    while (*p) {
        if (!can_write(state, p)) {
            p = put_foreign(s, state, p);
            continue;
        }
        n = printable_length(p);
        put_character(s, state, p, n);
        p += n;
    }
}

void bash_quote(struct sink *s, const struct bash_line *line, const char *word)
{
    struct sink text;

    if (sink_init(&text, -1))
        return;
    word += line->kept;
    if (line->tilde && line->kept == 0 && strncmp(word, "~/", 2) == 0) {
        sink_text(&text, "~/");
        word += 2;
    }
    put_quoted(&text, line->state, word);
    /* Readline drops the open quote where the replacement begins with one, and does not close
     * it where the replacement ends with one: give it another. */
    if (line->quote && text.len && text.buf[0] == line->quote)
        sink_char(s, line->quote);
    sink_put(s, text.buf, text.len);
    if (line->quote && text.len && text.buf[text.len - 1] == line->quote)
        sink_char(s, line->quote);
    sink_release(&text);
}
