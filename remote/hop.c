/* hop.c - one URL that is asked, as libcurl parses it. */
/* SPDX-License-Identifier: MIT */
#include "remote/hop.h"
#include <ctype.h>
#include <curl/curl.h>
#include <datarep.h>
#include <stdlib.h>
#include <string.h>

/* Free a part that may be secret after it was overwritten. */
static void wipe_part(char *part)
{
    if (part)
        explicit_bzero(part, strlen(part));
    curl_free(part);
}

void hop_release(struct hop *hop)
{
    wipe_part(hop->text);
    curl_free(hop->shown);
    curl_free(hop->host);
    wipe_part(hop->user);
    wipe_part(hop->password);
    memset(hop, 0, sizeof *hop);
}

bool hop_same_origin(const struct hop *a, const struct hop *b)
{
    return a->https == b->https && a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* Get the parts; a part that is missing stays NULL. */
static CURLUcode hop_parts(CURLU *u, struct hop *h, bool relative)
{
    char *scheme = NULL, *port = NULL;
    CURLUcode bad = curl_url_get(u, CURLUPART_SCHEME, &scheme, 0);

    if (!bad && strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0)
        bad = CURLUE_UNSUPPORTED_SCHEME;
    h->https = !bad && strcmp(scheme, "https") == 0;
    if (!bad)
        bad = curl_url_get(u, CURLUPART_HOST, &h->host, 0);
    if (!bad)
        bad = curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT);
    if (!bad && !relative) {
        curl_url_get(u, CURLUPART_USER, &h->user, CURLU_URLDECODE);
        curl_url_get(u, CURLUPART_PASSWORD, &h->password, CURLU_URLDECODE);
    }
    curl_url_set(u, CURLUPART_USER, NULL, 0);
    curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
    curl_url_set(u, CURLUPART_OPTIONS, NULL, 0);
    curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
    if (!bad)
        bad = curl_url_get(u, CURLUPART_URL, &h->text, 0);
    curl_url_set(u, CURLUPART_QUERY, NULL, 0);
    if (!bad)
        bad = curl_url_get(u, CURLUPART_URL, &h->shown, CURLU_NO_DEFAULT_PORT);
    if (!bad) {
        h->port = strtol(port, NULL, 10);
        for (char *p = h->host; *p; p++)
            *p = (char)tolower((unsigned char)*p);
    }
    curl_free(scheme);
    curl_free(port);
    return bad;
}

int hop_parse(struct hop *out, const char *text, const struct hop *base, struct why *why)
{
    struct hop h = {0};
    CURLU *u = curl_url();
    CURLUcode bad = u ? CURLUE_OK : CURLUE_OUT_OF_MEMORY;

    if (!bad && base)
        bad = curl_url_set(u, CURLUPART_URL, base->text, 0);
    if (!bad)
        bad = curl_url_set(u, CURLUPART_URL, text, CURLU_URLENCODE);
    if (!bad)
        bad = hop_parts(u, &h, base);
    curl_url_cleanup(u);
    if (!bad) {
        *out = h;
        return 0;
    }
    hop_release(&h);
    if (bad == CURLUE_OUT_OF_MEMORY)
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    return why_set(why, DREP_ERR_ARG, "%s: %s",
                   base ? "a redirect to what is no http or https URL" : "not a valid URL",
                   curl_url_strerror(bad));
}
