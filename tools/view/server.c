/* server.c - the module datarep-view.so: answers of the server, over libmicrohttpd. */
/* SPDX-License-Identifier: MIT */
#include "tools/view/assets.h"
#include "tools/view/range.h"
#include "tools/view/view.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))
#define CONNECTIONS 512
#define THREADS 4
#define IDLE_SECONDS 10
#define PIECE (256 * 1024) /* bytes that are read for a client at once */
#define BODY_MAX 256
#define WRONG_MAX 20 /* codes that are refused before none is taken any more */

struct view_server {
    const struct view_site *site;
    struct assets assets;
    struct MHD_Daemon *daemon;
    int port;
    char cookie_name[24];
    pthread_mutex_t lock;
    int wrong;  /* codes so far, under the lock */
    bool taken; /* the code let somebody in, under the lock */
};

/* A request with a body. */
struct body {
    size_t size;
    char text[BODY_MAX + 1];
};

static const char policy[] =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
    "worker-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

static const char ask_page[] =
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Datarep</title>"
    "<link rel=\"icon\" href=\"data:,\">"
    "<form method=\"post\" action=\"/enter\"><label>Code that datarep view printed: "
    "<input name=\"code\" autocomplete=\"off\" autofocus></label> "
    "<button>Open</button></form></html>";
/* The cookie is not sent with a request that another site began, also not after a redirection. */
static const char entered_page[] =
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Datarep</title>"
    "<link rel=\"icon\" href=\"data:,\"><meta http-equiv=\"refresh\" content=\"0;url=/\"><a "
    "href=\"/\">Datarep</a></html>";

/* ---------------------------------------------------------------------- answers */

static void add_headers(struct MHD_Response *r, const char *type, const char *cache)
{
    MHD_add_response_header(r, "Content-Type", type);
    MHD_add_response_header(r, "Cache-Control", cache);
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(r, "Cross-Origin-Opener-Policy", "same-origin");
    MHD_add_response_header(r, "X-Frame-Options", "DENY");
    MHD_add_response_header(r, "Content-Security-Policy", policy);
}

static enum MHD_Result send_bytes(struct MHD_Connection *c, unsigned status, const char *type,
                                  const void *bytes, size_t size, const char *cookie)
{
    /* MHD copies nothing and changes nothing; its interface has no const. */
    struct MHD_Response *r =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result;

    if (!r)
        return MHD_NO;
    add_headers(r, type, "no-store");
    if (cookie)
        MHD_add_response_header(r, "Set-Cookie", cookie);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, "Allow", "GET, HEAD");
    result = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result refuse_request(struct MHD_Connection *c, unsigned status, const char *why)
{
    return send_bytes(c, status, "text/plain; charset=utf-8", why, strlen(why), NULL);
}

/* ------------------------------------------------------------------------- data */

struct sending {
    const struct view_data *data;
    uint64_t from;
};

static ssize_t send_piece(void *cls, uint64_t pos, char *buf, size_t max)
{
    const struct sending *s = cls;

    return s->data->read(s->data->state, buf, max, s->from + pos)
               ? MHD_CONTENT_READER_END_WITH_ERROR
               : (ssize_t)max;
}

static enum MHD_Result send_range(struct MHD_Connection *c, const struct view_data *data,
                                  uint64_t from, uint64_t len, uint64_t size, const char *tag)
{
    struct sending *s = malloc(sizeof *s);
    bool part = len != size || MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Range");
    struct MHD_Response *r = NULL;
    enum MHD_Result result;
    char range[80];

    if (s) {
        *s = (struct sending){data, from};
        r = MHD_create_response_from_callback(len, PIECE, send_piece, s, free);
    }
    if (!r) {
        free(s);
        return MHD_NO;
    }
    add_headers(r, "application/octet-stream", "no-store");
    MHD_add_response_header(r, "ETag", tag);
    MHD_add_response_header(r, "Accept-Ranges", "bytes");
    snprintf(range, sizeof range, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, from, from + len - 1,
             size);
    if (part)
        MHD_add_response_header(r, "Content-Range", range);
    result = MHD_queue_response(c, part ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result refuse_range(struct MHD_Connection *c, uint64_t size)
{
    static const char why[] = "one range of bytes inside the file, please\n";
    struct MHD_Response *r = MHD_create_response_from_buffer(sizeof why - 1, (void *)(uintptr_t)why,
                                                             MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result;
    char range[48];

    if (!r)
        return MHD_NO;
    add_headers(r, "text/plain; charset=utf-8", "no-store");
    snprintf(range, sizeof range, "bytes */%" PRIu64, size);
    MHD_add_response_header(r, "Content-Range", range);
    result = MHD_queue_response(c, MHD_HTTP_RANGE_NOT_SATISFIABLE, r);
    MHD_destroy_response(r);
    return result;
}

/* The number of "/data/N"; -1: it is none. */
static int data_number(const char *path, int n)
{
    int number = 0;

    if (strncmp(path, "/data/", 6) != 0 || !path[6] || (path[6] == '0' && path[7]))
        return -1;
    for (path += 6; *path; path++) {
        if (*path < '0' || *path > '9' || number > n)
            return -1;
        number = number * 10 + (*path - '0');
    }
    return number < n ? number : -1;
}

static enum MHD_Result answer_data(const struct view_server *s, struct MHD_Connection *c,
                                   int number)
{
    const struct view_data *data = &s->site->data[number];
    const char *range = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Range");
    const char *if_range = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "If-Range");
    uint64_t size, from = 0, len;
    char tag[VIEW_TAG];

    if (data->now(data->state, &size, tag))
        return refuse_request(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "the file cannot be read\n");
    len = size;
    /* A range of another version than the client has: the whole of this one. */
    if (range && if_range && strcmp(if_range, tag) != 0)
        return refuse_request(c, MHD_HTTP_PRECONDITION_FAILED, "the file has changed\n");
    if (range && !range_parse(range, size, &from, &len))
        return refuse_range(c, size);
    return send_range(c, data, from, len, size, tag);
}

/* ----------------------------------------------------------------------- who asks */

/* In equal time for all that differ. */
static bool same_secret(const char *a, const char *b)
{
    size_t i, n = strlen(b);
    unsigned char differ = strlen(a) != n;

    for (i = 0; i < n && a[i]; i++)
        differ |= (unsigned char)(a[i] ^ b[i]);
    return !differ;
}

static enum MHD_Result count_host(void *cls, enum MHD_ValueKind kind, const char *key,
                                  const char *value)
{
    (void)kind, (void)value;
    if (strcasecmp(key, "Host") == 0)
        ++*(int *)cls;
    return MHD_YES;
}

static bool right_host(const struct view_server *s, struct MHD_Connection *c)
{
    const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
    char own[2][32];
    int hosts = 0;

    MHD_get_connection_values(c, MHD_HEADER_KIND, count_host, &hosts);
    snprintf(own[0], sizeof own[0], "127.0.0.1:%d", s->port);
    snprintf(own[1], sizeof own[1], "localhost:%d", s->port);
    return host && hosts == 1 && (strcmp(host, own[0]) == 0 || strcmp(host, own[1]) == 0);
}

static bool has_cookie(const struct view_server *s, struct MHD_Connection *c)
{
    const char *cookie = MHD_lookup_connection_value(c, MHD_COOKIE_KIND, s->cookie_name);

    return cookie && same_secret(cookie, s->site->cookie);
}

/* Who posts a code.  A page of another site must not use up the tries of the user.  The file that
 * opens the browser has no origin, "null", but so has a page that hides its own: a wrong code from
 * there is refused without being counted, which costs nothing as a code has 100 bits. */
enum poster { POSTER_OWN, POSTER_HIDDEN, POSTER_FOREIGN };

static enum poster poster_of(const struct view_server *s, struct MHD_Connection *c)
{
    const char *origin = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin");
    const char *site = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Site");
    char own[2][40];

    snprintf(own[0], sizeof own[0], "http://127.0.0.1:%d", s->port);
    snprintf(own[1], sizeof own[1], "http://localhost:%d", s->port);
    if (origin && strcmp(origin, "null") != 0)
        return strcmp(origin, own[0]) == 0 || strcmp(origin, own[1]) == 0 ? POSTER_OWN
                                                                          : POSTER_FOREIGN;
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return POSTER_HIDDEN;
    return origin ? POSTER_HIDDEN : POSTER_OWN;
}

static enum MHD_Result answer_enter(struct view_server *s, struct MHD_Connection *c,
                                    const char *body)
{
    static const char field[] = "code=", html[] = "text/html; charset=utf-8";
    bool right = strncmp(body, field, sizeof field - 1) == 0 &&
                 same_secret(body + sizeof field - 1, s->site->code);
    enum poster poster = poster_of(s, c);
    char cookie[128];

    if (poster == POSTER_FOREIGN)
        return refuse_request(c, MHD_HTTP_FORBIDDEN, "a page of another site asks\n");
    pthread_mutex_lock(&s->lock);
    right = right && !s->taken && s->wrong < WRONG_MAX;
    if (right)
        s->taken = true;
    else if (poster == POSTER_OWN)
        s->wrong++;
    pthread_mutex_unlock(&s->lock);
    if (!right)
        return refuse_request(c, MHD_HTTP_FORBIDDEN,
                              "this is not the code, or it was used before\n");
    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", s->cookie_name,
             s->site->cookie);
    return send_bytes(c, MHD_HTTP_OK, html, entered_page, sizeof entered_page - 1, cookie);
}

static enum MHD_Result answer_get(struct view_server *s, struct MHD_Connection *c, const char *path)
{
    static const char html[] = "text/html; charset=utf-8";
    const struct asset *asset;
    int number;

    if (!has_cookie(s, c))
        return strcmp(path, "/") == 0
                   ? send_bytes(c, MHD_HTTP_UNAUTHORIZED, html, ask_page, sizeof ask_page - 1, NULL)
                   : refuse_request(c, MHD_HTTP_UNAUTHORIZED, "no cookie\n");
    if (strcmp(path, "/files.json") == 0)
        return send_bytes(c, MHD_HTTP_OK, "application/json", s->site->list, strlen(s->site->list),
                          NULL);
    number = data_number(path, s->site->n);
    if (number >= 0)
        return answer_data(s, c, number);
    asset = assets_find(&s->assets, path);
    if (!asset)
        return refuse_request(c, MHD_HTTP_NOT_FOUND, "there is no such thing here\n");
    return send_bytes(c, MHD_HTTP_OK, asset->type, asset->bytes, asset->size, NULL);
}

static enum MHD_Result answer_request(void *cls, struct MHD_Connection *c, const char *path,
                                      const char *method, const char *version, const char *upload,
                                      size_t *size, void **state)
{
    struct view_server *s = cls;
    struct body *body = *state;
    bool enter = strcmp(method, "POST") == 0 && strcmp(path, "/enter") == 0;

    (void)version;
    if (!body) {
        *state = body = calloc(1, sizeof *body);
        return body ? MHD_YES : MHD_NO;
    }
    if (*size) {
        if (!enter || *size > BODY_MAX - body->size)
            return MHD_NO; /* which closes the connection */
        memcpy(body->text + body->size, upload, *size);
        body->size += *size;
        *size = 0;
        return MHD_YES;
    }
    if (!right_host(s, c))
        return refuse_request(c, MHD_HTTP_FORBIDDEN, "this server is 127.0.0.1 and nothing else\n");
    if (enter)
        return answer_enter(s, c, body->text);
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return refuse_request(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    return answer_get(s, c, path);
}

static void request_done(void *cls, struct MHD_Connection *c, void **state,
                         enum MHD_RequestTerminationCode why)
{
    (void)cls, (void)c, (void)why;
    free(*state);
    *state = NULL;
}

/* ------------------------------------------------------------------------ begin, end */

/* Paths are compared as they were sent: none of ours needs an escape. */
static size_t keep_escapes(void *cls, struct MHD_Connection *c, char *text)
{
    (void)cls, (void)c;
    return strlen(text);
}

static struct MHD_Daemon *listen_on(struct view_server *s, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer_request, s, MHD_OPTION_SOCK_ADDR,
        &address, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_NOTIFY_COMPLETED, request_done,
        NULL, MHD_OPTION_END);
}

SHOWN int datarep_view_interface(void)
{
    return DATAREP_VIEW_INTERFACE;
}

SHOWN void datarep_view_stop(struct view_server *s)
{
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    assets_release(&s->assets);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

SHOWN struct view_server *datarep_view_start(const struct view_site *site, const char **wrong)
{
    struct view_server *s = calloc(1, sizeof *s);
    const union MHD_DaemonInfo *info;

    *wrong = "no memory";
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->site = site;
    *wrong = assets_load(&s->assets, site->page);
    if (!*wrong) {
        s->daemon = listen_on(s, site->port);
        info = s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
        s->port = info ? info->port : 0;
        if (!s->port)
            *wrong = "cannot listen on 127.0.0.1: is the port taken?";
    }
    if (*wrong) {
        datarep_view_stop(s);
        return NULL;
    }
    /* Cookies do not tell ports apart. */
    snprintf(s->cookie_name, sizeof s->cookie_name, "datarep-%d", s->port);
    return s;
}

SHOWN int datarep_view_port(const struct view_server *s)
{
    return s->port;
}
