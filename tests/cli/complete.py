# SPDX-License-Identifier: MIT
"""complete.py - drives a shell in a pseudo-terminal and presses its completion key.

    complete.py bash|zsh SETUP LINE    prints the line after the tabulator key; a line that
                                       ends in two tabs prints what the shell lists instead
"""

import os
import pty
import re
import select
import sys
import tempfile
import time

# Each writes the line that is being edited into the file $LINE_FILE, and prints a mark.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], [
        "bind 'set enable-bracketed-paste off'", "bind 'set page-completions off'",
        "bind 'set completion-query-items 0'", "bind 'set bell-style none'",
        r"""bind -x '"\C-xl": printf %s "$READLINE_LINE" > "$LINE_FILE"; printf "\nLI""NE\n"'"""]),
    "zsh": (["zsh", "-f", "-i"], [
        "unsetopt zle_bracketed_paste prompt_sp", "setopt no_always_last_prompt no_list_beep no_beep",
        "LISTMAX=0", "autoload -Uz compinit",
        "show() { print -rn -- \"$BUFFER\" > $LINE_FILE; print; print LI''NE }", "zle -N show",
        "bindkey '^Xl' show"]),
    "fish": (["fish", "-N", "-i"], [
        "set -g fish_autosuggestion_enabled 0",
        "bind \\cxl 'commandline | string collect -N > $LINE_FILE; echo; echo LI''NE'"]),
}


class Shell:
    def __init__(self, kind, setup):
        argv, first = SHELLS[kind]
        self.line_file = tempfile.mktemp()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="dumb", PS1="> ", LC_ALL="C.UTF-8", HISTFILE="/dev/null",
                              COLUMNS="200", LINES="50", LINE_FILE=self.line_file)
            os.execvp(argv[0], argv)
        for line in first + setup:
            self.send(line + "\n")
        self.send("echo re''ady\n")
        self.wait(b"ready")

    def send(self, text):
        os.write(self.fd, text if isinstance(text, bytes) else text.encode())

    def wait(self, mark, seconds=20):
        """The bytes that came up to where the mark stands."""
        text, end = b"", time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    text += os.read(self.fd, 65536)
                except OSError:
                    break
            if mark in text:
                return text
        sys.exit("the shell did not answer %r: %r" % (mark, text[-2000:]))

    def press(self, line, keys="\t"):
        """The line that stands there after the keys were pressed, and what came to the terminal."""
        self.send(line)
        self.send(keys)
        self.send("\x18l")
        seen = self.wait(b"LINE")
        with open(self.line_file, "rb") as f:
            line = f.read()
        os.remove(self.line_file)
        return line, seen


def main(kind, setup, line):
    shell = Shell(kind, setup.split("\n"))
    tabs = len(line) - len(line.rstrip("\t"))
    after, seen = shell.press(line.rstrip("\t"), "\t" * max(tabs, 1))
    print((after if tabs < 2 else seen).decode(errors="replace"))


if __name__ == "__main__":
    main(*sys.argv[1:])
