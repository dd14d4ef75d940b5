/* strerror.c - messages and codes as users see them.
 *
 * They are apart from error.c because the command and its modules link a copy of that one for
 * their lists (Makefile, BASE_SRC): a second drep_error() would show the messages of the copy. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h> /* before base/err.h, for the assertion */
#include "base/handles.h"
#include "base/error.h"
#include "base/escape.h"

#define X(name, number, text) \
    _Static_assert(DREP_ERR_##name == (number), "datarep.h and errors.def differ");
#include "format/errors.def"
#undef X

const char *drep_error(void)
{
    return fail_text();
}

const char *drep_error_object(void)
{
    return fail_last()->object;
}

int64_t drep_error_byte(void)
{
    return fail_last()->byte - 1;
}

static _Thread_local unsigned said;

unsigned fail_said(void)
{
    return said;
}

int drep_error_set(int err, const char *message)
{
    said += err ? 1 : 0;
    return err ? fail(err, "%s", message ? message : "") : 0;
}

size_t drep_escape(char *out, size_t room, const char *text, size_t size)
{
    return text_escape(out, room, text, size);
}

const char *drep_strerror(int err)
{
    switch (err) {
    case DREP_OK:
        return "success";
#define X(name, number, text) \
    case (number):            \
        return text;
#include "format/errors.def"
#undef X
    }
    return "unknown error";
}
