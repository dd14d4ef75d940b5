/* test_vectors.c - the library against committed files.
 *
 * Every good vector opens, passes a deep check without a finding and reads whole, also what
 * other machines wrote (machines/), and those of draft 5 (draft5/); every bad one is refused, by
 * the code and the rule of SPEC.md that its line in bad/EXPECT names, and takes no more memory than
 * limit.h allows.  Prints TAP. */
#include "tests/fault/limit.h"
#include "walk.h"

#include <dirent.h>
#include <stdbool.h>

static int cases;
static drep_info *trust; /* other files may be opened */

static void skip(const char *name, const char *why)
{
    printf("ok %d - %s # SKIP %s\n", ++cases, name, why);
}

static void result(int ok, const char *name, const char *why)
{
    printf("%sok %d - %s\n", ok ? "" : "not ", ++cases, name);
    if (!ok)
        printf("# %s\n", why);
}

static int show(int err, uint64_t offset, const char *message, void *ctx)
{
    snprintf(ctx, 1024, "%s: %s (byte %llu)", drep_strerror(err), message,
             (unsigned long long)offset);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* True where a file was refused because the library was built without a filter's library. */
static bool without_filter(int err, const char *message)
{
    static const int borrowed[] = {DREP_FILTER_DEFLATE, DREP_FILTER_LZ4, DREP_FILTER_ZSTD,
                                   DREP_FILTER_LZF, DREP_FILTER_BLOSC};
    bool all = true;

    for (size_t i = 0; i < sizeof borrowed / sizeof *borrowed; i++)
        all = all && drep_filter_available(borrowed[i]);
    return !all && err == DREP_ERR_UNSUPPORTED &&
           (strstr(message, " is not built in") != NULL || strstr(message, " is not here") != NULL);
}

static char **list_of(const char *dir, int *n)
{
    char **names = calloc(1000, sizeof *names);
    struct dirent *e;
    DIR *d = opendir(dir);

    *n = 0;
    while (d != NULL && (e = readdir(d)) != NULL && *n < 1000) {
        size_t len = strlen(e->d_name);

        if (len > 5 && strcmp(e->d_name + len - 5, ".drep") == 0)
            names[(*n)++] = strdup(e->d_name);
    }
    if (d != NULL)
        closedir(d);
    qsort(names, (size_t)*n, sizeof *names, by_name);
    return names;
}

static void good(const char *dir, const char *name)
{
    struct walk *w = malloc(sizeof *w);
    char path[4096], why[1024] = "";
    int code_form, err, ok = 0;
    int64_t findings = 0;
    drep_file *f = NULL;
    drep_header h = DREP_HEADER;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    err = drep_open(path, DREP_RDONLY | DREP_HEADER_ONLY, trust, &f);
    if (err == 0)
        err = drep_header_get(f, &h);
    code_form = err == 0 && strcmp(h.form, "code") == 0;
    if (err == 0 && !code_form) {
        drep_abandon(f);
        err = drep_open(path, DREP_RDONLY, trust, &f);
    }
    snprintf(why, sizeof why, "%s", drep_error());
    if (err == 0) {
        err = walk_file(w, f, !code_form);
        /* Datasets that only a later version, or another program, can read are no fault of the
         * file.
         */
        if ((err == DREP_ERR_UNSUPPORTED_DATAREP && strcmp(name, "reps-later.drep") == 0) ||
            (err == DREP_ERR_UNSUPPORTED && strcmp(name, "beyond.drep") == 0) ||
            (err == DREP_ERR_UNSUPPORTED && strcmp(name, "hdf5-unknown.drep") == 0) ||
            (err == DREP_ERR_UNSUPPORTED && strncmp(name, "later", 5) == 0))
            err = 0;
        snprintf(why, sizeof why, "%s", w->message);
        if (err == 0)
            err = drep_check(f, !code_form, show, why, &findings);
        /* A damaged slot beside a whole one is told, by the handle and by the check. */
        ok = err == 0 && findings == (h.damaged_slot != 0) &&
             (h.damaged_slot != 0) == (strncmp(name, "damaged", 7) == 0);
        drep_abandon(f);
    }
    if (without_filter(err, why))
        skip(name, why);
    else
        result(ok, name, why);
    free(w);
}

struct log {
    const char *path;
    char *why;
    int n;
};

/* Each commit that the log names reads whole. */
static int logged(const drep_commitinfo *commit, void *ctx)
{
    struct walk *w = malloc(sizeof *w);
    struct log *log = ctx;
    int64_t findings = 0;
    drep_file *f = NULL;
    drep_header h = DREP_HEADER;
    int err = drep_open_commit(log->path, DREP_RDONLY, commit->sequence, trust, &f);

    if (err == 0)
        err = drep_header_get(f, &h);
    if (err == 0 && (h.sequence != commit->sequence || h.time != commit->time))
        err = DREP_ERR_FORMAT;
    if (err == 0)
        err = walk_file(w, f, 1);
    if (err == 0)
        err = drep_check(f, 1, show, log->why, &findings);
    if (err != 0)
        snprintf(log->why, 1024, "commit %d: %s", (int)commit->sequence, drep_error());
    drep_abandon(f);
    free(w);
    log->n++;
    return err != 0 ? err : findings != 0;
}

static void commits(const char *dir, const char *name, int want)
{
    char path[4096], why[1024] = "", text[200];
    struct log log = {path, why, 0};
    drep_file *f = NULL;
    int err;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    snprintf(text, sizeof text, "the %d commits of %s", want, name);
    err = drep_open(path, DREP_RDONLY, trust, &f);
    if (err == 0)
        err = drep_log(f, logged, &log);
    drep_abandon(f);
    result(err == 0 && log.n == want, text, why);
}

/* Is the code one of "A|B"? */
static int named(int err, const char *names)
{
    char all[200], *save = NULL;
    static const struct {
        const char *name;
        int code;
    } codes[] = {
#define X(name, number, text) {#name, number},
#include "format/errors.def"
#undef X
    };

    snprintf(all, sizeof all, "%s", names);
    for (char *s = strtok_r(all, "|", &save); s != NULL; s = strtok_r(NULL, "|", &save))
        for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
            if (strcmp(codes[i].name, s) == 0 && codes[i].code == err)
                return 1;
    return 0;
}

struct first {
    int err;
    char text[1024];
};

static int keep_first(int err, uint64_t offset, const char *message, void *ctx)
{
    struct first *f = ctx;

    (void)offset;
    if (f->err == 0) {
        f->err = err;
        snprintf(f->text, sizeof f->text, "%s", message);
    }
    return 0;
}

/* Does the message name the rule, "(R4.9)", or one of "R4.9|R4.4"?  A file of another format
 * broke none of ours. */
static bool names_rule(const char *message, int err, const char *rules)
{
    char all[40], text[44], *save = NULL;
    bool named = err == DREP_ERR_NOT_DREP;

    snprintf(all, sizeof all, "%s", rules);
    for (char *s = strtok_r(all, "|", &save); s != NULL; s = strtok_r(NULL, "|", &save)) {
        snprintf(text, sizeof text, "(%s)", s);
        named |= strstr(message, text) != NULL;
    }
    return named;
}

static void bad(const char *dir, const char *name, const char *want, const char *rule, int check)
{
    struct walk *w = malloc(sizeof *w);
    struct first first = {0, ""};
    char path[4096], why[2200];
    int64_t findings = 0;
    drep_file *f = NULL;
    int64_t peak;
    int err;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    limit_begin();
    err = drep_open(path, DREP_RDONLY, trust, &f);
    if (err != 0)
        snprintf(first.text, sizeof first.text, "%s", drep_error());
    if (err == 0 && !check && (err = walk_file(w, f, 1)) != 0)
        snprintf(first.text, sizeof first.text, "%s", w->message);
    if (err == 0 && check) {
        drep_check(f, 1, keep_first, &first, &findings);
        err = first.err;
    }
    drep_abandon(f);
    peak = limit_peak();
    snprintf(why, sizeof why, "wanted %s (%s), got %d: %s; %lld bytes of memory", want, rule, err,
             first.text, (long long)peak);
    snprintf(path, sizeof path, "bad/%s", name);
    if (without_filter(err ? err : DREP_ERR_UNSUPPORTED, first.text))
        skip(path, why);
    else
        result(named(err, want) && names_rule(first.text, err, rule) && peak <= LIMIT_MEMORY, path,
               why);
    free(w);
}

/* Every line of a folder's EXPECT. */
static void all_bad(const char *dir)
{
    char path[4200], line[400];
    FILE *expect;

    snprintf(path, sizeof path, "%s/EXPECT", dir);
    expect = fopen(path, "r");
    if (expect == NULL)
        result(0, "EXPECT", "there is none");
    while (expect != NULL && fgets(line, sizeof line, expect) != NULL) {
        char file[200], want[100], rule[40], check[20] = "";

        if (line[0] != '#' && sscanf(line, "%199s %99s %39s %19s", file, want, rule, check) >= 3)
            bad(dir, file, want, rule, check[0] != '\0');
    }
    if (expect != NULL)
        fclose(expect);
}

/* The filter of user-filter.drep: the bytes backwards, each changed by the first parameter. */
static int mirror(const uint32_t *params, int nparams, const void *in, size_t in_size, void *out,
                  size_t *out_size, void *extra_state)
{
    (void)nparams;
    (void)extra_state;
    for (size_t i = 0; i < in_size && in_size <= *out_size; i++)
        ((uint8_t *)out)[i] = (uint8_t)(((const uint8_t *)in)[in_size - 1 - i] ^ params[0]);
    *out_size = in_size;
    return 0;
}

static void all_good(const char *dir)
{
    int n;
    char **names = list_of(dir, &n);

    for (int i = 0; i < n; i++) {
        good(dir, names[i]);
        free(names[i]);
    }
    free(names);
}

/* test_vectors [FOLDER OF BAD ONES] */
int main(int argc, char **argv)
{
    static const char *const more[] = {"machines", "draft5", "draft5/machines"};
    const char *src = getenv("SRCDIR");
    char dir[4000];

    if (drep_info_new(&trust) || drep_info_set(trust, "drep_external", "true"))
        return 1;
    if (argc > 1) {
        all_bad(argv[1]);
        printf("1..%d\n", cases);
        return 0;
    }
    result(drep_register_filter("mirror", NULL, mirror, NULL, 0) == 0, "the filter \"mirror\"",
           drep_error());
    snprintf(dir, sizeof dir, "%s/tests/vectors", src == NULL ? "." : src);
    all_good(dir);
    commits(dir, "commits.drep", 4);
    commits(dir, "second-commit.drep", 2);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        snprintf(dir, sizeof dir, "%s/tests/vectors/%s", src == NULL ? "." : src, more[i]);
        all_good(dir);
    }
    snprintf(dir, sizeof dir, "%s/tests/vectors/bad", src == NULL ? "." : src);
    all_bad(dir);
    printf("1..%d\n", cases);
    return 0;
}
