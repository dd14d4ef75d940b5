/* push.c - one PUT whose body is sent as it comes.
 *
 * libcurl asks for bytes, and is told to pause where there are none yet. */
/* SPDX-License-Identifier: MIT */
#include "remote/push.h"
#include "remote/reply.h"
#include <datarep.h>
#include <stdlib.h>
#include <string.h>

struct push {
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    const uint8_t *p; /* bytes that wait */
    size_t n;
    bool last, paused, over;
    CURLcode code;
    char error[CURL_ERROR_SIZE];
};

static size_t give_bytes(char *to, size_t size, size_t n, void *ctx)
{
    struct push *p = ctx;
    size_t now = p->n < size * n ? p->n : size * n;

    if (now == 0 && !p->last) {
        p->paused = true;
        return CURL_READFUNC_PAUSE;
    }
    if (now > 0)
        memcpy(to, p->p, now);
    p->p += now;
    p->n -= now;
    return now;
}

/* Nobody reads the body of the answer; a long one ends the transfer. */
static size_t drop_answer(char *bytes, size_t size, size_t n, void *ctx)
{
    (void)bytes;
    (void)size;
    (void)ctx;
    return n;
}

int push_open(struct site *site, bool excl, struct push **out, struct why *why)
{
    struct push *p = calloc(1, sizeof *p);
    struct curl_slist *more;

    if (!p)
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    p->multi = curl_multi_init();
    p->easy = curl_easy_init();
    p->headers = curl_slist_append(NULL, "Expect:");
    more = excl && p->headers ? curl_slist_append(p->headers, "If-None-Match: *") : p->headers;
    if (!p->multi || !p->easy || !more ||
        site_prepare(site, &site->named, p->easy, &p->headers, true, why)) {
        push_free(p);
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    }
    curl_easy_setopt(p->easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(p->easy, CURLOPT_READFUNCTION, give_bytes);
    curl_easy_setopt(p->easy, CURLOPT_READDATA, p);
    curl_easy_setopt(p->easy, CURLOPT_WRITEFUNCTION, drop_answer);
    curl_easy_setopt(p->easy, CURLOPT_ERRORBUFFER, p->error);
    /* Whoever computes the bytes may take longer than a network may. */
    curl_easy_setopt(p->easy, CURLOPT_LOW_SPEED_LIMIT, 0L);
    p->paused = true;
    if (curl_multi_add_handle(p->multi, p->easy)) {
        push_free(p);
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    }
    *out = p;
    return 0;
}

/* An answer, or a connection that failed, before or after the last byte. */
static int push_judge(struct push *p, struct why *why)
{
    long status = 0;

    curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status == 412)
        return why_set(why, DREP_ERR_FILE_EXISTS, "there is a file already");
    if (status >= 300)
        return why_set(why, reply_error((int)status, DREP_ERR_NO_SUCH_FILE),
                       "the server answers %ld", status);
    if (p->code != CURLE_OK)
        return why_set(why, p->code == CURLE_OPERATION_TIMEDOUT ? DREP_ERR_TIMEOUT : DREP_ERR_IO,
                       "%s", p->error[0] ? p->error : curl_easy_strerror(p->code));
    if (!p->last)
        return why_set(why, DREP_ERR_IO, "the server answers %ld before it has all", status);
    return 0;
}

/* Let libcurl work until the bytes have left or, with the last ones, until the answer is here. */
static int push_work(struct push *p, struct why *why)
{
    int running, n;
    CURLMsg *m;

    if (p->over)
        return push_judge(p, why);
    p->paused = false;
    curl_easy_pause(p->easy, CURLPAUSE_CONT);
    while (!p->over && (p->last || !p->paused || p->n > 0)) {
        curl_multi_perform(p->multi, &running);
        while ((m = curl_multi_info_read(p->multi, &n))) {
            if (m->msg == CURLMSG_DONE) {
                p->over = true;
                p->code = m->data.result;
            }
        }
        if (!p->over && (p->last || !p->paused))
            curl_multi_poll(p->multi, NULL, 0, 1000, NULL);
    }
    return p->over ? push_judge(p, why) : 0;
}

int push_bytes(struct push *p, const void *bytes, size_t size, struct why *why)
{
    p->p = bytes;
    p->n = size;
    return push_work(p, why);
}

int push_end(struct push *p, const void *bytes, size_t size, struct why *why)
{
    p->last = true;
    return push_bytes(p, bytes, size, why);
}

void push_free(struct push *p)
{
    if (!p)
        return;
    if (p->multi && p->easy)
        curl_multi_remove_handle(p->multi, p->easy);
    curl_easy_cleanup(p->easy);
    if (p->multi)
        curl_multi_cleanup(p->multi);
    curl_slist_free_all(p->headers);
    free(p);
}
