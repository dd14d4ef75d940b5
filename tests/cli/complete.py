"""complete.py - drives a shell in a pseudo-terminal and presses its completion key.

    complete.py bash|zsh SETUP LINE    prints the line after the tabulator key; a line that
                                       ends in two tabs prints what the shell lists instead
"""

import os
import pty
import re
import select
import sys
import time


class Shell:
    def __init__(self, argv, setup, prompt):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="dumb", PS1=prompt, LC_ALL="C.UTF-8", HISTFILE="/dev/null",
                              COLUMNS="200", LINES="50")
            os.execvp(argv[0], argv)
        for line in setup:
            self.send(line + "\n")
        self.send("echo re''ady\n")
        self.wait("ready")

    def send(self, text):
        os.write(self.fd, text.encode())

    def wait(self, pattern, seconds=20):
        """What came up to where the pattern stands."""
        text, end = "", time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    text += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    break
            if re.search(pattern, text):
                return text
        sys.exit("the shell did not answer %r: %r" % (pattern, text[-2000:]))

    def line_after(self, line, key):
        """The line that stands there after the key was pressed."""
        self.send(line)
        self.send(key)
        self.send("\x18l")
        text = self.wait(r"LINE<[^>]*>")
        return text


def main(kind, setup, line):
    if kind == "bash":
        shell = Shell(["bash", "--norc", "--noprofile", "-i"], [
            "bind 'set enable-bracketed-paste off'", "bind 'set page-completions off'",
            "bind 'set completion-query-items 0'", "bind 'set bell-style none'",
            r"""bind -x '"\C-xl": printf "\nLINE<%s>\n" "$READLINE_LINE"'"""] + setup.split("\n"),
            "> ")
    else:
        shell = Shell(["zsh", "-f", "-i"], [
            "unsetopt zle_bracketed_paste prompt_sp", "setopt no_always_last_prompt no_list_beep no_beep",
            "LISTMAX=0", "autoload -Uz compinit",
            "show() { print; print -r -- \"LINE<$BUFFER>\" }", "zle -N show", "bindkey '^Xl' show"] +
            setup.split("\n"), "> ")
    tabs = len(line) - len(line.rstrip("\t"))
    text = shell.line_after(line.rstrip("\t"), "\t" * max(tabs, 1))
    if tabs < 2:
        print(re.search(r"LINE<([^>]*)>", text)[1])
    else:
        print(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
