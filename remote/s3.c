/* s3.c - buckets: which server has them, and with which keys it is asked. */
/* SPDX-License-Identifier: MIT */
#include "remote/s3.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A setting and where it is found besides its hint. */
struct s3_setting {
    const char *hint, *variable, *other, *name;
};
static const struct s3_setting key_setting = {"drep_s3_key", "AWS_ACCESS_KEY_ID", NULL,
                                              "aws_access_key_id"};
static const struct s3_setting secret_setting = {"drep_s3_secret", "AWS_SECRET_ACCESS_KEY", NULL,
                                                 "aws_secret_access_key"};
static const struct s3_setting session_setting = {"drep_s3_session", "AWS_SESSION_TOKEN", NULL,
                                                  "aws_session_token"};
static const struct s3_setting region_setting = {"drep_s3_region", "AWS_REGION",
                                                 "AWS_DEFAULT_REGION", "region"};
static const struct s3_setting endpoint_setting = {"drep_s3_endpoint", "AWS_ENDPOINT_URL_S3",
                                                   "AWS_ENDPOINT_URL", "endpoint_url"};

/* A text that is there and not empty. */
static const char *text_or_null(const char *text)
{
    return text && *text ? text : NULL;
}

static const char *environment_text(const char *name)
{
    return name ? text_or_null(secure_getenv(name)) : NULL;
}

static const char *profile_name(const drep_info *hints)
{
    const char *name = text_or_null(drep_info_get(hints, "drep_s3_profile"));

    if (!name)
        name = environment_text("AWS_PROFILE");
    return name ? name : "default";
}

static FILE *profile_file(const char *named_by, const char *below_home)
{
    const char *path = environment_text(named_by), *home = environment_text("HOME");
    char joined[4096];

    if (path)
        return fopen(path, "re");
    if (!home || snprintf(joined, sizeof joined, "%s/%s", home, below_home) >= (int)sizeof joined)
        return NULL;
    return fopen(joined, "re");
}

/* Cut off white space at both ends. */
static char *trim_text(char *text)
{
    char *end = text + strlen(text);

    while (end > text && strchr(" \t\r\n", end[-1]))
        *--end = '\0';
    return text + strspn(text, " \t");
}

/* True if a line is the head of the section of a profile: [NAME] or [profile NAME]. */
static bool heads_profile(char *line, const char *profile)
{
    char *name = line + 1, *close = strchr(line, ']');

    if (!close)
        return false;
    *close = '\0';
    name = trim_text(name);
    if (strncmp(name, "profile ", 8) == 0)
        name = trim_text(name + 8);
    return strcmp(name, profile) == 0;
}

/* Look a name up in a file of profiles; the caller frees the value.  NULL: it is not there. */
static char *profile_value(FILE *f, const char *profile, const char *name)
{
    char buf[8192], *found = NULL;
    bool inside = false;

    while (f && !found && fgets(buf, sizeof buf, f)) {
        char *line = trim_text(buf), *equals = strchr(line, '=');

        if (*line == '[') {
            inside = heads_profile(line, profile);
        } else if (inside && equals && *line != '#' && *line != ';') {
            *equals = '\0';
            if (strcmp(trim_text(line), name) == 0)
                found = strdup(trim_text(equals + 1));
        }
    }
    if (f)
        fclose(f);
    memset(buf, 0, sizeof buf);
    return found;
}

/* Look a name up in the files of profiles; the caller frees the value. */
static char *file_value(const drep_info *hints, const char *name)
{
    char *found = profile_value(profile_file("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
                                profile_name(hints), name);

    return found ? found
                 : profile_value(profile_file("AWS_CONFIG_FILE", ".aws/config"),
                                 profile_name(hints), name);
}

/* NULL: nobody sets it. */
static char *setting_value(const drep_info *hints, const struct s3_setting *s)
{
    const char *value = text_or_null(drep_info_get(hints, s->hint));

    if (!value)
        value = environment_text(s->variable);
    if (!value)
        value = environment_text(s->other);
    return value ? strdup(value) : file_value(hints, s->name);
}

/* The key and what belongs to it come from one place: a session of the environment says nothing
 * about a key of a hint. */
static void find_keys(struct s3 *s3, const drep_info *hints)
{
    static const struct s3_setting *const all[] = {&key_setting, &secret_setting, &session_setting};
    char **to[] = {&s3->key, &s3->secret, &s3->session};
    bool by_hint = text_or_null(drep_info_get(hints, key_setting.hint));
    bool by_environment = !text_or_null(drep_info_get(hints, "drep_s3_profile")) &&
                          environment_text(key_setting.variable);

    for (size_t i = 0; i < 3; i++) {
        const char *value = by_hint          ? text_or_null(drep_info_get(hints, all[i]->hint))
                            : by_environment ? environment_text(all[i]->variable)
                                             : NULL;

        if (value)
            *to[i] = strdup(value);
        else if (!by_hint && !by_environment)
            *to[i] = file_value(hints, all[i]->name);
    }
}

int s3_init(struct s3 *s3, const drep_info *hints, struct why *why)
{
    const char *anonymous = drep_info_get(hints, "drep_s3_anonymous");

    memset(s3, 0, sizeof *s3);
    if (!anonymous || strcmp(anonymous, "true") != 0)
        find_keys(s3, hints);
    if (!s3->key != !s3->secret)
        return why_set(why, DREP_ERR_ARG,
                       "an access key for S3 without its secret, or the other "
                       "way round");
    s3->region = setting_value(hints, &region_setting);
    s3->endpoint = setting_value(hints, &endpoint_setting);
    if (!s3->region)
        s3->region = strdup("us-east-1");
    return s3->region ? 0 : why_set(why, DREP_ERR_NOMEM, "out of memory");
}

void s3_release(struct s3 *s3)
{
    wipe_text(s3->key);
    wipe_text(s3->secret);
    wipe_text(s3->session);
    free(s3->region);
    free(s3->endpoint);
    memset(s3, 0, sizeof *s3);
}

/* Bytes of a key as a path has them; signatures are computed from this form. */
static void put_encoded(FILE *to, const char *key)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-._~/";

    for (; *key; key++) {
        if (strchr(plain, *key))
            fputc(*key, to);
        else
            fprintf(to, "%%%02X", (unsigned)(unsigned char)*key);
    }
}

/* Names of buckets, as Amazon allows them. */
static bool bucket_ok(const char *bucket, size_t n)
{
    return n >= 3 && n <= 63 && strspn(bucket, "abcdefghijklmnopqrstuvwxyz0123456789.-_") >= n;
}

int s3_url(const struct s3 *s3, const char *url, const char *region, char **out, struct why *why)
{
    const char *bucket = url + strlen("s3://"), *slash = strchr(bucket, '/');
    int n = slash ? (int)(slash - bucket) : 0;
    char *text = NULL;
    size_t size;
    FILE *to;

    if (n < 1 || !slash[1] || !bucket_ok(bucket, (size_t)n))
        return why_set(why, DREP_ERR_ARG, "not of the form s3://BUCKET/KEY");
    to = open_memstream(&text, &size);
    if (!to)
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    region = region ? region : s3->region;
    if (s3->endpoint)
        fprintf(to, "%.*s/%.*s/",
                (int)(strlen(s3->endpoint) - (s3->endpoint[strlen(s3->endpoint) - 1] == '/')),
                s3->endpoint, n, bucket);
    else if (memchr(bucket, '.', (size_t)n) || memchr(bucket, '_', (size_t)n))
        fprintf(to, "https://s3.%s.amazonaws.com/%.*s/", region, n, bucket);
    else
        fprintf(to, "https://%.*s.s3.%s.amazonaws.com/", n, bucket, region);
    put_encoded(to, slash + 1);
    if (fclose(to)) {
        free(text);
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    }
    *out = text;
    return 0;
}
