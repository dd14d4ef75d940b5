/* test_faults.c - every public call with every allocation and every system call of its failing.
 *
 * For each case the n-th allocation fails, then the n-th system call: with an error, with no
 * space left, interrupted, or doing half of its work; n = 0, 1, 2, ... until the call succeeds.
 * Errors and full disks also stay from the n-th call on.  A call of datarep.h that no case
 * makes is a failure, unless the list below says why. */
/* stacks: off */
/* SPDX-License-Identifier: MIT */
#undef _FORTIFY_SOURCE
#include "faults_file.h"

#include <sys/mount.h>

/* Calls that no case makes. */
static const struct {
    const char *name, *why;
} excepted[] = {
    {"drep_escape", "it allocates nothing and cannot fail; tests/cli/run-shown.py"},
    {"drep_error_set", "it sets a message and cannot fail; tests/unit/test_base.c"},
    {"drep_progress", "it sets a function and cannot fail; tests/unit/test_progress.c"},
    {"drep_plugin_init", "a plugin defines it, the library does not"},
    {"drep_plugin_load", "its memory is the loader's; tests/unit/test_plugin.c"},
};

static int test, failed;
static int64_t faults;
static char dir[200];

static void report(bool good, const char *text)
{
    failed |= !good;
    printf("%sok %d - %s\n", good ? "" : "not ", ++test, text);
    fflush(stdout);
}

/* ---- one try ---- */

static struct {
    const struct file_case *c;
    enum fault fault;
    int64_t at;
    bool stays, every;
    uint64_t before, after; /* what the handle held without a fault */
    bool known;
    struct env e;
    int64_t tries, usable, refused;
} now;

static bool wrong(const char *what, int err)
{
    printf("# %s: %s %s%lld%s: %s: %d: %s\n", now.c->name, fault_name[now.fault],
           now.every ? "every second, " : "", (long long)now.at, now.stays ? " and all later" : "",
           what, err, drep_error());
    return false;
}

static void arm(void)
{
    memset(&inject, 0, sizeof inject);
    if (now.fault == MEMORY) {
        mem_fail_at(now.at);
        return;
    }
    inject.at = now.at;
    inject.stays = now.stays;
    inject.every = now.every;
    inject.fault = now.fault;
}

/* Gives how many faults there were. */
static int64_t disarm(void)
{
    int64_t hits = now.fault == MEMORY ? mem_failed() : inject.hits;

    mem_fail_at(-1);
    inject.fault = NO_FAULT;
    return hits;
}

/* The error that a fault may become. */
static bool fits(int err)
{
    if (now.fault == MEMORY)
        return err == DREP_ERR_NOMEM;
    if (now.fault == NO_SPACE)
        return err == DREP_ERR_NO_SPACE;
    return now.fault == IO_ERROR && err == DREP_ERR_IO;
}

static bool is_writer(void)
{
    return now.c->effect == CHANGES || now.c->effect == COMMITS || now.c->effect == SETTLES ||
           now.c->effect == LEAVES;
}

static int opened(struct env *e)
{
    drep_info *info;
    int err = drep_info_new(&info);

    if (!err)
        err = drep_info_set(info, "drep_threads", "1");
    if (!err && now.c->effect != OPENS && now.c->effect != MAKES)
        err = drep_open(e->path, is_writer() ? DREP_RDWR : DREP_RDONLY, info, &e->f);
    drep_info_free(info);
    /* Something that a failing call must not take along. */
    if (!err && is_writer())
        err = drep_attr_write_int64(e->f, "/k/g/h", "earlier", 77);
    if (!err && now.c->dataset)
        err = drep_dataset_open(e->f, now.c->dataset, &e->ds);
    if (!err && now.c->prepare)
        err = now.c->prepare(e);
    return err;
}

static void release(struct env *e)
{
    if (e->view)
        drep_view_close(e->view);
    drep_selection_free(e->sel);
    drep_type_free(e->type);
    drep_info_free(e->info);
    drep_dataset_close(e->ds);
    drep_abandon(e->f);
    free(e->image);
}

static int finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)ctx;
    printf("# finding %d at byte %llu: %s\n", err, (unsigned long long)offset, message);
    return 0;
}

/* What a new handle finds in the file; and nothing is wrong with it. */
static bool on_disk(uint64_t *sum)
{
    int64_t findings = 0;
    drep_file *f;
    int err = drep_open(now.e.path, DREP_RDONLY, NULL, &f);

    if (err)
        return wrong("the file does not open", err);
    err = look(f, sum);
    if (!err && (now.at < 8 || now.at % 8 == 0))
        err = drep_check(f, 1, finding, NULL, &findings);
    drep_close(f);
    return err || findings ? wrong("the file", err) : true;
}

/* ---- what must be true afterwards ---- */

/* The handle goes on, or says that it does not. */
static bool goes_on(bool committing, int err)
{
    uint64_t sum = 0, disk = 0, want = err ? now.before : now.after;
    drep_file *f = now.e.f;
    int more = drep_attr_write_int64(f, "/", "probe", 1);

    if (more == DREP_ERR_FAILED) { /* it has said so, and closing says it again */
        now.refused++;
        if (!err)
            return wrong("it refuses after a success", more);
        /* Where no byte can be overwritten any more, nothing can be put back. */
        if (now.fault == NO_SPACE && !inject.sync_hits && !(now.c->effect == SETTLES && now.stays))
            return wrong("it refuses for want of space", more);
        release(&now.e);
        memset(&now.e.f, 0, sizeof now.e - offsetof(struct env, f));
        return on_disk(&disk) && (disk == base_sum || (committing && disk == want) ||
                                  wrong("the file is another", 0));
    }
    if (more)
        return wrong("it does not go on", more);
    more = drep_commit(f);
    if (!more)
        more = look(f, &sum);
    if (more)
        return wrong("it does not commit", more);
    now.usable++;
    return on_disk(&disk) && (disk == sum || wrong("another content after its commit", 0));
}

static bool writer_after(int err)
{
    uint64_t sum = 0, disk = 0, want = err ? now.before : now.after;
    bool committing = now.c->run == c_commit, settling = now.c->effect == SETTLES && err;
    int look_err = look(now.e.f, &sum);

    /* Where nothing can be written any more, what was there cannot be put back either. */
    if (look_err && settling && now.stays)
        return goes_on(committing, err);
    if (look_err)
        return wrong("it cannot be read", look_err);
    if (sum != want && !settling)
        return wrong("the handle holds something else", err);
    if (now.at < 6 || now.at % 5 == 0) {
        if (!on_disk(&disk))
            return false;
        if (disk != base_sum && !(committing && disk == want))
            return wrong("the file is not the last commit", err);
        if (committing && !err && disk != want)
            return wrong("the commit is not there", err);
    }
    return goes_on(committing, err);
}

static bool left_after(int err)
{
    uint64_t disk = 0;

    if (!on_disk(&disk))
        return false;
    if (!err && disk != now.after)
        return wrong("it is not there", err);
    return disk == base_sum || disk == now.after || wrong("the file is another", err);
}

static bool made_after(int err)
{
    bool new = now.c->prepare != NULL;
    uint64_t disk = 0;

    /* Only a directory that cannot be synced leaves a file behind an error. */
    if (err && new &&access(now.e.path, F_OK))
        return true;
    if (!on_disk(&disk))
        return false;
    if (!err || now.fault == IO_ERROR || now.fault == NO_SPACE)
        return disk == now.after || (err && !new &&disk == base_sum) || wrong("another file", err);
    return (!new &&disk == base_sum) || wrong("a file that should not be there", err);
}

static bool reader_after(int err)
{
    uint64_t sum = 0;
    int again = look(now.e.f, &sum);

    if (again)
        return wrong("it cannot be read", again);
    if (sum != (err ? now.before : now.after))
        return wrong("it reads something else", err);
    again = now.c->run(&now.e);
    return again ? wrong("it does not succeed after that", again) : true;
}

static bool judge(int err, int64_t hits)
{
    if (err && (!hits || !fits(err) || !*drep_error()))
        return wrong("another error", err);
    switch (now.c->effect) {
    case READS:
        return reader_after(err);
    case OPENS:
        return true;
    case LEAVES:
        return left_after(err);
    case MAKES:
        return made_after(err);
    default:
        return writer_after(err);
    }
}

/* The content of what the case leaves, from a try without a fault. */
static bool learn(int err)
{
    int look_err = 0;

    now.known = true;
    if (err)
        return wrong("it fails by itself", err);
    if (now.e.f)
        look_err = look(now.e.f, &now.after);
    else if (now.c->effect == LEAVES || now.c->effect == MAKES)
        return on_disk(&now.after);
    return look_err ? wrong("it cannot be read", look_err) : true;
}

/* *more: there was a fault to try. */
static bool try_once(bool *more)
{
    int err, look_err = 0;
    bool good;
    int64_t hits;

    memset(&now.e, 0, sizeof now.e);
    snprintf(now.e.path, sizeof now.e.path, "%s/case.drep", dir);
    copy_file(base_path, now.e.path);
    err = opened(&now.e);
    if (!err && !now.known && now.e.f)
        look_err = look(now.e.f, &now.before);
    if (err || look_err)
        return wrong("it cannot be prepared", err ? err : look_err);
    arm();
    err = now.c->run(&now.e);
    hits = disarm();
    *more = hits > 0;
    now.tries++;
    good = now.known ? judge(err, hits) : learn(err);
    release(&now.e);
    return good;
}

/* n = 0, 1, ... until nothing is left to fail. */
static bool try_fault(enum fault fault, bool stays)
{
    bool more = true;

    now.fault = fault;
    now.stays = stays;
    for (now.at = 0; more; now.at++) {
        if (!try_once(&more))
            return false;
    }
    return true;
}

static void try_case(const struct file_case *c)
{
    char text[300];
    bool more, good;

    memset(&now, 0, sizeof now);
    now.c = c;
    now.fault = NO_FAULT;
    good = try_once(&more) && try_fault(MEMORY, false);
    for (enum fault f = IO_ERROR; good && f <= NO_SPACE; f++)
        good = try_fault(f, false) && try_fault(f, true);
    good = good && try_fault(INTERRUPTED, false) && try_fault(SHORT, false) &&
           (now.at = 0, try_fault(SHORT, true));
    now.fault = INTERRUPTED;
    now.stays = false;
    now.every = true;
    good = good && try_once(&more);
    faults += now.tries;
    if (is_writer())
        snprintf(text, sizeof text, "%s: %lld faults, the handle went on %lld times, refused %lld",
                 c->name, (long long)now.tries, (long long)now.usable, (long long)now.refused);
    else
        snprintf(text, sizeof text, "%s: %lld faults", c->name, (long long)now.tries);
    report(good, text);
}

/* ---- a disk that is really full ---- */

/* Ballast leaves n pages of a small file system; 0, or an error. */
static int fill_disk(const char *path, int pages)
{
    static const char page[4096] = "ballast";
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), n = 0;

    if (fd < 0)
        return -1;
    while (write(fd, page, sizeof page) == (ssize_t)sizeof page)
        n++;
    if (n < pages || ftruncate(fd, (off_t)(n - pages) * 4096))
        n = -1;
    close(fd);
    return n < 0 ? -1 : 0;
}

/* Everything that needs space, with so many pages left; *all: all of it succeeded. */
static bool try_full(const char *full, const char *ballast, bool *all)
{
    uint64_t sum = 0, disk = 0;
    struct env *e = &now.e;
    int err;

    *all = true;
    for (size_t i = 0; i < FILE_CASES; i++) {
        const struct file_case *c = &file_cases[i];

        now.c = c;
        if (c->effect != CHANGES && c->effect != COMMITS)
            continue;
        memset(e, 0, sizeof *e);
        snprintf(e->path, sizeof e->path, "%s", full);
        unlink(ballast);
        copy_file(base_path, full);
        err = opened(e);
        if (err || fill_disk(ballast, (int)now.at))
            return wrong("it cannot be prepared", err);
        err = c->run(e);
        if (!err && c->effect == CHANGES)
            err = drep_commit(e->f);
        *all = *all && !err;
        now.tries++;
        if (err && err != DREP_ERR_NO_SPACE)
            return wrong("another error", err);
        if (!on_disk(&disk) || look(e->f, &sum))
            return wrong("it cannot be read", 0);
        if (err ? disk != base_sum : disk != sum)
            return wrong("the file is not its last commit", err);
        unlink(ballast); /* there is room again */
        err = drep_commit(e->f);
        if (err)
            return wrong("it does not go on when there is room", err);
        if (!on_disk(&disk) || disk != sum)
            return wrong("another content", 0);
        release(e);
    }
    return true;
}

static void try_full_disk(void)
{
    char mount_point[250], full[300], ballast[300], text[100];
    bool all = false, good = true;

    snprintf(mount_point, sizeof mount_point, "%s/full", dir);
    snprintf(full, sizeof full, "%s/case.drep", mount_point);
    snprintf(ballast, sizeof ballast, "%s/ballast", mount_point);
    if (mkdir(mount_point, 0700) || mount("tmpfs", mount_point, "tmpfs", 0, "size=1m")) {
        printf("ok %d - a full disk # SKIP cannot mount a tmpfs of 1 MiB: %s\n", ++test,
               strerror(errno));
        return;
    }
    memset(&now, 0, sizeof now);
    now.fault = NO_SPACE;
    for (now.at = 0; good && !all && now.at < 200; now.at++)
        good = try_full(full, ballast, &all);
    snprintf(text, sizeof text, "a full disk: %lld calls with 0 to %lld pages left",
             (long long)now.tries, (long long)now.at - 1);
    faults += now.tries;
    report(good && all, text);
    umount(mount_point);
}

/* ---- whether all is tried ---- */

static bool is_excepted(const char *name)
{
    for (size_t i = 0; i < sizeof excepted / sizeof *excepted; i++) {
        if (strcmp(excepted[i].name, name) == 0) {
            printf("# no case: %s: %s\n", name, excepted[i].why);
            return true;
        }
    }
    return false;
}

/* The calls that datarep.h declares, one a line that begins with DREP_API. */
static void check_list(void)
{
    const char *src = getenv("SRCDIR");
    char path[400], line[400], text[100];
    int n = 0, missing = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/lib/datarep.h", src ? src : ".");
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        char *name = strstr(line, "drep_"), *end;

        if (strncmp(line, "DREP_API", 8) != 0)
            continue;
        while (name && name[strcspn(name, "( ,;*)")] != '(') /* a type before it */
            name = strstr(name + 5, "drep_");
        if (!name)
            continue;
        end = strchr(name, '(');
        *end = '\0';
        n++;
        if (was_called(name) || is_excepted(name))
            continue;
        missing++;
        printf("# no case calls %s\n", name);
    }
    if (f)
        fclose(f);
    snprintf(text, sizeof text, "every one of %d public calls has a case", n);
    report(n > 100 && missing == 0, text);
}

static void try_memory(void)
{
    char text[100];

    for (maker = 0; maker < MAKERS; maker++) {
        int64_t n = memory_fails(m_type, "a datatype");

        snprintf(text, sizeof text, "datatype %d: %lld allocations fail", (int)maker, (long long)n);
        report(n >= 0, text);
    }
    for (size_t i = 0; i < MEMORY_CASES; i++) {
        int64_t n = memory_fails(memory_cases[i].run, memory_cases[i].name);

        faults += n;
        snprintf(text, sizeof text, "%s: %lld allocations fail", memory_cases[i].name,
                 (long long)n);
        report(n >= 0, text);
    }
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(dir, sizeof dir, "%s/faults-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return 1;
    sure(drep_type_parse("seq(struct{when: INT64_T, who: vstring})", &deep), "type");
    base_make(dir);
    try_memory();
    for (size_t i = 0; i < FILE_CASES; i++) {
        if (argc < 2 || strstr(file_cases[i].name, argv[1]))
            try_case(&file_cases[i]);
    }
    if (argc < 2)
        try_full_disk();
    if (argc < 2)
        check_list();
    drep_type_free(deep);
    printf("counted: %lld failing allocations and system calls, one at a time\n",
           (long long)faults);
    printf("1..%d\n", test);
    return failed;
}
