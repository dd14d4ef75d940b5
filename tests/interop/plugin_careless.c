/* plugin_careless.c - a libhdf5, and a system, that lose values without a word, for LD_PRELOAD.
 *
 * CARELESS says what goes wrong: "data" and "attribute" flip a bit of the last element that is
 * written, "fill" one of the fill value, "arrays" keeps libhdf5's own conversion of arrays,
 * which loses strings; "write" flips a bit of the last byte that is written into a file in a
 * folder "out", whatever name it has until it is whole. */
/* SPDX-License-Identifier: MIT */
#define H5_USE_110_API
#include <dlfcn.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_on(const char *what)
{
    const char *text = getenv("CARELESS");

    return text && strcmp(text, what) == 0;
}

/* A copy with the lowest bit of the last element's first byte flipped. */
static void *flipped(const void *buf, size_t n, size_t size)
{
    unsigned char *copy = malloc(n * size);

    if (!copy)
        abort();
    memcpy(copy, buf, n * size);
    copy[(n - 1) * size] ^= 1;
    return copy;
}

__attribute__((visibility("default"))) herr_t H5Dwrite(hid_t dset, hid_t mem, hid_t mem_space,
                                                       hid_t file_space, hid_t dxpl,
                                                       const void *buf)
{
    herr_t (*real)(hid_t, hid_t, hid_t, hid_t, hid_t, const void *) = NULL;
    void *wrong = NULL;
    herr_t status;

    *(void **)&real = dlsym(RTLD_NEXT, "H5Dwrite");
    if (is_on("data"))
        wrong = flipped(buf, (size_t)H5Sget_simple_extent_npoints(mem_space), H5Tget_size(mem));
    status = real(dset, mem, mem_space, file_space, dxpl, wrong ? wrong : buf);
    free(wrong);
    return status;
}

__attribute__((visibility("default"))) herr_t H5Awrite(hid_t attr, hid_t mem, const void *buf)
{
    herr_t (*real)(hid_t, hid_t, const void *) = NULL;
    hid_t space = H5Aget_space(attr);
    void *wrong = NULL;
    herr_t status;

    *(void **)&real = dlsym(RTLD_NEXT, "H5Awrite");
    if (is_on("attribute"))
        wrong = flipped(buf, (size_t)H5Sget_simple_extent_npoints(space), H5Tget_size(mem));
    status = real(attr, mem, wrong ? wrong : buf);
    H5Sclose(space);
    free(wrong);
    return status;
}

__attribute__((visibility("default"))) herr_t H5Pset_fill_value(hid_t plist, hid_t type,
                                                                const void *value)
{
    herr_t (*real)(hid_t, hid_t, const void *) = NULL;
    void *wrong = NULL;
    herr_t status;

    *(void **)&real = dlsym(RTLD_NEXT, "H5Pset_fill_value");
    if (value && is_on("fill"))
        wrong = flipped(value, 1, H5Tget_size(type));
    status = real(plist, type, wrong ? wrong : value);
    free(wrong);
    return status;
}

__attribute__((visibility("default"))) herr_t H5Tregister(H5T_pers_t pers, const char *name,
                                                          hid_t src, hid_t dst, H5T_conv_t func)
{
    herr_t (*real)(H5T_pers_t, const char *, hid_t, hid_t, H5T_conv_t) = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "H5Tregister");
    return is_on("arrays") ? 0 : real(pers, name, src, dst, func);
}

static int is_target(int fd)
{
    char link[40], path[4096];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = is_on("write") ? readlink(link, path, sizeof path - 1) : -1;
    if (n < 0)
        return 0;
    path[n] = 0;
    return strstr(path, "/out/") != NULL;
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *buf, size_t size)
{
    ssize_t (*real)(int, const void *, size_t) = NULL;
    unsigned char *wrong = NULL;
    ssize_t n;

    *(void **)&real = dlsym(RTLD_NEXT, "write");
    /* A wrong header would be no array at all. */
    if (size > 6 && memcmp(buf, "\223NUMPY", 6) != 0 && is_target(fd))
        wrong = flipped(buf, size, 1);
    n = real(fd, wrong ? wrong : buf, size);
    free(wrong);
    return n;
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *buf, size_t size,
                                                      off_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off_t) = NULL;
    unsigned char *wrong = NULL;
    ssize_t n;

    *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
    if (size && is_target(fd))
        wrong = flipped(buf, size, 1);
    n = real(fd, wrong ? wrong : buf, size, offset);
    free(wrong);
    return n;
}
