/* site.c - what a file behind a URL is asked with. */
/* SPDX-License-Identifier: MIT */
#include "remote/site.h"
#include "remote/address.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

/* ---- settings ---- */

static const char *hint_text(const drep_info *hints, const char *key)
{
    const char *value = drep_info_get(hints, key);

    return value ? value : "";
}

static bool hint_true(const drep_info *hints, const char *key)
{
    return strcmp(hint_text(hints, key), "true") == 0;
}

/* At least `least`; the library has checked that it is a number. */
static long hint_number(const drep_info *hints, const char *key, long least, long most)
{
    long n = strtol(hint_text(hints, key), NULL, 10);

    return n < least ? least : n > most ? most : n;
}

static bool any_variable(const char *const *names)
{
    for (; *names; names++) {
        const char *value = secure_getenv(*names);

        if (value && *value)
            return true;
    }
    return false;
}

static const char *ca_file(const drep_info *hints)
{
    static const char *const names[] = {"SSL_CERT_FILE", "CURL_CA_BUNDLE"};
    const char *file = hint_text(hints, "drep_http_ca");

    for (size_t i = 0; !*file && i < 2; i++)
        file = secure_getenv(names[i]) ? secure_getenv(names[i]) : "";
    return *file ? file : NULL;
}

static bool is_loopback_name(const char *host)
{
    struct in_addr a;

    return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
           (inet_pton(AF_INET, host, &a) == 1 && ntohl(a.s_addr) >> 24 == 127);
}

/* The token of the environment is for the host that it names: a script that opens somebody's URL
 * must not hand it out.  No token goes over a network in the clear. */
static int find_token(struct site *s, const drep_info *hints, struct why *why)
{
    const char *token = hint_text(hints, "drep_http_token");
    const char *host = secure_getenv("DREP_HTTP_TOKEN_HOST");

    if (s->by_file || s->s3)
        return 0;
    if (!*token && host && strcasecmp(host, s->named.host) == 0)
        token = secure_getenv("DREP_HTTP_TOKEN") ? secure_getenv("DREP_HTTP_TOKEN") : "";
    if (!*token)
        return 0;
    if (!s->named.https && !is_loopback_name(s->named.host))
        return why_set(why, DREP_ERR_ACCESS, "a token is sent by https alone");
    if (strpbrk(token, "\r\n"))
        return why_set(why, DREP_ERR_ARG, "a token with an end of line in it");
    s->token = strdup(token);
    return s->token ? 0 : why_set(why, DREP_ERR_NOMEM, "out of memory");
}

/* The hint is "true", or a list of origins; only those may be at private addresses. */
static int may_be_opened(struct site *s, const drep_info *hints, struct why *why)
{
    const char *list = hint_text(hints, "drep_external_urls");
    bool any = strcmp(list, "true") == 0, listed = false;
    char *copy = any ? NULL : strdup(list), *at = copy, *origin;

    while (at && (origin = strsep(&at, ", "))) {
        struct hop hop = {0};
        struct why ignored = {0};

        if (*origin && hop_parse(&hop, origin, NULL, &ignored) == 0)
            listed = listed || hop_same_origin(&hop, &s->named);
        hop_release(&hop);
    }
    free(copy);
    s->private_ok = listed;
    return any || listed ? 0
                         : why_set(why, DREP_ERR_UNSUPPORTED_OPERATION,
                                   "a file names this URL; the hint drep_external_urls allows it");
}

static int name_server(struct site *s, const char *region, struct why *why)
{
    char *text = NULL;
    int err = s->s3 ? s3_url(&s->bucket, s->url, region, &text, why) : 0;

    if (!err) {
        hop_release(&s->named);
        err = hop_parse(&s->named, text ? text : s->url, NULL, why);
    }
    free(text);
    return err;
}

int site_move(struct site *s, const char *region, struct why *why)
{
    char *copy = strdup(region);

    if (!copy)
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    free(s->bucket.region);
    s->bucket.region = copy;
    return name_server(s, copy, why);
}

int site_init(struct site *s, const char *url, bool by_file, const drep_info *hints,
              struct why *why)
{
    static const char *const proxies[] = {"http_proxy", "https_proxy", "HTTPS_PROXY",
                                          "all_proxy",  "ALL_PROXY",   NULL};
    const char *ca = ca_file(hints);
    int err = 0;

    memset(s, 0, sizeof *s);
    s->by_file = by_file;
    s->private_ok = !by_file;
    s->secure = getauxval(AT_SECURE) != 0;
    s->proxied = any_variable(proxies);
    s->connect_ms = 1000 * hint_number(hints, "drep_http_connect", 1, 3600);
    s->stall_s = hint_number(hints, "drep_http_timeout", 1, 86400);
    s->retries = (int)hint_number(hints, "drep_http_retries", 0, 100);
    s->requests = (unsigned)hint_number(hints, "drep_http_requests", 1, 64);
    s->whole = hint_true(hints, "drep_http_whole");
    s->whole_max = (uint64_t)hint_number(hints, "drep_http_whole_max", 1, LONG_MAX);
    s->url = strdup(url);
    s->ca = ca ? strdup(ca) : NULL;
    if (!s->url || !s->ca != !ca)
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    s->s3 = strncasecmp(url, "s3://", 5) == 0;
    if (s->s3 && by_file)
        return why_set(why, DREP_ERR_UNSUPPORTED, "a file names it, and s3 URLs need credentials");
    if (s->s3)
        err = s3_init(&s->bucket, hints, why);
    if (!err)
        err = name_server(s, NULL, why);
    if (!err && by_file)
        err = may_be_opened(s, hints, why);
    return err ? err : find_token(s, hints, why);
}

void site_release(struct site *s)
{
    hop_release(&s->named);
    hop_release(&s->moved);
    s3_release(&s->bucket);
    wipe_text(s->token);
    wipe_text(s->url);
    free(s->ca);
}

/* ---- requests ---- */

/* Whatever a name resolves to, a connection is made only to addresses that may be reached. */
static curl_socket_t open_guarded(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct site *s = ctx;

    if (purpose == CURLSOCKTYPE_IPCXN && address_private(&address->addr)) {
        atomic_store(&s->blocked, true);
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* The named origin may be at a private address; it is noted. */
static curl_socket_t open_named(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct site *s = ctx;

    if (purpose == CURLSOCKTYPE_IPCXN && address_private(&address->addr))
        atomic_store(&s->private_home, true);
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* True if a connection for this hop may go to any address. */
static bool any_address(const struct site *s, const struct hop *hop)
{
    if (hop_same_origin(hop, &s->named))
        return s->private_ok;
    return !s->by_file && (s->proxied || atomic_load(&s->private_home));
}

/* Add a header line, which is overwritten. */
static bool add_line(struct curl_slist **headers, char *line)
{
    struct curl_slist *more = curl_slist_append(*headers, line);

    explicit_bzero(line, strlen(line));
    if (more)
        *headers = more;
    return more != NULL;
}

/* The sum of no bytes; that of a body is left out of what is signed, as TLS protects it. */
#define EMPTY_SUM "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static bool sign_request(const struct site *s, CURL *easy, struct curl_slist **headers, bool body)
{
    char line[4200];

    snprintf(line, sizeof line, "aws:amz:%s:s3", s->bucket.region);
    if (curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, line) ||
        curl_easy_setopt(easy, CURLOPT_USERNAME, s->bucket.key) ||
        curl_easy_setopt(easy, CURLOPT_PASSWORD, s->bucket.secret))
        return false;
    snprintf(line, sizeof line, "x-amz-content-sha256: %s", body ? "UNSIGNED-PAYLOAD" : EMPTY_SUM);
    if (!add_line(headers, line))
        return false;
    snprintf(line, sizeof line, "x-amz-security-token: %s",
             s->bucket.session ? s->bucket.session : "");
    return !s->bucket.session || add_line(headers, line);
}

static bool add_credentials(const struct site *s, CURL *easy, struct curl_slist **headers,
                            bool body)
{
    char line[4200];

    if (s->s3)
        return !s->bucket.key || sign_request(s, easy, headers, body);
    if (s->token) {
        snprintf(line, sizeof line, "Authorization: Bearer %s", s->token);
        return add_line(headers, line);
    }
    if (s->named.user) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        return !curl_easy_setopt(easy, CURLOPT_USERNAME, s->named.user) &&
               !curl_easy_setopt(easy, CURLOPT_PASSWORD,
                                 s->named.password ? s->named.password : "");
    }
    return s->secure || !curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
}

static void set_limits(const struct site *s, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L); /* line.c follows */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L); /* names of objects may have ".." in them */
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, s->connect_ms);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1024L);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, s->stall_s);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 262144L);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "datarep/" DREP_VERSION);
    /* A proxy would hide the address that is reached; in secure mode the environment is not ours.
     */
    if (s->by_file || s->secure)
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
}

int site_prepare(struct site *s, const struct hop *hop, CURL *easy, struct curl_slist **headers,
                 bool body, struct why *why)
{
    CURLcode bad = curl_easy_setopt(easy, CURLOPT_URL, hop->text);

    set_limits(s, easy);
    if (!bad && s->ca)
        bad = curl_easy_setopt(easy, CURLOPT_CAINFO, s->ca);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION,
                     any_address(s, hop) ? open_named : open_guarded);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, s);
    if (!bad && !s->by_file && hop_same_origin(hop, &s->named) &&
        !add_credentials(s, easy, headers, body))
        bad = CURLE_OUT_OF_MEMORY;
    if (!bad)
        bad = curl_easy_setopt(easy, CURLOPT_HTTPHEADER, *headers);
    return bad ? why_set(why, DREP_ERR_NOMEM, "out of memory") : 0;
}
