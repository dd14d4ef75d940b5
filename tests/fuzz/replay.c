/* replay.c - runs a fuzz target over a corpus, without the fuzzer.
 *
 * Linked with one tests/fuzz/fuzz_*.c in place of libFuzzer's main.  Each argument is a
 * file or a directory of files; hidden ones are skipped.  Before an input is run its name
 * is printed, so the last line of the log of a crash names it.  An input that takes more memory
 * than limit.h allows fails.  Reports one TAP case. */
/* SPDX-License-Identifier: MIT */
#include "tests/fault/limit.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int inputs, greedy;
static int64_t most; /* bytes that any input took */

static void die(const char *path)
{
    printf("Bail out! %s: %s\n", path, strerror(errno));
    exit(1);
}

/* The input is handed over in a block of exactly its size, so that ASan sees a read
 * one byte past its end. */
static void run_file(const char *path, off_t size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    int64_t peak;

    if (!f || !data || fread(data, 1, (size_t)size, f) != (size_t)size)
        die(path);
    fclose(f);
    printf("# %s\n", path);
    limit_begin();
    LLVMFuzzerTestOneInput(data, (size_t)size);
    peak = limit_peak();
    most = peak > most ? peak : most;
    if (peak > limit_of((size_t)size)) {
        printf("# takes %lld bytes of memory, may take %lld\n", (long long)peak,
               (long long)limit_of((size_t)size));
        greedy++;
    }
    free(data);
    inputs++;
}

static void run_path(const char *path)
{
    struct dirent *entry;
    struct stat st;
    DIR *dir;

    if (stat(path, &st) != 0)
        die(path);
    if (!S_ISDIR(st.st_mode)) {
        run_file(path, st.st_size);
        return;
    }
    dir = opendir(path);
    if (!dir)
        die(path);
    while ((entry = readdir(dir)) != NULL) {
        char name[4096];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (stat(name, &st) == 0 && S_ISREG(st.st_mode))
            run_file(name, st.st_size);
    }
    closedir(dir);
}

int main(int argc, char **argv)
{
    const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];

    setvbuf(stdout, NULL, _IOLBF, 0);
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++)
        run_path(argv[i]);
    if (inputs == 0)
        printf("ok 1 - %s # SKIP the corpus is empty\n1..1\n", name);
    else
        printf("%sok 1 - %s: %d inputs, at most %lld KiB of memory\n1..1\n", greedy ? "not " : "",
               name, inputs, (long long)most >> 10);
    return greedy > 0;
}
