# SPDX-License-Identifier: MIT
"""liar.py - a web server that misbehaves in a named way.

The path of a URL says how: /WAY/TOKEN/NAME.  `first` ways misbehave from the first request on; others answer the first
request of a token well, so that a reader opens the file, and misbehave then.  What was asked is kept by token, headers
and all, in memory alone.  Standard library only.
"""
import collections
import gzip
import http.server
import re
import socket
import socketserver
import ssl
import threading
import time

WAYS = {}  # name: (function, first)
DATE = "Wed, 01 Jan 2025 00:00:00 GMT"


def way(name, first=False):
    def enter(function):
        WAYS[name] = (function, first)
        return function
    return enter


class Asked:
    """A request, and how it is answered."""

    def __init__(self, handler, name, token):
        self.handler, self.handler_path, self.token = handler, handler.path, token
        self.data = handler.server.files[name]
        self.headers = dict((k.lower(), v) for k, v in handler.headers.items())
        m = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", ""))
        self.first = int(m.group(1)) if m else 0
        self.last = min(int(m.group(2)), len(self.data) - 1) if m and m.group(2) else len(self.data) - 1
        self.ranged = m is not None
        with handler.server.lock:
            self.before = handler.server.asked[token]
            self.number = len(self.before)  # of the requests with this token
            self.before.append(self)

    def head(self, status, reason, fields):
        lines = ["HTTP/1.1 %d %s" % (status, reason)] + ["%s: %s" % f for f in fields]
        self.handler.wfile.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    def part(self):
        return self.data[self.first:self.last + 1]

    def good(self, data=None, tag='"1"', body=None, span=None, length=None, more=()):
        """A right answer, except for what is given."""
        data = self.data if data is None else data
        body = data[self.first:self.last + 1] if body is None else body
        first, last = span or (self.first, self.last)
        fields = [("Content-Type", "application/octet-stream"), ("Accept-Ranges", "bytes"),
                  ("Content-Length", len(body) if length is None else length)]
        fields += [("ETag", tag), ("Last-Modified", DATE)] if tag else []
        fields += more
        if self.ranged:
            self.head(206, "Partial Content", fields + [("Content-Range", "bytes %d-%d/%d" % (first, last, len(data)))])
        else:
            self.head(200, "OK", fields)
        self.handler.wfile.write(body)

    def status(self, status, reason, fields=()):
        self.head(status, reason, [("Content-Length", 0)] + list(fields))

    def cut(self):
        """End the connection here."""
        self.handler.close_connection = True


@way("good", first=True)
def good(a):
    a.good()


@way("no-validators", first=True)
def no_validators(a):
    a.good(tag=None)


@way("weak-etag", first=True)
def weak_etag(a):
    if "if-match" in a.headers:  # a weak one never matches (RFC 9110, 13.1.1)
        return a.status(412, "Precondition Failed")
    return a.good(tag='W/"1"')


@way("ignores-range", first=True)
def ignores_range(a):
    a.ranged, a.first, a.last = False, 0, len(a.data) - 1
    a.good()


@way("later-200")
def later_200(a):
    ignores_range(a)


@way("wrong-range")
def wrong_range(a):
    a.good(span=(a.first + 512, a.last + 512), body=a.data[a.first + 512:a.last + 513])


@way("wrong-range-at-once", first=True)
def wrong_range_at_once(a):
    wrong_range(a)


@way("no-content-range")
def no_content_range(a):
    body = a.part()
    a.head(206, "Partial Content", [("Content-Length", len(body)), ("ETag", '"1"')])
    a.handler.wfile.write(body)


@way("absurd-range", first=True)
def absurd_range(a):
    body = a.part()
    a.head(206, "Partial Content", [("Content-Length", len(body)), ("ETag", '"1"'),
                                    ("Content-Range", "bytes 0-99999999999999999999999/-1")])
    a.handler.wfile.write(body)


@way("shorter-body")
def shorter_body(a):
    """Fewer bytes than Content-Range says, every time; Content-Length agrees with the body."""
    a.good(body=a.part()[:len(a.part()) // 2])


@way("longer-body")
def longer_body(a):
    a.good(body=a.part() + bytes(100000))


@way("endless-body")
def endless_body(a):
    endless(a, 206)


@way("endless-body-at-once", first=True)
def endless_body_at_once(a):
    endless(a, 200)


def endless(a, status):
    a.head(status, "OK", [("Transfer-Encoding", "chunked"), ("ETag", '"1"'),
                          ("Content-Range", "bytes %d-%d/%d" % (a.first, a.last, len(a.data)))])
    while True:
        a.handler.wfile.write(b"10000\r\n" + bytes(65536) + b"\r\n")


@way("endless-headers", first=True)
def endless_headers(a):
    a.handler.wfile.write(b"HTTP/1.1 206 Partial Content\r\n")
    while True:
        a.handler.wfile.write(b"X-More: " + b"x" * 1000 + b"\r\n")


@way("huge-header", first=True)
def huge_header(a):
    a.good(more=[("X-More", "x" * 200000)])


@way("one-byte-a-second")
def one_byte_a_second(a):
    body = a.part()
    a.head(206, "Partial Content", [("Content-Length", len(body)), ("ETag", '"1"'), ("Last-Modified", DATE),
                                    ("Content-Range", "bytes %d-%d/%d" % (a.first, a.last, len(a.data)))])
    for i in range(len(body)):
        a.handler.wfile.write(body[i:i + 1])
        time.sleep(1)


@way("silent", first=True)
def silent(a):
    a.handler.server.ending.wait(60)
    a.cut()


@way("changed-etag")
def changed_etag(a):
    """Another version, by a server that does not look at If-Match."""
    a.good(tag='"2"')


@way("changed-412")
def changed_412(a):
    """Another version, by a server that does."""
    return a.status(412, "Precondition Failed") if a.headers.get("if-match", '"2"') != '"2"' else a.good(tag='"2"')


@way("changed-size")
def changed_size(a):
    a.good(data=a.data + bytes(4096), tag='"1"')


@way("changed-content")
def changed_content(a):
    """Other bytes under the same ETag: only checksums can tell."""
    a.good(data=bytes(b ^ 0x40 for b in a.data[:a.last + 1]) + a.data[a.last + 1:])


@way("redirect-loop", first=True)
def redirect_loop(a):
    a.status(302, "Found", [("Location", a.handler.path)])


@way("redirect-longer", first=True)
def redirect_longer(a):
    """Always another place."""
    a.status(307, "Temporary Redirect", [("Location", a.handler.path + "x")])


@way("redirect-to-http", first=True)
def redirect_to_http(a):
    a.status(301, "Moved Permanently", [("Location", "%s/good/%s/file.drep" % (a.handler.server.plain, a.token))])


@way("redirect-elsewhere", first=True)
def redirect_elsewhere(a):
    a.status(302, "Found", [("Location", "%s/good/%s/file.drep" % (a.handler.server.elsewhere, a.token))])


@way("redirect-near", first=True)
def redirect_near(a):
    a.status(308, "Permanent Redirect", [("Location", "../../good/%s/file.drep" % a.token)])


@way("redirect-to-file", first=True)
def redirect_to_file(a):
    a.status(302, "Found", [("Location", "file:///etc/hostname")])


@way("redirect-nowhere", first=True)
def redirect_nowhere(a):
    a.status(302, "Found")


@way("busy", first=True)
def busy(a):
    """503 for every request but each third."""
    return a.good() if a.number % 3 == 2 else a.status(503, "Service Unavailable", [("Retry-After", 0)])


@way("always-busy")
def always_busy(a):
    a.status(503, "Service Unavailable", [("Retry-After", "999999999999")])


@way("cut-once")
def cut_once(a):
    """Every second answer ends in the middle."""
    if a.number % 2 == 0:
        return a.good()
    a.good(body=a.part()[:len(a.part()) // 2], length=a.last - a.first + 1)
    return a.cut()


@way("cut-always")
def cut_always(a):
    a.good(body=a.part()[:100], length=a.last - a.first + 1)
    a.cut()


@way("gzip")
def gzipped(a):
    a.good(body=gzip.compress(a.part()), more=[("Content-Encoding", "gzip")])


@way("gzip-at-once", first=True)
def gzip_at_once(a):
    gzipped(a)


@way("closes", first=True)
def closes(a):
    """A connection for each request, and no word about it."""
    a.good()
    a.cut()


@way("no-http", first=True)
def no_http(a):
    a.handler.wfile.write(b"220 mail.example ESMTP\r\n" * 100)
    a.cut()


@way("missing", first=True)
def missing(a):
    a.status(404, "Not Found")


@way("forbidden", first=True)
def forbidden(a):
    a.status(403, "Forbidden")


@way("gone-later")
def gone_later(a):
    a.status(404, "Not Found")


@way("empty", first=True)
def empty(a):
    a.status(200, "OK", [("ETag", '"1"')])


@way("no-range-possible", first=True)
def no_range_possible(a):
    a.status(416, "Range Not Satisfiable", [("Content-Range", "bytes */0")])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self):
        _, name, token, file = self.path.partition("?")[0].rstrip("x").split("/")
        asked = Asked(self, file, token)
        function, first = WAYS[name]
        try:
            (function if first or asked.number else good)(asked)
        except (OSError, ssl.SSLError):  # the reader has had enough
            self.close_connection = True

    def log_message(self, *_):
        pass


class Liar(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """On a free port of loopback, in threads; stop() ends it."""
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, files, context=None, asked=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.context = files, context
        self.asked = collections.defaultdict(list) if asked is None else asked
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.port = self.server_address[1]
        self.plain = self.elsewhere = ""  # of whoever redirects
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def get_request(self):
        connection, address = super().get_request()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection, address

    def finish_request(self, request, client_address):
        if not self.context:
            super().finish_request(request, client_address)
            return
        request.settimeout(30)
        try:  # in the thread of the connection
            with self.context.wrap_socket(request, server_side=True) as wrapped:
                super().finish_request(wrapped, client_address)
        except (OSError, ssl.SSLError):
            pass

    def handle_error(self, request, client_address):
        pass

    def stop(self):
        self.ending.set()
        self.shutdown()
        self.server_close()
