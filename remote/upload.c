/* upload.c - a file sent to a URL, in order and once.
 *
 * Bytes are collected into parts.  A file of less than a part is one request.  What is longer goes
 * to a bucket by a multipart upload, whose parts can be sent again, and to any other server by one
 * PUT whose body is sent as it comes (push.c), which cannot. */
/* SPDX-License-Identifier: MIT */
#include "remote/upload.h"
#include "remote/line.h"
#include "remote/push.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_SIZE ((size_t)8 << 20)
#define PARTS_MAX 10000 /* of S3 */
#define PARTS_STEP 1000 /* then parts are twice as long, so that files have up to 8 TiB */
#define ANSWER_MAX ((size_t)64 << 10)

struct upload {
    struct site site;
    struct line line;
    bool excl;
    uint64_t sent; /* bytes that were taken */
    uint8_t *part; /* that are collected */
    size_t n, room;
    char id[1024];     /* of a multipart upload, as a query has it; "": none */
    char (*tags)[256]; /* of its parts */
    size_t ntags, tags_room;
    struct push *push; /* of a long PUT */
    bool done;
};

/* ---- requests ---- */

/* Send one request; what the server answers is in `answer`, with a NUL. */
static int upload_ask(struct upload *u, struct request *r, char *answer, struct why *why)
{
    struct version_pin none = {0};
    uint8_t *sink = malloc(ANSWER_MAX);
    int err;

    if (!sink)
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    r->aim = AIM_SEND;
    r->pin = &none;
    r->sink = sink;
    r->room = ANSWER_MAX - 1;
    err = line_run(&u->line, r, 1, why);
    if (!err && answer) {
        memcpy(answer, sink, r->sunk);
        answer[r->sunk] = '\0';
    }
    free(sink);
    return err;
}

/* Get the text of an element of an answer; false: it is not there, or too long. */
static bool answer_element(const char *xml, const char *name, char *out, size_t room)
{
    char open[64], close[64];
    const char *begin, *end;

    snprintf(open, sizeof open, "<%s>", name);
    snprintf(close, sizeof close, "</%s>", name);
    begin = strstr(xml, open);
    end = begin ? strstr(begin, close) : NULL;
    if (!end || (size_t)(end - begin) - strlen(open) >= room)
        return false;
    begin += strlen(open);
    memcpy(out, begin, (size_t)(end - begin));
    out[end - begin] = '\0';
    return true;
}

/* ---- S3's multipart upload ---- */

/* The id, percent-encoded: signatures are computed from this form. */
static bool set_id(struct upload *u, const char *id)
{
    char *encoded = curl_easy_escape(NULL, id, 0);
    bool fits = encoded && *encoded && strlen(encoded) < sizeof u->id;

    if (fits)
        strcpy(u->id, encoded);
    curl_free(encoded);
    return fits;
}

static int multipart_begin(struct upload *u, struct why *why)
{
    struct request r = {.method = "POST", .query = "uploads="};
    char answer[ANSWER_MAX], id[1024];
    int err = upload_ask(u, &r, answer, why);

    if (!err && (!answer_element(answer, "UploadId", id, sizeof id) || !set_id(u, id)))
        err = why_set(why, DREP_ERR_IO, "the server does not say the id of the upload");
    return err;
}

static int multipart_part(struct upload *u, struct why *why)
{
    struct request r = {.method = "PUT", .body = u->part, .body_size = u->n};
    char query[1200];
    int err;

    if (u->ntags == PARTS_MAX)
        return why_set(why, DREP_ERR_NO_SPACE, "an upload has at most %d parts", PARTS_MAX);
    if (u->ntags == u->tags_room) {
        size_t room = u->tags_room ? 2 * u->tags_room : 16;
        void *p = realloc(u->tags, room * sizeof *u->tags);

        if (!p)
            return why_set(why, DREP_ERR_NOMEM, "out of memory");
        u->tags = p;
        u->tags_room = room;
    }
    snprintf(query, sizeof query, "partNumber=%zu&uploadId=%s", u->ntags + 1, u->id);
    r.query = query;
    err = upload_ask(u, &r, NULL, why);
    if (!err && !r.reply.tagged)
        err = why_set(why, DREP_ERR_IO, "the server does not say the ETag of a part");
    if (err)
        return err;
    memcpy(u->tags[u->ntags++], r.reply.tag, sizeof r.reply.tag);
    u->n = 0;
    return 0;
}

/* What names the parts; NULL: no memory. */
static char *parts_listed(const struct upload *u, size_t *size)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, size);

    if (!to)
        return NULL;
    fputs("<CompleteMultipartUpload>", to);
    for (size_t i = 0; i < u->ntags; i++) {
        fprintf(to, "<Part><PartNumber>%zu</PartNumber><ETag>", i + 1);
        for (const char *c = u->tags[i]; *c; c++)
            fprintf(to, *c == '<' || *c == '&' || *c == '>' ? "&#%d;" : "%c", *c);
        fputs("</ETag></Part>", to);
    }
    fputs("</CompleteMultipartUpload>", to);
    if (fclose(to)) {
        free(text);
        return NULL;
    }
    return text;
}

static int multipart_end(struct upload *u, struct why *why)
{
    struct request r = {.method = "POST", .excl = u->excl};
    char query[1100], answer[ANSWER_MAX], code[64];
    char *body;
    int err = u->n > 0 ? multipart_part(u, why) : 0;

    if (err)
        return err;
    body = parts_listed(u, &r.body_size);
    if (!body)
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    snprintf(query, sizeof query, "uploadId=%s", u->id);
    r.query = query;
    r.body = body;
    err = upload_ask(u, &r, answer, why);
    free(body);
    /* It may fail after it has begun to answer 200. */
    if (!err && answer_element(answer, "Code", code, sizeof code) && strstr(answer, "<Error>"))
        err = why_set(why, DREP_ERR_IO, "the server cannot put the parts together: %.60s", code);
    if (!err)
        u->id[0] = '\0';
    return err;
}

/* Best effort: what is not ended costs its owner. */
static void multipart_abort(struct upload *u)
{
    struct request r = {.method = "DELETE"};
    struct why ignored = {0};
    char query[1100];

    snprintf(query, sizeof query, "uploadId=%s", u->id);
    r.query = query;
    upload_ask(u, &r, NULL, &ignored);
}

/* ---- the driver ---- */

static int send_small(struct upload *u, struct why *why)
{
    struct request r = {.method = "PUT", .body = u->part, .body_size = u->n, .excl = u->excl};

    return upload_ask(u, &r, NULL, why);
}

/* A part is full. */
static int send_part(struct upload *u, struct why *why)
{
    int err = 0;

    if (u->site.s3) {
        if (!*u->id)
            err = multipart_begin(u, why);
        if (!err)
            err = multipart_part(u, why);
        if (!err && u->ntags % PARTS_STEP == 0) {
            uint8_t *more = realloc(u->part, 2 * u->room);

            if (!more)
                return why_set(why, DREP_ERR_NOMEM, "out of memory");
            u->part = more;
            u->room *= 2;
        }
        return err;
    }
    if (!u->push)
        err = push_open(&u->site, u->excl, &u->push, why);
    if (!err)
        err = push_bytes(u->push, u->part, u->n, why);
    u->n = err ? u->n : 0;
    return err;
}

static int upload_write(void *state, const void *buf, size_t size, uint64_t offset)
{
    struct upload *u = state;
    const uint8_t *p = buf;
    struct why why = {0};

    if (offset != u->sent || u->done)
        return say_error(DREP_ERR_UNSUPPORTED_OPERATION, "an upload goes forward alone");
    while (size > 0) {
        size_t now = size < u->room - u->n ? size : u->room - u->n;

        memcpy(u->part + u->n, p, now);
        u->n += now;
        u->sent += now;
        p += now;
        size -= now;
        if (u->n == u->room && send_part(u, &why))
            return why_raise(&why);
    }
    return 0;
}

static int upload_sync(void *state)
{
    struct upload *u = state;
    struct why why = {0};
    int err = 0;

    if (u->done)
        return 0;
    if (*u->id)
        err = multipart_end(u, &why);
    else if (u->push)
        err = push_end(u->push, u->part, u->n, &why);
    else
        err = send_small(u, &why);
    u->done = !err;
    return why_raise(&why);
}

static int upload_size(void *state, uint64_t *size)
{
    *size = ((struct upload *)state)->sent;
    return 0;
}

static int upload_read(void *state, const drep_range *range, size_t n)
{
    (void)state;
    (void)range;
    return n > 0 ? say_error(DREP_ERR_UNSUPPORTED_OPERATION, "an upload cannot be read") : 0;
}

static int upload_truncate(void *state, uint64_t size)
{
    (void)state;
    (void)size;
    return say_error(DREP_ERR_UNSUPPORTED_OPERATION, "an upload goes forward alone");
}

static void upload_close(void *state)
{
    struct upload *u = state;

    if (*u->id)
        multipart_abort(u);
    push_free(u->push);
    line_release(&u->line);
    site_release(&u->site);
    free(u->part);
    free(u->tags);
    free(u);
}

/* Ask for two bytes: any answer with bytes says that something is there. */
static int refuse_existing(struct upload *u, struct why *why)
{
    struct version_pin none = {0};
    uint8_t bytes[1024];
    struct request r = {
        .aim = AIM_FIRST, .size = 2, .room = sizeof bytes, .sink = bytes, .pin = &none};
    struct why found = {0};
    int err = line_run(&u->line, &r, 1, &found), status = r.reply.status;

    if ((status >= 200 && status <= 299) || status == 416)
        return why_set(why, DREP_ERR_FILE_EXISTS, "there is a file already");
    if (err == DREP_ERR_NO_SUCH_FILE)
        return 0;
    if (err == DREP_ERR_ACCESS) /* whoever may write need not be allowed to read */
        return 0;
    *why = found;
    return err;
}

int upload_open(const char *url, int excl, const drep_info *hints, drep_driver *driver,
                void **state, struct why *why)
{
    struct upload *u = calloc(1, sizeof *u);
    int err;

    if (!u)
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    u->excl = excl;
    u->room = PART_SIZE;
    u->part = malloc(PART_SIZE);
    err = site_init(&u->site, url, false, hints, why);
    if (!u->part)
        err = why_set(why, DREP_ERR_NOMEM, "out of memory");
    if (!err)
        err = line_init(&u->line, &u->site, why);
    if (!err && excl)
        err = refuse_existing(u, why);
    if (err) {
        upload_close(u);
        return err;
    }
    *driver =
        DREP_DRIVER(.read_many = upload_read, .file_size = upload_size, .write_at = upload_write,
                    .truncate = upload_truncate, .sync = upload_sync, .close = upload_close);
    *state = u;
    return 0;
}
