/* recipe.c - reads a schema file, and says what is wrong with it. */
#include "recipe.h"
#include "tool.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if HAVE_YAML
/* Reads a whole file or stream; *text is malloc'ed.  0, or an exit code. */
static int read_all(const char *name, char **text, size_t *size)
{
    FILE *f = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
    size_t len = 0, cap = (size_t)1 << 16, n;
    char *buf = f ? malloc(cap) : NULL, *bigger;
    int status = 0;

    while (buf && len <= SCHEMA_SIZE_MAX) {
        n = fread(buf + len, 1, cap - len, f);
        len += n;
        if (n == 0)
            break;
        if (len < cap)
            continue;
        cap *= 2;
        bigger = realloc(buf, cap);
        if (!bigger)
            free(buf);
        buf = bigger;
    }
    if (!f || !buf || ferror(f)) {
        tool_say(name, NULL, "%s", f && !buf ? "out of memory" : strerror(errno));
        status = TOOL_IO;
    } else if (len > SCHEMA_SIZE_MAX) {
        tool_say(name, NULL, "a schema has at most %d MiB", (int)(SCHEMA_SIZE_MAX >> 20));
        status = TOOL_USAGE;
    }
    if (f && f != stdin)
        fclose(f);
    if (status) {
        free(buf);
        return status;
    }
    *text = buf;
    *size = len;
    return 0;
}

void recipe_say(void *ctx, int line, int column, const char *message)
{
    const struct recipe *recipe = ctx;

    if (line > 0)
        fprintf(stderr, "%s:%d:%d: %s\n", recipe->name, line, column, message);
    else
        fprintf(stderr, "%s: %s\n", recipe->name, message);
}

int recipe_read(struct recipe *out, const char *name)
{
    struct recipe r = {.name = strcmp(name, "-") == 0 ? "stdin" : name};
    char *text;
    size_t size;
    int err, status = read_all(name, &text, &size);

    if (status)
        return status;
    err = schema_read(text, size, recipe_say, &r, &r.schema);
    free(text);
    if (err)
        return tool_exit_code(err);
    *out = r;
    return 0;
}

void recipe_release(struct recipe *r)
{
    schema_free(r->schema);
    *r = (struct recipe){0};
}
#endif
