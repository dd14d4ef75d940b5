/* test_driver.c - files behind a program's own functions (drep_driver).
 *
 * needs: deflate */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <pthread.h>
#include <sys/wait.h>

/* ---- a file in the program's own memory ---- */

enum { LOCKS = 16 };

struct disk {
    pthread_mutex_t alone;
    uint8_t *p;
    uint64_t size;
    struct {
        uint64_t byte;
        const void *owner;
        int how;
    } lock[LOCKS];
    int locks;
    int64_t reads, trips, syncs, closed;
    int64_t fail_at; /* the call number from now that fails, -1: none */
    int fail_code;
    const char *says;   /* why it fails; NULL: nothing */
    uint64_t failed_at; /* the byte of the read or write that did */
};

/* A handle's state: locks are those of a handle. */
struct seat {
    struct disk *disk;
};

static void disk_init(struct disk *d)
{
    memset(d, 0, sizeof *d);
    pthread_mutex_init(&d->alone, NULL);
    d->fail_at = -1;
}

static void disk_release(struct disk *d)
{
    free(d->p);
    pthread_mutex_destroy(&d->alone);
}

static struct seat *sit(struct disk *d)
{
    struct seat *s = malloc(sizeof *s);

    ck_assert_ptr_nonnull(s);
    s->disk = d;
    return s;
}

static struct disk *enter(void *state)
{
    struct disk *d = ((struct seat *)state)->disk;

    pthread_mutex_lock(&d->alone);
    return d;
}

static int leave(struct disk *d, int err)
{
    pthread_mutex_unlock(&d->alone);
    return err;
}

static int fault(struct disk *d, uint64_t at)
{
    if (d->fail_at < 0 || d->fail_at-- > 0)
        return 0;
    d->failed_at = at;
    return d->says ? drep_error_set(d->fail_code, d->says) : d->fail_code;
}

static int disk_size(void *state, uint64_t *size)
{
    struct disk *d = enter(state);

    *size = d->size;
    return leave(d, 0);
}

static int disk_read(void *state, const drep_range *range, size_t n)
{
    struct disk *d = enter(state);
    int err = fault(d, range->offset);

    d->trips++;
    for (size_t i = 0; !err && i < n; i++) {
        d->reads++;
        if (i > 0 && range[i].offset < range[i - 1].offset + range[i - 1].size)
            return leave(d, DREP_ERR_ARG);
        if (range[i].offset > d->size || range[i].size > d->size - range[i].offset)
            return leave(d, DREP_ERR_TRUNCATE);
        memcpy(range[i].buf, d->p + range[i].offset, range[i].size);
    }
    return leave(d, err);
}

static int disk_truncate(void *state, uint64_t size)
{
    struct disk *d = enter(state);
    int err = fault(d, size);

    return leave(d, err != 0 ? err : file_in_memory_resize(&d->p, &d->size, size));
}

static int disk_write(void *state, const void *buf, size_t size, uint64_t offset)
{
    struct disk *d = enter(state);
    int err = fault(d, offset);

    if (err == 0 && offset + size > d->size)
        err = file_in_memory_resize(&d->p, &d->size, offset + size);
    if (err == 0)
        memcpy(d->p + offset, buf, size);
    return leave(d, err);
}

static int disk_sync(void *state)
{
    struct disk *d = enter(state);
    int err = fault(d, 0);

    d->syncs++;
    return leave(d, err);
}

static int disk_lock(void *state, uint64_t byte, int how)
{
    struct disk *d = enter(state);
    int mine = d->locks;

    if (byte < (uint64_t)1 << 61 || byte >> 63)
        return leave(d, DREP_ERR_ARG);
    for (int i = 0; i < d->locks; i++) {
        if (d->lock[i].byte != byte)
            continue;
        if (d->lock[i].owner == state)
            mine = i;
        else if (how == 2 || (how == 1 && d->lock[i].how == 2))
            return leave(d, DREP_ERR_FILE_IN_USE);
    }
    if (how == 0 && mine < d->locks) {
        d->lock[mine] = d->lock[--d->locks];
    } else if (how != 0) {
        if (mine == LOCKS)
            return leave(d, DREP_ERR_NOMEM);
        d->locks += mine == d->locks;
        d->lock[mine].byte = byte;
        d->lock[mine].owner = state;
        d->lock[mine].how = how;
    }
    return leave(d, 0);
}

static int disk_locked(void *state, uint64_t first, uint64_t count, int *held)
{
    struct disk *d = enter(state);

    for (int i = 0; i < d->locks; i++)
        *held |= d->lock[i].owner != state && d->lock[i].byte - first < count;
    return leave(d, 0);
}

static void disk_close(void *state)
{
    struct disk *d = enter(state);

    for (int i = d->locks; i-- > 0;)
        if (d->lock[i].owner == state)
            d->lock[i] = d->lock[--d->locks];
    d->closed++;
    leave(d, 0);
    free(state);
}

static const drep_driver full =
    DREP_DRIVER(.read_many = disk_read, .file_size = disk_size, .write_at = disk_write,
                .truncate = disk_truncate, .sync = disk_sync, .lock = disk_lock,
                .locked = disk_locked, .close = disk_close);

/* ---- what is written ---- */

enum { SIDE = 200 };

static double value_at(int64_t i)
{
    return (double)(i * 7 % 1000);
}

static int write_all(drep_file *f, double add)
{
    static const drep_filter filter = {.id = DREP_FILTER_DEFLATE, .level = 1};
    int64_t dims[2] = {SIDE, SIDE}, chunk[2] = {20, 20};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .chunk = chunk);
    static double values[SIDE * SIDE];
    int err = 0;

    for (int64_t i = 0; i < SIDE * SIDE; i++)
        values[i] = value_at(i) + add;
    for (int k = 0; err == 0 && k < 2; k++) {
        const char *path = k == 0 ? "/plain" : "/deflated";
        drep_dataset *ds = NULL;

        spec.layout = DREP_CHUNKED;
        spec.filters = k > 0 ? &filter : NULL;
        spec.nfilters = k;
        if (drep_stat(f, path, &DREP_OBJINFO) == 0)
            err = drep_dataset_open(f, path, &ds);
        else
            err = drep_dataset_create(f, path, &spec, &ds);
        if (err == 0)
            err = drep_write(ds, NULL, NULL, values, NULL);
        drep_dataset_close(ds);
    }
    return err;
}

static int read_all(drep_file *f, double add)
{
    static double values[SIDE * SIDE];
    int err = 0, wrong = 0;

    for (int k = 0; err == 0 && k < 2; k++) {
        drep_dataset *ds = NULL;

        err = drep_dataset_open(f, k == 0 ? "/plain" : "/deflated", &ds);
        if (err == 0)
            err = drep_read(ds, NULL, NULL, values, NULL);
        for (int64_t i = 0; err == 0 && i < SIDE * SIDE; i++)
            wrong += values[i] != value_at(i) + add;
        drep_dataset_close(ds);
    }
    ck_assert_int_eq(wrong, 0);
    return err;
}

static void make(struct disk *d)
{
    drep_file *f;

    disk_init(d);
    ok(drep_create_driver(&full, sit(d), "mine", "external32", NULL, &f));
    ok(write_all(f, 0));
    ok(drep_close(f));
    ck_assert_int_eq(d->closed, 1);
    ck_assert_int_gt(d->syncs, 0);
    ck_assert_int_eq(d->locks, 0);
}

/* ---- tests ---- */

START_TEST(test_a_file_in_memory_of_our_own)
{
    drep_file *f, *reader;
    struct disk d;

    make(&d);
    ok(drep_open_driver(&full, sit(&d), "mine", DREP_RDONLY, NULL, &reader));
    ok(read_all(reader, 0));
    fails(drep_group_create(reader, "/g", 0), DREP_ERR_READ_ONLY);
    ok(drep_open_driver(&full, sit(&d), "mine", DREP_RDWR, NULL, &f));
    for (int i = 1; i < 8; i++) {
        ok(write_all(f, i));
        ok(drep_commit(f));
        ok(read_all(reader, 0)); /* its lock keeps its commit */
    }
    ok(drep_refresh(reader));
    ok(read_all(reader, 7));
    ok(drep_close(reader));
    check_file(f);
    ok(drep_close(f));
    /* The bytes are those of any file. */
    ok(drep_open_image(d.p, d.size, NULL, &f));
    ok(read_all(f, 7));
    ok(drep_close(f));
    disk_release(&d);
}
END_TEST

START_TEST(test_one_writer)
{
    drep_driver bare = full;
    drep_file *f, *other;
    struct disk d;

    make(&d);
    ok(drep_open_driver(&full, sit(&d), "mine", DREP_RDWR, NULL, &f));
    fails(drep_open_driver(&full, sit(&d), "mine", DREP_RDWR, NULL, &other), DREP_ERR_FILE_IN_USE);
    ck_assert_ptr_nonnull(strstr(drep_error(), "mine"));
    ck_assert_int_eq(d.closed, 2);
    ok(drep_close(f));
    /* Without locks it is the program's business. */
    bare.lock = NULL;
    bare.locked = NULL;
    bare.sync = NULL;
    ok(drep_open_driver(&bare, sit(&d), NULL, DREP_RDWR, NULL, &f));
    ok(write_all(f, 1));
    ok(drep_commit(f));
    ok(drep_open_driver(&bare, sit(&d), NULL, DREP_RDONLY, NULL, &other));
    ok(read_all(other, 1));
    ok(drep_close(other));
    ok(drep_close(f));
    disk_release(&d);
}
END_TEST

/* ---- writers that wait ---- */

enum { WRITERS = 4, TURNS = 40 };

/* Open the file again and again, with its locks behind the driver, and write an element. */
static void *write_turns(void *arg)
{
    struct seat *mine = arg;
    drep_info *info = hints("drep_lock_wait=60", (char *)NULL);
    intptr_t err = 0;

    for (int i = 0; i < TURNS && !err; i++) {
        drep_dataset *set = NULL;
        struct seat *s = malloc(sizeof *s);
        int64_t v = i;
        drep_file *f;

        if (s == NULL)
            return (void *)1;
        s->disk = mine->disk;
        err = drep_open_driver(&full, s, "mine", DREP_RDWR, info, &f);
        if (err)
            break;
        err = drep_dataset_open(f, "/n", &set);
        if (!err)
            err = drep_append(set, 0, 1, DREP_INT64_T, &v, NULL);
        drep_dataset_close(set);
        err = drep_close(f) || err;
    }
    drep_info_free(info);
    return (void *)err;
}

START_TEST(test_writers_wait_by_the_driver_s_locks)
{
    const int64_t none = 0, max = -1, chunk = 16;
    drep_spec spec = DREP_SPEC(.type = DREP_INT64_T, .rank = 1, .dims = &none, .maxdims = &max,
                               .layout = DREP_CHUNKED, .chunk = &chunk);
    int64_t v[WRITERS * TURNS], sum = 0;
    pthread_t thread[WRITERS];
    drep_dataset *set;
    struct seat seat;
    drep_file *f;
    struct disk d;

    disk_init(&d);
    seat.disk = &d;
    ok(drep_create_driver(&full, sit(&d), "mine", "native", NULL, &f));
    ok(drep_dataset_create(f, "/n", &spec, NULL));
    ok(drep_close(f));
    for (int i = 0; i < WRITERS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, write_turns, &seat), 0);
    for (int i = 0; i < WRITERS; i++) {
        void *err;

        pthread_join(thread[i], &err);
        ck_assert_ptr_null(err);
    }
    ck_assert_int_eq(d.locks, 0);
    ok(drep_open_driver(&full, sit(&d), "mine", DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/n", &set));
    ok(drep_read(set, NULL, DREP_INT64_T, v, NULL));
    for (int i = 0; i < WRITERS * TURNS; i++)
        sum += v[i];
    ck_assert_int_eq(sum, WRITERS * TURNS * (TURNS - 1) / 2);
    drep_dataset_close(set);
    ok(drep_close(f));
    disk_release(&d);
}
END_TEST

START_TEST(test_a_driver_that_reads)
{
    drep_driver reads =
        DREP_DRIVER(.read_many = disk_read, .file_size = disk_size, .close = disk_close);
    drep_file *f;
    struct disk d;

    make(&d);
    ok(drep_open_driver(&reads, sit(&d), NULL, DREP_RDONLY, NULL, &f));
    ok(read_all(f, 0));
    ok(drep_close(f));
    fails(drep_open_driver(&reads, NULL, NULL, DREP_RDWR, NULL, &f), DREP_ERR_ARG);
    ck_assert_ptr_nonnull(strstr(drep_error(), "write_at"));
    fails(drep_create_driver(&reads, NULL, NULL, "native", NULL, &f), DREP_ERR_ARG);
    reads.lock = disk_lock;
    fails(drep_open_driver(&reads, NULL, NULL, DREP_RDONLY, NULL, &f), DREP_ERR_ARG);
    reads.lock = NULL;
    reads.file_size = NULL;
    fails(drep_open_driver(&reads, NULL, NULL, DREP_RDONLY, NULL, &f), DREP_ERR_ARG);
    fails(drep_open_driver(&full, NULL, NULL, DREP_RDWR | DREP_HEADER_ONLY, NULL, &f),
          DREP_ERR_AMODE);
    ck_assert_int_eq(d.closed, 2); /* what was refused was not closed */
    disk_release(&d);
}
END_TEST

START_TEST(test_creation_needs_an_empty_file)
{
    drep_file *f;
    struct disk d;

    make(&d);
    fails(drep_create_driver(&full, sit(&d), "mine", "native", NULL, &f), DREP_ERR_FILE_EXISTS);
    ck_assert_ptr_nonnull(strstr(drep_error(), "not empty"));
    ck_assert_int_eq(d.closed, 2);
    ok(drep_open_driver(&full, sit(&d), "mine", DREP_RDONLY, NULL, &f)); /* as it was */
    ok(read_all(f, 0));
    ok(drep_close(f));
    /* Given up before its first commit it is no file. */
    file_in_memory_resize(&d.p, &d.size, 0);
    ok(drep_create_driver(&full, sit(&d), "mine", "native", NULL, &f));
    ok(write_all(f, 0));
    drep_abandon(f);
    ck_assert_int_ne(drep_open_driver(&full, sit(&d), "mine", DREP_RDONLY, NULL, &f), 0);
    disk_release(&d);
}
END_TEST

/* Where a round trip is dear, two datasets of 100 chunks take a few. */
START_TEST(test_D41_few_round_trips)
{
    drep_driver far = full;
    int64_t one_by_one;
    drep_file *f;
    struct disk d;

    make(&d);
    d.trips = 0;
    ok(drep_open_driver(&far, sit(&d), NULL, DREP_RDONLY, NULL, &f));
    ok(read_all(f, 0));
    ok(drep_close(f));
    one_by_one = d.trips;
    ck_assert_int_gt(one_by_one, 100);
    far.round_trip = 1000000;
    far.first_read = 65536;
    d.trips = 0;
    ok(drep_open_driver(&far, sit(&d), NULL, DREP_RDONLY, NULL, &f));
    ok(read_all(f, 0));
    ok(drep_close(f));
    printf("# %lld round trips, %lld without reading ahead\n", (long long)d.trips,
           (long long)one_by_one);
    ck_assert_int_le(d.trips, 4);
    disk_release(&d);
}
END_TEST

/* ---- drivers that fail ---- */

static const int codes[] = {DREP_ERR_IO, DREP_ERR_NO_SPACE, DREP_ERR_ACCESS, DREP_ERR_TIMEOUT,
                            4711};

/* The message names the file and the byte, and the object where one is at hand. */
static void named(const struct disk *d, int err, const char *object)
{
    char byte[40];

    ck_assert_int_eq(err, d->fail_code == 4711 ? DREP_ERR_IO : d->fail_code);
    ck_assert_msg(strstr(drep_error(), "mine: ") != NULL, "%s", drep_error());
    snprintf(byte, sizeof byte, "at byte %llu", (unsigned long long)d->failed_at);
    ck_assert_msg(strstr(drep_error(), byte) != NULL, "%s, %s", drep_error(), byte);
    if (object != NULL)
        ck_assert_msg(strstr(drep_error(), object) != NULL, "%s", drep_error());
    ck_assert_msg(strstr(drep_error(), d->says != NULL ? d->says : drep_strerror(err)) != NULL,
                  "%s", drep_error());
}

START_TEST(test_reads_that_fail)
{
    int64_t failures = 0;
    drep_file *f;
    struct disk d;
    int err;

    make(&d);
    d.fail_code = codes[_i];
    d.says = _i % 2 ? "the server is away" : NULL;
    for (int64_t n = 0;; n++) {
        d.fail_at = n;
        err = drep_open_driver(&full, sit(&d), "mine", DREP_RDONLY, NULL, &f);
        if (err == 0) {
            int64_t opened = d.fail_at;

            err = read_all(f, 0);
            if (err != 0)
                named(&d, err, opened < 3 ? NULL : "/");
            d.fail_at = -1;
            ok(read_all(f, 0)); /* the handle goes on */
            ok(drep_close(f));
            if (err == 0)
                break;
        } else {
            named(&d, err, NULL);
        }
        failures++;
    }
    d.fail_at = -1;
    ck_assert_int_gt(failures, 100);
    ck_assert_int_eq(d.locks, 0);
    disk_release(&d);
}
END_TEST

START_TEST(test_writes_that_fail)
{
    int64_t failures = 0;
    bool done = false;

    for (int64_t n = 0; !done; n += n < 40 ? 1 : 17) {
        struct disk d;
        drep_file *f;
        int err;

        make(&d);
        ok(drep_open_driver(&full, sit(&d), "mine", DREP_RDWR, NULL, &f));
        d.fail_code = codes[_i];
        d.says = _i % 2 ? NULL : "the tape is torn";
        d.fail_at = n;
        err = write_all(f, 1);
        if (err == 0)
            err = drep_commit(f);
        done = d.fail_at >= 0;
        if (!done)
            failures++;
        ck_assert(done == (err == 0) || d.fail_at < 0);
        d.fail_at = -1;
        drep_abandon(f);
        ok(drep_open_driver(&full, sit(&d), "mine", DREP_RDONLY, NULL, &f));
        ok(read_all(f, err == 0 ? 1 : 0)); /* one commit or the other */
        ok(drep_close(f));
        disk_release(&d);
    }
    ck_assert_int_gt(failures, 10);
}
END_TEST

/* The state is the parent's: a child neither uses it nor closes it. */
START_TEST(test_fork)
{
    drep_file *f;
    struct disk d;
    pid_t child;
    int status;

    make(&d);
    ok(drep_open_driver(&full, sit(&d), "mine", DREP_RDONLY, NULL, &f));
    fflush(stdout);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        int64_t closed = d.closed;
        int err = drep_stat(f, "/plain", &DREP_OBJINFO);

        drep_abandon(f);
        _exit(err == DREP_ERR_STALE && d.closed == closed ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ok(read_all(f, 0));
    ok(drep_close(f));
    disk_release(&d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("driver");
    TCase *c = tcase_create("all");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_test(c, test_a_file_in_memory_of_our_own);
    tcase_add_test(c, test_one_writer);
    tcase_add_test(c, test_writers_wait_by_the_driver_s_locks);
    tcase_add_test(c, test_a_driver_that_reads);
    tcase_add_test(c, test_creation_needs_an_empty_file);
    tcase_add_test(c, test_D41_few_round_trips);
    tcase_add_loop_test(c, test_reads_that_fail, 0, sanitized_part(sizeof codes / sizeof codes[0]));
    tcase_add_loop_test(c, test_writes_that_fail, 0,
                        sanitized_part(sizeof codes / sizeof codes[0]));
    tcase_add_test(c, test_fork);
    tcase_set_timeout(c, 300);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
