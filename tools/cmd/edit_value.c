/* edit_value.c - the value of an attribute, as a command line has it.
 *
 * Its value is put into a schema of one attribute, from which a file in memory is made: the
 * language of values, its checks and its messages are those of schemas. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/edit_value.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include <datarep.h>
#include <stdbool.h>

#if HAVE_YAML
#include "schema/schema.h"
#include "tools/text/sink.h"
#include <stdlib.h>

/* Where the messages of a schema go: which `value` they speak of, and whether they are wanted. */
struct hearer {
    const char *file_name;
    const struct edit_value *value;
    bool silent;
    int said;
};

static void hear_schema(void *ctx, int line, int column, const char *message)
{
    struct hearer *h = ctx;

    (void)line;
    (void)column;
    if (!h->silent && h->said++ == 0)
        tool_say(h->file_name, h->value->path, "attribute \"%s\": %s", h->value->name, message);
}

/* True for what a schema reads as a number, true or false, and for lists, maps and quoted texts;
 * anything else is a text as it stands, colons and all. */
static bool is_written_out(const char *text)
{
    char *end;

    if (*text == '\0')
        return false;
    if (strchr("[{\"'", *text) || strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return true;
    if (!strpbrk(text, "0123456789") && *text != '.')
        return false; /* inf and nan are words, .inf and .nan numbers */
    if (strcmp(text, ".inf") == 0 || strcmp(text, "-.inf") == 0 || strcmp(text, ".nan") == 0)
        return true;
    strtod(text, &end);
    return end != text && *end == '\0' && strspn(text, " \t\n") == 0;
}

static bool is_text(const drep_type *type)
{
    int kind = drep_type_kind(type);

    return kind == DREP_KIND_STRING || kind == DREP_KIND_VSTRING;
}

/* The schema of a file with one attribute, of the type on this line if one is given. */
static void put_schema(struct sink *s, const struct edit_value *value, const char *type)
{
    drep_type *parsed = NULL;
    bool plain = is_written_out(value->text);

    if (type && drep_type_parse(type, &parsed) == 0 && is_text(parsed) && *value->text != '[')
        plain = false;
    drep_type_free(parsed);
    sink_text(s, "{root: {attrs: {\"a\": ");
    if (type) {
        sink_text(s, "{type: ");
        sink_quoted(s, type, strlen(type));
        sink_text(s, ", value: ");
    }
    if (plain)
        sink_text(s, value->text);
    else
        sink_quoted(s, value->text, strlen(value->text));
    sink_text(s, type ? "}}}}\n" : "}}}\n");
}

/* A file in memory whose root has the value as its attribute "a".  A DREP_ERR_... code. */
static int make_value(const struct edit_value *value, const char *type, struct hearer *h,
                      drep_file **out)
{
    struct schema *schema;
    struct sink s;
    int err;

    if (sink_init(&s, -1))
        return DREP_ERR_NOMEM;
    put_schema(&s, value, type);
    err = s.err ? DREP_ERR_NOMEM : schema_read(s.buf, s.len, hear_schema, h, &schema);
    sink_release(&s);
    if (err)
        return err;
    err = schema_make(schema, ":memory:", DREP_RDWR, NULL, hear_schema, h, out);
    schema_free(schema);
    return err;
}

/* Writes a text in the form that the attribute has: of as many bytes as it needs, padded so. */
static int write_padded(drep_file *file, const struct edit_value *value, drep_file *from, int pad)
{
    drep_type *type;
    char *text;
    int err = drep_attr_read_string(from, "/", "a", &text);

    if (err)
        return err;
    err = drep_type_string((int64_t)strlen(text) + (*text ? 0 : 1), pad, &type);
    if (!err) {
        err = drep_attr_write(file, value->path, value->name, type, 0, NULL, text);
        drep_type_free(type);
    }
    free(text);
    return err;
}

/* Writes it as it is in that file. */
static int write_made(drep_file *file, const struct edit_value *value, drep_file *from,
                      const drep_attrinfo *made)
{
    size_t extent = (size_t)drep_type_extent(made->type);
    void *buf = calloc((size_t)made->count + 1, extent ? extent : 1);
    int err = buf ? 0 : DREP_ERR_NOMEM;

    if (!err && made->count > 0)
        err = drep_attr_read(from, "/", "a", made->type, buf);
    if (!err)
        err = drep_attr_write(file, value->path, value->name, made->type, made->rank, made->dims,
                              buf);
    if (buf)
        drep_vlen_free(made->type, made->count, buf);
    free(buf);
    return err;
}

static bool is_number(const drep_attrinfo *info)
{
    int kind = drep_type_kind(info->type);

    return info->rank >= 0 && (kind == DREP_KIND_PREDEFINED || kind == DREP_KIND_SCALAR ||
                               kind == DREP_KIND_ENUM || kind == DREP_KIND_BOOLEAN);
}

/* The value in the type that the attribute has.  Says what to do where it does not fit. */
static int make_number(const char *file_name, const struct edit_value *value, const drep_type *has,
                       drep_file **out)
{
    struct hearer h = {file_name, value, .silent = true};
    char *type;
    int err = drep_type_print(has, &type);

    if (err)
        return tool_fail(file_name, value->path, err);
    err = make_value(value, type, &h, out);
    if (err)
        tool_say(file_name, value->path,
                 "attribute \"%s\": it is of type %s, which does not hold %s; \"%s@%s:TYPE=...\" "
                 "gives it another type",
                 value->name, type, value->text, value->path, value->name);
    free(type);
    return err ? TOOL_USAGE : TOOL_FINE;
}

/* Writes what was made; `has` is the attribute there is, NULL for none. */
static int write_value(drep_file *file, const char *file_name, const struct edit_value *value,
                       drep_file *from, const drep_attrinfo *has)
{
    drep_attrinfo made = DREP_ATTRINFO;
    int err = drep_attr_info(from, "/", "a", &made);

    if (err)
        return tool_fail(file_name, value->path, err);
    if (!value->type && has && has->rank == 0 && made.rank == 0 &&
        drep_type_kind(has->type) == DREP_KIND_STRING && is_text(made.type))
        err = write_padded(file, value, from, drep_type_string_pad(has->type));
    else
        err = write_made(file, value, from, &made);
    drep_attrinfo_release(&made);
    return err ? tool_fail(file_name, value->path, err) : TOOL_FINE;
}

int edit_value_write(drep_file *file, const char *file_name, const struct edit_value *value)
{
    struct hearer h = {file_name, value, .silent = false};
    drep_attrinfo has = DREP_ATTRINFO;
    int none = drep_attr_info(file, value->path, value->name, &has);
    const char *type = value->type;
    drep_file *from = NULL;
    int status = TOOL_FINE, err;

    if (!none && !type && is_text(has.type) && has.rank == 0)
        type = "vstring";
    if (!none && !type && is_number(&has)) {
        status = make_number(file_name, value, has.type, &from);
    } else {
        err = make_value(value, type, &h, &from);
        if (err)
            status = h.said ? TOOL_USAGE : tool_fail(file_name, value->path, err);
    }
    if (!status) {
        status = write_value(file, file_name, value, from, none ? NULL : &has);
        drep_abandon(from);
    }
    drep_attrinfo_release(&has);
    return status;
}
#else
int edit_value_write(drep_file *file, const char *file_name, const struct edit_value *value)
{
    (void)file;
    tool_say(file_name, value->path, "built without libyaml, so without the values of schemas");
    return TOOL_CORRUPT;
}
#endif
