/* request.c - one HTTP request, until it is answered: hops, retries, checks. */
/* SPDX-License-Identifier: MIT */
#include "remote/request.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_BODY                                                                              \
    ((uint64_t)64 << 10)              /* of an answer that nobody wants, to keep the connection \
                                       */
#define PROGRESS ((uint64_t)64 << 10) /* bytes after which a broken connection is a new one */
#define PAUSE_MAX 30.0                /* seconds between tries */

/* Where the next try, or the last one, goes: what a redirect of this request or of an earlier one
 * led to, else what was named. */
static const struct hop *place_of(const struct request *r, const struct site *s)
{
    if (r->hopped)
        return &r->hop;
    return s->moved.text && !r->from_start ? &s->moved : &s->named;
}

/* Name the server in a message, to which the library adds the URL that was named. */
static const char *server_of(const struct request *r, const struct site *s)
{
    const struct hop *hop = place_of(r, s);

    return hop == &s->named ? "the server" : hop->shown;
}

/* ---- what is asked ---- */

static bool add_header(struct curl_slist **list, const char *name, const char *value)
{
    char line[400];
    struct curl_slist *more;

    snprintf(line, sizeof line, "%s: %s", name, value);
    more = curl_slist_append(*list, line);
    if (more)
        *list = more;
    return more != NULL;
}

/* Only the pinned version is wanted; a server that knows better says 412. */
static bool add_conditions(struct request *r)
{
    const struct version_pin *p = r->pin;

    if (p->tagged && strncmp(p->tag, "W/", 2) != 0)
        return add_header(&r->headers, "If-Match", p->tag);
    return !p->dated || add_header(&r->headers, "If-Unmodified-Since", p->date);
}

static size_t take_head(char *line, size_t size, size_t n, void *ctx)
{
    struct request *r = ctx;

    (void)size;
    if (reply_line(&r->reply, line, n))
        return n;
    why_set(&r->why, DREP_ERR_LIMIT, "the server sends more than %zu bytes of headers",
            REPLY_HEAD_MAX);
    return 0;
}

static size_t take_body(char *p, size_t size, size_t n, void *ctx);

static CURLcode set_message(struct request *r, const struct site *s, CURL *easy)
{
    char range[64];
    CURLcode bad = CURLE_OK;

    if (r->aim != AIM_SEND) {
        snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)(r->first + r->got),
                 (unsigned long long)(r->first + r->size - 1));
        return curl_easy_setopt(easy, CURLOPT_RANGE, range);
    }
    if (r->method) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_size);
        bad = curl_easy_setopt(easy, CURLOPT_POSTFIELDS, r->body ? r->body : "");
        if (!bad)
            bad = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, r->method);
        /* No pause for "100 Continue", and no type of a form.  An empty field is not sent, but
         * libcurl would sign it. */
        if (!bad && ((r->excl && !add_header(&r->headers, "If-None-Match", "*")) ||
                     (!s->s3 && !add_header(&r->headers, "Expect", "")) ||
                     !add_header(&r->headers, "Content-Type", "application/octet-stream")))
            bad = CURLE_OUT_OF_MEMORY;
    }
    return bad;
}

/* A query of ours is added to the URL of the object. */
static int set_query(struct request *r, const struct hop *hop, CURL *easy)
{
    char *text = NULL;
    CURLcode bad;

    if (!r->query)
        return 0;
    if (asprintf(&text, "%s%s%s", hop->text, strchr(hop->text, '?') ? "&" : "?", r->query) < 0)
        return why_set(&r->why, DREP_ERR_NOMEM, "out of memory");
    bad = curl_easy_setopt(easy, CURLOPT_URL, text);
    free(text);
    return bad ? why_set(&r->why, DREP_ERR_NOMEM, "out of memory") : 0;
}

int request_begin(struct request *r, struct site *s, CURL *easy)
{
    const struct hop *hop = place_of(r, s);
    CURLcode bad;

    r->easy = easy;
    r->judged = false;
    r->before = r->got;
    r->sunk = 0;
    r->nfront = 0;
    r->said[0] = '\0';
    r->curl_error[0] = '\0';
    reply_init(&r->reply);
    curl_slist_free_all(r->headers);
    r->headers = NULL;
    bad = set_message(r, s, easy);
    if (!bad && r->aim == AIM_BYTES && !add_conditions(r))
        bad = CURLE_OUT_OF_MEMORY;
    if (bad)
        return why_set(&r->why, DREP_ERR_NOMEM, "out of memory");
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, r->curl_error);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_head);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, r);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, r);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, r);
    if (site_prepare(s, hop, easy, &r->headers, r->body_size > 0, &r->why))
        return r->why.err;
    return set_query(r, hop, easy);
}

void request_release(struct request *r)
{
    curl_slist_free_all(r->headers);
    r->headers = NULL;
    hop_release(&r->hop);
    r->hopped = false;
}

/* ---- what is answered ---- */

/* Check that an answer is of the pinned version. */
static int same_version(struct request *r)
{
    const struct version_pin *p = r->pin;
    const struct reply *a = &r->reply;
    const char *what = NULL;

    if (a->total != p->size)
        what = "its size";
    else if (p->tagged && (!a->tagged || strcmp(a->tag, p->tag) != 0))
        what = "its ETag";
    else if (!p->tagged && p->dated && (!a->dated || strcmp(a->date, p->date) != 0))
        what = "its time";
    return what ? why_set(&r->why, DREP_ERR_STALE,
                          "the file has changed since it was opened (%s): open it again", what)
                : 0;
}

/* Check the head of an answer with a part of the file. */
static int judge_part(struct request *r)
{
    const struct reply *a = &r->reply;
    uint64_t first = r->first + r->got, last = r->first + r->size - 1;

    if (!a->ranged)
        return why_set(&r->why, DREP_ERR_IO,
                       "the server answers 206 without a valid Content-Range");
    if (r->aim == AIM_FIRST && last >= a->total)
        last = a->total - 1;
    if (r->aim == AIM_BYTES && same_version(r))
        return r->why.err;
    if (a->first != first || a->last > last)
        return why_set(&r->why, DREP_ERR_IO,
                       "the server sends bytes %llu-%llu where %llu-%llu were asked for",
                       (unsigned long long)a->first, (unsigned long long)a->last,
                       (unsigned long long)first, (unsigned long long)last);
    return 0;
}

/* Check the head of an answer with all of the file: a small one is taken as it is. */
static int judge_whole(struct request *r)
{
    const struct reply *a = &r->reply;

    if (r->aim == AIM_BYTES)
        return why_set(&r->why, DREP_ERR_IO,
                       "the server sends the whole file where a part was asked for");
    if (a->sized && a->length > (r->grows ? r->grow_max : r->room))
        return why_set(&r->why, r->grows ? DREP_ERR_LIMIT : DREP_ERR_UNSUPPORTED_OPERATION,
                       r->grows ? "the server has no ranges, and the file has %llu bytes (hint "
                                  "drep_http_whole_max)"
                                : "the server has no ranges, and the file has %llu bytes "
                                  "(DATAREP_HINTS=drep_http_whole=true loads all of it)",
                       (unsigned long long)a->length);
    return 0;
}

/* Look at the head when the body begins, or there is none. */
static int judge_head(struct request *r)
{
    if (r->judged)
        return r->why.err;
    r->judged = true;
    if (r->reply.status < 200 || r->reply.status > 299 || r->aim == AIM_SEND)
        return 0;
    if (r->reply.encoded)
        return why_set(
            &r->why, DREP_ERR_UNSUPPORTED_OPERATION,
            "the server sends the file encoded (Content-Encoding), so that no byte has a "
            "place");
    if (r->reply.status == 206)
        return judge_part(r);
    if (r->reply.status == 200)
        return judge_whole(r);
    return why_set(&r->why, DREP_ERR_IO, "the server answers %d", r->reply.status);
}

/* Collect a body. */
static bool sink_bytes(struct request *r, const char *p, size_t n)
{
    if (n > r->room - r->sunk && r->grows && n <= r->grow_max - r->sunk) {
        size_t room = r->room + n > r->grow_max / 2 ? (size_t)r->grow_max : 2 * (r->room + n);
        uint8_t *more;

        if (r->reply.sized && r->reply.length >= r->sunk + n && r->reply.length <= r->grow_max)
            room = (size_t)r->reply.length;
        more = realloc(r->sink, room);
        if (!more) {
            why_set(&r->why, DREP_ERR_NOMEM, "out of memory");
            return false;
        }
        r->sink = more;
        r->room = room;
    }
    if (n > r->room - r->sunk) {
        why_set(&r->why, r->grows ? DREP_ERR_LIMIT : DREP_ERR_UNSUPPORTED_OPERATION,
                r->reply.status == 206 || r->aim == AIM_SEND
                    ? "the server sends more bytes than it was asked for"
                : r->grows ? "the server has no ranges, and the file is larger than "
                             "drep_http_whole_max"
                           : "the server has no ranges (DATAREP_HINTS=drep_http_whole=true loads "
                             "all of the file)");
        return false;
    }
    memcpy(r->sink + r->sunk, p, n);
    r->sunk += n;
    return true;
}

/* Give bytes of the range to the buffers that want them; gaps between them go nowhere. */
static bool fill_ranges(struct request *r, const char *p, size_t n)
{
    if (n > r->size - r->got) {
        why_set(&r->why, DREP_ERR_IO, "the server sends more bytes than it was asked for");
        return false;
    }
    while (n > 0 && r->filling < r->nrange) {
        const drep_range *to = &r->range[r->filling];
        uint64_t at = r->first + r->got, end = to->offset + to->size;
        size_t now;

        if (at < to->offset) {
            now = to->offset - at < n ? (size_t)(to->offset - at) : n;
        } else if (at >= end) {
            r->filling++;
            continue;
        } else {
            now = end - at < n ? (size_t)(end - at) : n;
            memcpy((uint8_t *)to->buf + (at - to->offset), p, now);
        }
        r->got += now;
        p += now;
        n -= now;
    }
    r->got += n;
    return true;
}

static size_t take_body(char *p, size_t size, size_t n, void *ctx)
{
    struct request *r = ctx;
    int status = r->reply.status;
    bool ok = true;

    (void)size;
    if (judge_head(r))
        return 0;
    if (status >= 200 && status <= 299) {
        ok = r->aim == AIM_BYTES ? fill_ranges(r, p, n) : sink_bytes(r, p, n);
    } else {
        size_t room =
            sizeof r->front - 1 - (r->nfront < sizeof r->front ? r->nfront : sizeof r->front - 1);
        size_t now = n < room ? n : room;

        if (now > 0)
            memcpy(r->front + r->nfront, p, now);
        r->nfront += n;
        ok = r->nfront <= ERROR_BODY; /* the rest is not worth its time */
    }
    return ok ? n : 0;
}

/* ---- what follows ---- */

/* The code that S3's body of an error names, such as NoSuchBucket; letters alone. */
static void find_code(struct request *r)
{
    size_t n;
    const char *at;

    r->front[r->nfront < sizeof r->front ? r->nfront : sizeof r->front - 1] = '\0';
    at = strstr(r->front, "<Code>");
    n = at ? strspn(at + 6, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") : 0;
    if (n > 0 && n < sizeof r->said - 3)
        snprintf(r->said, sizeof r->said, ": %.*s", (int)n, at + 6);
}

static bool worth_a_try(const struct request *r)
{
    int status = r->reply.status;

    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
           status == 504;
}

/* Another try after a pause that doubles, or that the server asks for. */
static enum outcome try_again(struct request *r, const struct site *s, double now)
{
    double pause = 0.1;

    if (r->got - r->before >= PROGRESS)
        r->tries = 0;
    if (r->tries >= s->retries || r->spare)
        return REQUEST_FAILED;
    for (int i = 0; i < r->tries && pause < PAUSE_MAX; i++)
        pause *= 2;
    /* Clients that failed together do not come back together. */
    pause *= 0.75 + 0.5 * (double)(((uintptr_t)r >> 6) % 64 + (unsigned)r->tries * 7 % 64) / 128;
    if (r->reply.wait > 0 && (double)r->reply.wait > pause)
        pause = (double)r->reply.wait;
    if (pause > PAUSE_MAX)
        pause = PAUSE_MAX;
    r->tries++;
    r->not_before = now + pause;
    r->why.err = 0;
    return REQUEST_AGAIN;
}

static enum outcome follow_redirect(struct request *r, struct site *s)
{
    struct hop to = {0};
    const struct hop *from = place_of(r, s);

    if (r->hops++ >= REQUEST_HOPS) {
        why_set(&r->why, DREP_ERR_LIMIT, "more than %d redirects in a row", REQUEST_HOPS);
        return REQUEST_FAILED;
    }
    if (!r->reply.place[0]) {
        why_set(&r->why, DREP_ERR_IO, "the server answers %d without a place to go",
                r->reply.status);
        return REQUEST_FAILED;
    }
    if (hop_parse(&to, r->reply.place, from, &r->why))
        return REQUEST_FAILED;
    if (from->https && !to.https) {
        hop_release(&to);
        why_set(&r->why, DREP_ERR_ACCESS, "%s redirects from https to http", from->shown);
        return REQUEST_FAILED;
    }
    hop_release(&r->hop);
    r->hop = to;
    r->hopped = true;
    r->not_before = 0;
    return REQUEST_AGAIN;
}

/* Amazon says in which region a bucket is; names of regions have these characters alone. */
static bool in_other_region(const struct request *r, const struct site *s)
{
    const char *region = r->reply.region;

    return s->s3 && !s->bucket.endpoint && *region && strcmp(region, s->bucket.region) != 0 &&
           strlen(region) == strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") &&
           r->reply.status != 206;
}

/* An answer that is no success. */
static enum outcome answer_refused(struct request *r, struct site *s, double now)
{
    int status = r->reply.status, err;
    const char *of = server_of(r, s);

    if (in_other_region(r, s) && r->hops++ < REQUEST_HOPS)
        return site_move(s, r->reply.region, &r->why) ? REQUEST_FAILED : REQUEST_AGAIN;
    /* What is sent goes on only where its method stays. */
    if (status == 307 || status == 308 ||
        (!r->method && (status == 301 || status == 302 || status == 303)))
        return follow_redirect(r, s);
    find_code(r);
    if (status == 412 && r->aim == AIM_SEND && r->tries > 0) {
        why_set(&r->why, DREP_ERR_IO,
                "there is a file already, which an earlier try without an answer may have written");
        return REQUEST_FAILED;
    }
    if (status == 412 && r->aim == AIM_SEND) {
        why_set(&r->why, DREP_ERR_FILE_EXISTS, "there is a file already");
        return REQUEST_FAILED;
    }
    if (status == 412) {
        why_set(&r->why, DREP_ERR_STALE, "the file has changed since it was opened: open it again");
        return REQUEST_FAILED;
    }
    /* A redirect may lead to a place that is good for a while only. */
    if (place_of(r, s) == &s->moved && status >= 400 && status < 500 && status != 429) {
        r->from_start = true;
        return REQUEST_AGAIN;
    }
    err = reply_error(status, r->aim == AIM_BYTES ? DREP_ERR_STALE : DREP_ERR_NO_SUCH_FILE);
    why_set(&r->why, err, "%s answers %d%s", of, status, r->said);
    return worth_a_try(r) ? try_again(r, s, now) : REQUEST_FAILED;
}

/* A connection that failed. */
static enum outcome connection_failed(struct request *r, struct site *s, CURLcode code, double now)
{
    const char *text = r->curl_error[0] ? r->curl_error : curl_easy_strerror(code);
    bool again = false;
    int err = DREP_ERR_IO;

    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        err = DREP_ERR_TIMEOUT;
        again = r->tries == 0 || r->got - r->before >= PROGRESS;
        break;
    case CURLE_COULDNT_CONNECT:
        if (atomic_exchange(&s->blocked, false)) {
            err = DREP_ERR_ACCESS;
            text = s->by_file
                       ? "its address is a private one (a list in the hint drep_external_urls "
                         "allows a server)"
                       : "a redirect leads to a private address";
            break;
        }
        again = r->aim == AIM_BYTES;
        break;
    case CURLE_COULDNT_RESOLVE_HOST:
        again = r->aim == AIM_BYTES;
        break;
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        again = true;
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        err = DREP_ERR_ACCESS;
        break;
    case CURLE_OUT_OF_MEMORY:
        err = DREP_ERR_NOMEM;
        break;
    default:
        break;
    }
    why_set(&r->why, err, "%s: %s", server_of(r, s), text);
    return again ? try_again(r, s, now) : REQUEST_FAILED;
}

enum outcome request_end(struct request *r, struct site *s, CURLcode code, double now)
{
    int status = r->reply.status;

    if (code == CURLE_OK) /* another address of the name was allowed */
        atomic_store(&s->blocked, false);
    if (r->why.err) /* we ended it */
        return REQUEST_FAILED;
    if (status >= 300 && (code == CURLE_OK || code == CURLE_WRITE_ERROR))
        return answer_refused(r, s, now);
    if (code != CURLE_OK)
        return connection_failed(r, s, code, now);
    if (judge_head(r))
        return REQUEST_FAILED;
    if (r->aim == AIM_BYTES && r->got < r->size) { /* less than it said: the rest is asked for */
        why_set(&r->why, DREP_ERR_IO, "%s sends %llu of %llu bytes", server_of(r, s),
                (unsigned long long)r->got, (unsigned long long)r->size);
        return try_again(r, s, now);
    }
    if (r->aim == AIM_FIRST && r->reply.status == 206 &&
        r->sunk != r->reply.last - r->reply.first + 1) {
        why_set(&r->why, DREP_ERR_IO, "%s sends %zu of %llu bytes", server_of(r, s), r->sunk,
                (unsigned long long)(r->reply.last + 1));
        return try_again(r, s, now);
    }
    if (r->hopped) { /* the next requests go there at once */
        hop_release(&s->moved);
        s->moved = r->hop;
        memset(&r->hop, 0, sizeof r->hop);
        r->hopped = false;
    }
    return REQUEST_DONE;
}
