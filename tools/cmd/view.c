/* view.c - `datarep view`: files in the browser.
 *
 * The command opens the files, the module datarep-view.so serves them and the page on 127.0.0.1,
 * and a browser reads what it shows.  It ends with the command. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/command.h"
#include "tools/cmd/view_data.h"
#include "tools/cmd/view_enter.h"
#include "tools/cmd/view_export.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/installed.h"
#include "tools/host/message.h"
#include "tools/host/module.h"
#include "tools/host/stop.h"
#include "tools/host/unfinished.h"
#include "tools/text/sink.h"
#include "tools/view/view.h"
#include <dlfcn.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_MAX 256
#define CODE_LETTERS 20
#define LOOK_MS 200 /* between looks whether a signal came */

enum { OPTION_EXPORT = OPTION_LONG, OPTION_NO_BROWSER, OPTION_PATH, OPTION_PORT, OPTION_WATCH };

static const struct option_row view_option_rows[] = {
    {OPTION_EXPORT, "export", "DIR", "write page and files for a web server, and end", "<dir>"},
    {OPTION_NO_BROWSER, "no-browser", NULL, "only print address and code", NULL},
    {OPTION_PATH, "path", "PATH", "show this object of the first file first", "<path>"},
    {OPTION_PORT, "port", "N", "listen on this port (any that is free)", ""},
    {OPTION_WATCH, "watch-input", NULL, "end also when standard input ends, for programs", NULL},
    {0}};

struct viewing {
    struct view_site site;
    struct view_data data[FILES_MAX];
    char page[PATH_MAX], enter[PATH_MAX];
    bool no_browser, watch_input;
    const char *export, *path;
};

/* n letters and digits that nobody confuses, for people who type the code. */
static bool make_secret(char *out, size_t n)
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";

    if (getrandom(out, n, 0) != (ssize_t)n)
        return false;
    for (size_t i = 0; i < n; i++)
        out[i] = letters[out[i] & 31];
    out[n] = '\0';
    return true;
}

/* Show the way in.  Only what this command printed to the user's terminal has the code. */
static int show_way(struct viewing *v, int port)
{
    int err, status = view_enter_file(v->enter, port, v->site.code);

    if (status)
        return status;
    unfinished_set(v->enter); /* a second signal ends the command at once */
    printf("http://127.0.0.1:%d/\ncode: %s\n", port, v->site.code);
    if (tool_flush() != 0)
        return TOOL_IO;
    if (v->no_browser)
        return TOOL_FINE;
    err = view_enter_browser(v->enter);
    if (err)
        tool_say(NULL, NULL,
                 "no browser was found (xdg-open: %s): open the address and enter the code",
                 strerror(err));
    return TOOL_FINE;
}

/* Waits a little, and for the process that opened the browser.  False: whoever started the command
 * and holds its input is gone. */
static bool wait_watching(const struct viewing *v)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char ignored[64];

    waitpid(-1, NULL, WNOHANG);
    if (poll(&input, v->watch_input ? 1 : 0, LOOK_MS) <= 0 || !input.revents)
        return true;
    return read(STDIN_FILENO, ignored, sizeof ignored) > 0;
}

static int serve_files(struct viewing *v)
{
    void *module = module_load("view", DATAREP_VIEW_INTERFACE);
    view_start_fn *start = NULL;
    view_port_fn *port = NULL;
    view_stop_fn *stop = NULL;
    struct view_server *server;
    const char *wrong = NULL;
    int status;

    if (!module)
        return TOOL_CORRUPT;
    *(void **)&start = dlsym(module, "datarep_view_start");
    *(void **)&port = dlsym(module, "datarep_view_port");
    *(void **)&stop = dlsym(module, "datarep_view_stop");
    if (!start || !port || !stop || !make_secret(v->site.code, CODE_LETTERS) ||
        !make_secret(v->site.cookie, sizeof v->site.cookie - 1))
        return TOOL_CORRUPT;
    stop_catch();
    server = start(&v->site, &wrong);
    if (!server) {
        tool_say(NULL, NULL, "%s", wrong);
        return TOOL_IO;
    }
    status = show_way(v, port(server));
    while (!status && !stop_asked() && wait_watching(v))
        ;
    stop(server);
    if (v->enter[0])
        unlink(v->enter);
    unfinished_set(NULL);
    return status;
}

/* Opens the files, and lists them for the page. */
static int open_files(struct viewing *v, char **files, struct sink *list)
{
    int status = TOOL_FINE;

    for (; files[v->site.n] && !status; v->site.n++) {
        char url[24];

        if (v->site.n == FILES_MAX) {
            tool_say(NULL, NULL, "more than %d files", FILES_MAX);
            return TOOL_USAGE;
        }
        status = view_data_open(&v->data[v->site.n], files[v->site.n]);
        snprintf(url, sizeof url, "data/%d", v->site.n);
        view_data_list(list, v->site.n, files[v->site.n], url, v->site.n ? NULL : v->path);
    }
    sink_text(list, "]\n");
    sink_char(list, '\0');
    v->site.list = list->buf;
    return status || !list->err ? status : tool_no_memory();
}

static int view_files(struct viewing *v, char **files)
{
    struct sink list;
    int status;

    if (!installed_page(v->page, sizeof v->page)) {
        tool_say(NULL, NULL,
                 "the page is not installed: `make web` builds it, Debian's package datarep-view "
                 "has it");
        return TOOL_IO;
    }
    if (v->export)
        return view_export(v->export, v->page, files);
    v->site.page = v->page;
    v->site.data = v->data;
    if (sink_init(&list, -1))
        return tool_no_memory();
    status = open_files(v, files, &list);
    if (!status)
        status = serve_files(v);
    sink_release(&list);
    return status;
}

static int view_run(int argc, char **argv)
{
    struct options o = {.command = &view_command, .argc = argc, .argv = argv};
    struct viewing *v = calloc(1, sizeof *v);
    int option, status;
    char **files, *end;

    if (!v)
        return tool_no_memory();
    while ((option = option_next(&o)) > 0) {
        if (option == OPTION_EXPORT)
            v->export = optarg;
        if (option == OPTION_PATH)
            v->path = optarg;
        v->no_browser |= option == OPTION_NO_BROWSER;
        v->watch_input |= option == OPTION_WATCH;
        if (option == OPTION_PORT) {
            long port = strtol(optarg, &end, 10);

            if (!*optarg || *end || port < 1 || port > 65535) {
                free(v);
                return tool_usage("view", "--port: a number from 1 to 65535");
            }
            v->site.port = (int)port;
        }
    }
    files = option ? NULL : option_operands(&o, 1, INT_MAX, "which file?");
    status = files ? view_files(v, files) : o.status;
    for (int i = 0; i < v->site.n; i++)
        view_data_close(&v->data[i]);
    free(v);
    stop_now();
    return status;
}

const struct command view_command = {
    .name = "view",
    .run = view_run,
    .summary = "show files in the browser",
    .usage = "[options] FILE...",
    .about =
        "Opens a page with a viewer (h5web) on files or URLs, from a server on 127.0.0.1 that\n"
        "ends with the command (Ctrl-C).  The page also opens files that are dropped on it.",
    .options = view_option_rows,
    .examples = "  datarep view run.drep\n"
                "  datarep view --export site run.drep",
    .operands = "<drep>..."};
