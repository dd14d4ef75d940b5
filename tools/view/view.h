/* view.h - the server of `datarep view`: what the command asks of the module datarep-view.so.
 *
 * The server listens on 127.0.0.1 alone.  It has two kinds of things: the files of the page, held
 * in memory, and numbered files of data, of which it sends ranges of bytes.  No path of a request
 * ever becomes a path of the system.  Who asks must name 127.0.0.1 or localhost as Host (else a
 * foreign page could reach the server by a name of its own) and have a cookie, which is given for a
 * code, once. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_VIEW_VIEW_H
#define TOOLS_VIEW_VIEW_H

#include <stddef.h>
#include <stdint.h>

/* Grows with the structs below: the command refuses a module that answers another. */
#define DATAREP_VIEW_INTERFACE 2

#define VIEW_TAG 40    /* bytes of a tag, with its quotes and a NUL */
#define VIEW_SECRET 28 /* bytes of a code, likewise of a cookie's value, with a NUL */

/* A file of data.  The functions may be called by several threads at once. */
struct view_data {
    void *state;
    /* Gets size and a strong tag, in quotes, of what the file is now; 0 or an error. */
    int (*now)(void *state, uint64_t *size, char tag[VIEW_TAG]);
    /* Reads bytes inside of that size; 0 or an error. */
    int (*read)(void *state, void *buf, size_t size, uint64_t offset);
};

struct view_site {
    const char *page; /* the folder of the page: index.html and assets/ */
    const struct view_data *data;
    int n;
    const char *list;         /* files.json: names and addresses of the data */
    int port;                 /* 0: any that is free */
    char code[VIEW_SECRET];   /* lets a browser in, once, */
    char cookie[VIEW_SECRET]; /* which gets this one */
};

struct view_server;
/* Starts threads that serve.  NULL: *wrong, a text of the module's, says why.  `site` must live
 * until the end. */
typedef struct view_server *view_start_fn(const struct view_site *site, const char **wrong);
typedef int view_port_fn(const struct view_server *server);
typedef void view_stop_fn(struct view_server *server);

#endif
