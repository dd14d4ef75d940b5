/* view_enter.c - how a browser gets the code of `datarep view`. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/view_enter.h"
#include "tools/host/exit.h"
#include "tools/host/message.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int view_enter_file(char path[PATH_MAX], int port, const char *code)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
    const char *folder = runtime && *runtime && access(runtime, W_OK) == 0 ? runtime
                         : temporary && *temporary                         ? temporary
                                                                           : "/tmp";
    int n = snprintf(path, PATH_MAX, "%s/datarep-view-XXXXXX.html", folder), fd = -1;

    if (n > 0 && n < PATH_MAX)
        fd = mkostemps(path, sizeof ".html" - 1, O_CLOEXEC); /* 0600 */
    if (fd < 0) {
        tool_say(folder, NULL, "cannot make the file that opens the page: %s", strerror(errno));
        return TOOL_IO;
    }
    n = dprintf(
        fd,
        "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Datarep</title>\n"
        "<form method=\"post\" action=\"http://127.0.0.1:%d/enter\">\n"
        "<input type=\"hidden\" name=\"code\" value=\"%s\">\n<button>Open</button>\n</form>\n"
        "<script>document.forms[0].submit()</script>\n",
        port, code);
    if (close(fd) == 0 && n > 0)
        return TOOL_FINE;
    unlink(path);
    tool_say(path, NULL, "cannot be written");
    return TOOL_IO;
}

int view_enter_browser(const char *path)
{
    char *const argv[] = {"xdg-open", (char *)path, NULL};
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    int err = posix_spawn_file_actions_init(&quiet);

    if (err)
        return err;
    for (int fd = 0; fd < 3 && !err; fd++)
        err =
            posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
    if (!err)
        err = posix_spawnp(&pid, argv[0], &quiet, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&quiet);
    return err;
}
