#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 1500
"""run-remote.py - reads files by URL from nginx, from a server that misbehaves, and (--full) from an S3 server.

Each read is a process with bounded time and memory: it gives the right values, or an error with the expected code that
names the URL without user part and query, and, after opening, the object and the byte.  At the end no output, log or
file of the run may have one of the secrets in it.  The short form, without --full, needs nginx-light and Python alone.
"""
import base64
import hashlib
import os
import random
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import time

import liar
import servers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(os.environ.get("BUILDDIR", os.path.join(ROOT, "build")), "release")
HERE = os.path.dirname(os.path.abspath(__file__))
FULL = "--full" in sys.argv
SIZE = 3 << 20
PEAK = 64 << 10  # KiB of a reader, Python's interpreter and the values included
CODES = {}  # of format/errors.def, by name
# Secrets that are handed to readers.  They are long, so that no other bytes of the run look like them.
USER, PASSWORD = "usersecret5xkq", "passwordsecret7vzm"
TOKEN, QUERY, KEY, SESSION = "tokensecret9wjp", "querysecret3hgt", "keysecret8rtd", "sessionsecret2nbf"

with open(os.path.join(ROOT, "format", "errors.def"), encoding="utf-8") as errors:
    CODES.update((name, int(code)) for name, code in re.findall(r"^X\((\w+),\s*(\d+)", errors.read(), re.M))

# Way of liar.py: (hints, what is expected, words of the message, seconds).  What: "values", or codes, of which one is given.
LIES = [
    ("good", [], "values", "", 10),
    ("no-validators", [], "values", "", 10),
    ("weak-etag", [], "values", "", 10),
    ("ignores-range", [], "UNSUPPORTED_OPERATION", "no ranges", 10),
    ("ignores-range", ["drep_http_whole=true"], "values", "", 10),
    ("ignores-range", ["drep_http_whole=true", "drep_http_whole_max=1000000"], "LIMIT", "drep_http_whole_max", 10),
    ("later-200", [], "IO", "whole file", 10),
    ("wrong-range", [], "IO", "", 10),
    ("wrong-range-at-once", [], "IO", "asked for", 10),
    ("no-content-range", [], "IO", "Content-Range", 10),
    ("absurd-range", [], "IO", "Content-Range", 10),
    ("shorter-body", ["drep_http_retries=2"], "values IO", "", 15),
    ("longer-body", [], "IO", "more bytes", 10),
    ("endless-body", [], "IO", "more bytes", 10),
    ("endless-body-at-once", [], "UNSUPPORTED_OPERATION", "no ranges", 10),
    ("endless-body-at-once", ["drep_http_whole=true", "drep_http_whole_max=1000000"], "LIMIT", "drep_http_whole_max", 10),
    ("endless-headers", ["drep_http_retries=1"], "LIMIT IO", "header", 10),
    ("huge-header", ["drep_http_retries=1"], "LIMIT NOMEM", "header", 10),
    ("one-byte-a-second", ["drep_http_timeout=1", "drep_http_retries=1"], "TIMEOUT", "", 15),
    ("silent", ["drep_http_timeout=1", "drep_http_retries=1"], "TIMEOUT", "", 15),
    ("changed-etag", [], "STALE", "changed", 10),
    ("changed-412", [], "STALE", "changed", 10),
    ("changed-size", [], "STALE", "changed", 10),
    ("changed-content", [], "CHECKSUM", "checksum", 10),
    ("redirect-loop", [], "LIMIT", "redirect", 10),
    ("redirect-longer", [], "LIMIT", "redirect", 10),
    ("redirect-near", [], "values", "", 10),
    ("redirect-to-file", [], "ARG ACCESS", "redirect", 10),
    ("redirect-nowhere", [], "IO", "", 10),
    ("busy", [], "values", "", 20),
    ("always-busy", ["drep_http_retries=0"], "IO", "503", 10),
    ("cut-once", [], "values", "", 15),
    ("cut-always", ["drep_http_retries=2"], "IO", "", 15),
    ("gzip", [], "UNSUPPORTED_OPERATION", "encoded", 10),
    ("gzip-at-once", [], "UNSUPPORTED_OPERATION", "encoded", 10),
    ("closes", [], "values", "", 10),
    ("no-http", [], "IO", "", 10),
    ("missing", [], "NO_SUCH_FILE", "404", 10),
    ("forbidden", [], "ACCESS", "403", 10),
    ("gone-later", [], "STALE NO_SUCH_FILE IO", "404", 10),
    ("empty", [], "NOT_DREP", "", 10),
    ("no-range-possible", [], "TRUNCATE IO FORMAT", "", 10),
]
# These are the ways that are tried over TLS, too; --full tries all.
TLS_TOO = {"good", "later-200", "longer-body", "changed-etag", "cut-once", "redirect-near"}


class Tests:
    """The cases of this run, and all that their programs printed."""

    def __init__(self):
        self.n = self.failed = 0
        self.said = []

    def say(self, good, name, why=""):
        self.n += 1
        self.failed += not good
        print("%sok %d - %s" % ("" if good else "not ", self.n, name))
        for line in why.splitlines() if not good else ():
            print("# " + line)
        sys.stdout.flush()

    def skip(self, name, why):
        self.n += 1
        print("ok %d - %s # SKIP %s" % (self.n, name, why))

    def run(self, command, seconds, env=None):
        """Run a program; status 124 if it takes too long.  Its output is kept."""
        begin = time.monotonic()
        try:
            p = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=2 * seconds + 10, env=env)
        except subprocess.TimeoutExpired as e:
            self.said.append((e.stdout or b"") + (e.stderr or b""))
            return 124, "", "took longer than %d s" % (2 * seconds + 10)
        self.said.append(p.stdout + p.stderr)
        took = time.monotonic() - begin
        slow = " (%.1f s)" % took if took > seconds else ""
        return 124 if slow else p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace") + slow


class Reader:
    """Reads the file of this run from URLs, and judges what comes of it."""

    def __init__(self, tests, folder, digest, certificate):
        self.tests, self.digest, self.certificate = tests, digest, certificate
        self.home = os.path.join(folder, "home")
        os.makedirs(self.home)

    def environment(self, more=()):
        env = {k: v for k, v in os.environ.items()
               if not k.lower().endswith("_proxy") and not k.startswith(("AWS_", "DREP_", "SSL_", "CURL_"))}
        env.update(HOME=self.home, LC_ALL="C.UTF-8", **dict(more))
        return env

    def read(self, url, hints=(), seconds=10, env=()):
        """(kind, code or digest, message, why it is bad)"""
        hints = list(hints) + (["drep_http_ca=" + self.certificate] if self.certificate else [])
        command = [sys.executable, os.path.join(HERE, "client.py"), os.path.join(BUILD, "libdatarep.so"), url, "/a", str(SIZE)]
        status, out, err = self.tests.run(command + hints, seconds, self.environment(env))
        m = re.match(r"(values|error) (\S+) ?(.*)\npeak (\d+)", out)
        if not m or status:
            return "broken", "", "", "status %d: %s %s" % (status, out, err)
        why = "memory: %s KiB" % m.group(4) if int(m.group(4)) > PEAK else ""
        return m.group(1), m.group(2), m.group(3), why

    def judge(self, name, url, expected, words="", hints=(), seconds=10, env=(), later=False):
        kind, what, message, why = self.read(url, hints, seconds, env)
        clean = re.sub(r"^(\w+://)[^/]*@", r"\1", url).partition("?")[0]
        codes = [str(CODES[c]) for c in expected.split() if c != "values"]
        if kind == "values":
            why = why or ("" if what == self.digest else "wrong values") or ("" if "values" in expected.split() else "no error")
        elif kind == "error":
            why = why or ("" if what in codes else "error %s: %s" % (what, message))
            why = why or ("" if words.lower() in message.lower() else "no \"%s\" in: %s" % (words, message))
            why = why or ("" if clean in message else "no URL in: %s" % message)
            if later and not why and not ('"/a"' in message and re.search(r"\bbytes? \d+", message)):
                why = "no object and byte in: " + message
        self.tests.say(not why, name, why)


def make_file(folder):
    """A file of random bytes in chunks of 64 KiB: (path, digest of its values)."""
    values = random.Random(1).randbytes(SIZE)
    raw, schema, path = (os.path.join(folder, n) for n in ("a.raw", "a.yaml", "file.drep"))
    with open(raw, "wb") as f:
        f.write(values)
    with open(schema, "w", encoding="ascii") as f:
        f.write("datarep: external32\nroot:\n  a: {dataset: UINT8_T, shape: [%d], chunk: [65536]}\n" % SIZE)
    datarep = os.path.join(BUILD, "datarep")
    subprocess.run([datarep, "create", "-s", schema, path], check=True)
    subprocess.run([datarep, "import", "-u", "--format=raw", "-i", "/a", "--type=UINT8_T", "--shape=%d" % SIZE, raw, path],
                   check=True, stdout=subprocess.DEVNULL)
    os.unlink(raw)
    return path, hashlib.sha256(values).hexdigest()


def try_lies(tests, reader, plain, tls):
    for number, (name, hints, expected, words, seconds) in enumerate(LIES):
        for server in (plain, tls):
            if server is tls and not FULL and (name not in TLS_TOO or hints):
                continue
            scheme = "https" if server is tls else "http"
            url = "%s://127.0.0.1:%d/%s/%s%d/file.drep" % (scheme, server.port, name, scheme, number)
            later = not liar.WAYS[name][1] and "values" not in expected.split()
            reader.judge(" ".join(["%s, %s" % (scheme, name)] + hints), url, expected, words, hints, seconds, later=later)


def try_credentials(tests, reader, plain, tls, nginx):
    """They reach the server that was named, and no other."""
    base, secure = "http://127.0.0.1:%d" % nginx.port, "https://127.0.0.1:%d" % nginx.tls
    user = "%s:%s@" % (USER, PASSWORD)
    reader.judge("user part", "https://%s127.0.0.1:%d/private/file.drep" % (user, nginx.tls), "values")
    reader.judge("wrong password", "https://%s127.0.0.1:%d/private/file.drep" % (user.replace("passw", "wrong"), nginx.tls), "ACCESS", "401")
    reader.judge("no password", secure + "/private/file.drep", "ACCESS", "401")
    reader.judge("token", secure + "/token/file.drep", "values", hints=["drep_http_token=" + TOKEN])
    reader.judge("token of the environment", secure + "/token/file.drep", "values",
                 env={"DREP_HTTP_TOKEN": TOKEN, "DREP_HTTP_TOKEN_HOST": "127.0.0.1"})
    reader.judge("token for another host", secure + "/token/file.drep", "ACCESS", "403",
                 env={"DREP_HTTP_TOKEN": TOKEN, "DREP_HTTP_TOKEN_HOST": "example.com"})
    with open(os.path.join(reader.home, ".netrc"), "w", encoding="ascii") as f:
        f.write("machine 127.0.0.1 login %s password %s\n" % (USER, PASSWORD))
    os.chmod(f.name, 0o600)
    reader.judge(".netrc", base + "/private/file.drep", "values")
    reader.judge("query", base + "/file.drep?signature=" + QUERY, "values")
    reader.judge("query and user part in a message", "http://%s127.0.0.1:%d/nothing?signature=%s" % (user, nginx.port, QUERY),
                 "NO_SUCH_FILE", "404")
    for name, url, hints in (
            ("user part", "http://%s127.0.0.1:%d" % (user, plain.port), []),
            ("token", "http://127.0.0.1:%d" % plain.port, ["drep_http_token=" + TOKEN]),
            (".netrc", "http://127.0.0.1:%d" % plain.port, [])):
        token = "credentials%d" % len(plain.asked)
        reader.judge("redirect to another host, %s" % name, "%s/redirect-elsewhere/%s/file.drep?s=%s" % (url, token, QUERY), "values", hints=hints)
        asked = plain.asked[token]
        away = [a for a in asked if "/good/" in a.handler_path]
        home = [a for a in asked if "/good/" not in a.handler_path]
        sent = [a for a in away if "authorization" in a.headers or "cookie" in a.headers or QUERY in str(a.headers)]
        tests.say(bool(away) and not sent, "%s stays with its host" % name, "%d of %d requests have it" % (len(sent), len(away)))
        tests.say(any("authorization" in a.headers for a in home), "%s reaches its host" % name)
    os.unlink(os.path.join(reader.home, ".netrc"))


def try_tls(reader, tls, nginx):
    url = "https://127.0.0.1:%d/file.drep" % nginx.tls
    reader.judge("nginx", "http://127.0.0.1:%d/file.drep" % nginx.port, "values")
    reader.judge("nginx, redirect", "http://127.0.0.1:%d/moved/file.drep" % nginx.port, "values")
    reader.judge("nginx, TLS", url, "values")
    reader.judge("nginx, one request at a time", url, "values", hints=["drep_http_requests=1"])
    reader.judge("nginx, small fetches", url, "values", hints=["drep_fetch_size=65536"])
    reader.judge("nginx, missing file", url.replace("file", "none"), "NO_SUCH_FILE", "404")
    reader.judge("https to http", "https://127.0.0.1:%d/redirect-to-http/down/file.drep" % tls.port, "ACCESS", "https to http")
    certificate, reader.certificate = reader.certificate, ""
    reader.judge("certificate of nobody", url, "ACCESS", "certificate")
    reader.certificate = certificate
    reader.judge("certificate of another name", url.replace("127.0.0.1", "127.0.0.2"), "ACCESS IO", "")
    reader.judge("nobody listens", "http://127.0.0.1:%d/file.drep" % servers.free_port(), "IO", "")
    reader.judge("no host", "http:///file.drep", "ARG IO ACCESS", "")


def try_command(tests, reader, nginx, digest):
    """The command reads URLs as files."""
    url = "http://127.0.0.1:%d/file.drep" % nginx.port
    datarep = os.path.join(BUILD, "datarep")
    p = subprocess.run([datarep, "dump", "--raw", url, "/a"], capture_output=True, env=reader.environment(), timeout=60)
    tests.said.append(p.stderr)
    tests.say(p.returncode == 0 and hashlib.sha256(p.stdout).hexdigest() == digest, "datarep dump --raw URL", p.stderr.decode())
    for words in (["ls", "-r"], ["dump", "-H"], ["check"], ["stat"], ["log"]):
        status, out, err = tests.run([datarep] + words + [url], 20, reader.environment())
        tests.say(status == 0 and (out or words == ["check"]), "datarep %s URL" % " ".join(words), out + err)
    token = {**reader.environment(), "DATAREP_HINTS": "drep_external_urls=https://a.example,https://b.example drep_http_token=" + QUERY}
    status, out, err = tests.run([datarep, "ls", "http://127.evil.example/file.drep"], 20, token)
    tests.say(status == 3 and "https alone" in err, "a name that begins with 127. is no loopback address", "%d %s" % (status, err))
    status, out, err = tests.run([datarep, "refs", "-o", os.devnull, "-f", "--url", url, url + "?s=" + QUERY], 20, reader.environment())
    tests.say("may be secret" not in err, "refs of a URL by its name without the query", "%d %s" % (status, err))
    secret = url.replace("//", "//%s:%s@" % (USER, PASSWORD)).replace("file.drep", "nothing?s=" + QUERY)
    for words in (["ls"], ["dump"], ["check"], ["stat"], ["diff", url]):
        status, out, err = tests.run([datarep] + words + [secret], 20, reader.environment())
        tests.say(status == 3 or status == 4, "datarep %s, missing URL" % words[0], "%d %s %s" % (status, out, err))


def try_counts(tests, reader, nginx, size):
    """What is read in a row comes in few large requests, and no byte of it twice."""
    url = "http://127.0.0.1:%d/file.drep" % nginx.port
    for words, most in (["dump", "--raw", url, "/a"], 8), (["check", "--deep", url], 40):
        before = len(nginx.requests())
        status, _, err = tests.run([os.path.join(BUILD, "datarep")] + words, 20, reader.environment())
        lines = nginx.requests()[before:]
        moved, passes = sum(int(line[3]) for line in lines), 2 if words[0] == "check" else 1
        tests.say(status == 0 and len(lines) <= most and moved <= passes * size + (1 << 20),
                  "datarep %s URL in few requests" % " ".join(words[:2]),
                  "%s\n%d requests, %d bytes of %d" % (err, len(lines), moved, size))


def try_s3(tests, reader, folder, path, tls):
    """Reads from the S3 server, with and without TLS."""
    modules = servers.s3_modules(os.path.join(os.path.dirname(BUILD), "s3rver"))
    for certificate in (None, tls):
        server = servers.S3rver(folder, modules, "bucket", certificate)
        scheme = "https" if certificate else "http"
        endpoint = "%s://127.0.0.1:%d" % (scheme, server.port)
        hints = ["drep_s3_endpoint=" + endpoint, "drep_s3_key=" + server.key, "drep_s3_secret=" + server.secret]
        try:
            put = subprocess.run(["curl", "-sSf", "--cacert", tls[0], "--aws-sigv4", "aws:amz:us-east-1:s3", "-H",
                                  "x-amz-content-sha256: UNSIGNED-PAYLOAD", "--user", "%s:%s" % (server.key, server.secret), "-T", path, endpoint + "/bucket/some/file.drep"],
                                 capture_output=True, check=False)
            tests.say(put.returncode == 0, "S3, %s: put by curl" % scheme, put.stderr.decode())
            reader.judge("S3, %s" % scheme, "s3://bucket/some/file.drep", "values", hints=hints)
            reader.judge("S3, %s, keys of the environment" % scheme, "s3://bucket/some/file.drep", "values",
                         env={"AWS_ACCESS_KEY_ID": server.key, "AWS_SECRET_ACCESS_KEY": server.secret, "AWS_ENDPOINT_URL": endpoint})
            reader.judge("S3, %s, no such key" % scheme, "s3://bucket/none.drep", "NO_SUCH_FILE", "404", hints=hints)
            reader.judge("S3, %s, no such bucket" % scheme, "s3://nobucket/none.drep", "NO_SUCH_FILE ACCESS", "", hints=hints)
            reader.judge("S3, %s, unknown key" % scheme, "s3://bucket/some/file.drep", "ACCESS", "403",
                         hints=[hints[0], "drep_s3_key=" + KEY, hints[2], "drep_s3_session=" + SESSION])
            upload = [os.path.join(BUILD, "datarep"), "convert", path, "s3://bucket/up/loaded.drep"]
            env = reader.environment({"AWS_ACCESS_KEY_ID": server.key, "AWS_SECRET_ACCESS_KEY": server.secret,
                                      "AWS_ENDPOINT_URL": endpoint, "SSL_CERT_FILE": tls[0]})
            status, out, err = tests.run(upload, 60, env)
            tests.say(status == 0, "S3, %s: upload by datarep convert" % scheme, out + err)
            reader.judge("S3, %s, what was uploaded" % scheme, "s3://bucket/up/loaded.drep", "values", hints=hints)
        finally:
            server.stop()


def try_secrets(tests, folder):
    """No output, log or file has a secret in it, except those that the tests themselves gave to a server."""
    secrets = [USER, PASSWORD, TOKEN, QUERY, KEY, SESSION, "wrongordsecret7vzm"]
    forms = [s.encode() for s in secrets]
    forms += [base64.b64encode(("%s:%s" % (USER, PASSWORD)).encode()).rstrip(b"=")]
    given = {os.path.join(folder, n) for n in ("users", "nginx.conf")}
    found = ["output: %r" % out[:300] for out in tests.said if any(s in out for s in forms)]
    files = 0
    for base, _, names in os.walk(folder):
        for path in (os.path.join(base, n) for n in names):
            files += 1
            if path not in given and os.path.isfile(path):
                with open(path, "rb") as f:
                    data = f.read()
                found += ["%s has %s" % (path, s[:6].decode()) for s in forms if s in data]
    tests.say(not found, "no secret in %d outputs and %d files" % (len(tests.said), files), "\n".join(found[:20]))


def main():
    missing = [n for n, there in (("nginx-light", servers.NGINX), ("openssl", shutil.which("openssl")),
                                  ("datarep-http.so, of libcurl4-openssl-dev", os.path.exists(os.path.join(BUILD, "datarep-http.so"))))
               if not there]
    if missing:
        print("1..0 # SKIP not installed: %s" % ", ".join(missing))
        return 0
    tests, folder = Tests(), tempfile.mkdtemp(prefix="remote-")
    root = os.path.join(folder, "root")
    os.makedirs(root)
    path, digest = make_file(root)
    tls = servers.certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*tls)
    with open(path, "rb") as f:
        files = {"file.drep": f.read()}
    plain = liar.Liar(files)
    secure = liar.Liar(files, context)
    plain.elsewhere = secure.elsewhere = "http://localhost:%d" % plain.port
    secure.plain = plain.plain = "http://127.0.0.1:%d" % plain.port
    nginx = servers.Nginx(folder, root, tls, USER, PASSWORD, TOKEN)
    reader = Reader(tests, folder, digest, tls[0])
    try:
        try_tls(reader, secure, nginx)
        try_lies(tests, reader, plain, secure)
        try_credentials(tests, reader, plain, secure, nginx)
        try_command(tests, reader, nginx, digest)
        try_counts(tests, reader, nginx, os.path.getsize(path))
        if FULL:
            try_s3(tests, reader, folder, path, tls)
    finally:
        nginx.stop()
        plain.stop()
        secure.stop()
    try_secrets(tests, folder)
    print("1..%d" % tests.n)
    shutil.rmtree(folder, ignore_errors=True)
    return tests.failed != 0


if __name__ == "__main__":
    sys.exit(main())
