#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 300
"""run-server.py - the server of `datarep view`: whom it lets in, what it sends, what it refuses, and what it survives.

The command runs from a folder of its own with a page of three small files, so that neither Node nor a browser is needed.
"""
import atexit
import http.client
import http.server
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RELEASE = os.path.join(os.environ.get("BUILDDIR", os.path.join(ROOT, "build")), "release")
TMP = tempfile.mkdtemp(prefix="datarep-server-")  # of its own: it may run twice on one machine
atexit.register(shutil.rmtree, TMP, ignore_errors=True)
FILE = os.path.join(ROOT, "tests", "vectors", "runs.drep")
cases = 0


def case(good, what, why=""):
    global cases
    cases += 1
    print(f"{'ok' if good else 'not ok'} {cases} - {what}", flush=True)
    if not good and why:
        print(f"# {why}")


class Server:
    """The command, with its address, its code and the cookie that the code gives."""

    def __init__(self, home, *arguments):
        self.runtime = os.path.join(home, "run")
        self.process = subprocess.Popen(
            [os.path.join(home, "bin", "datarep"), "view", "--no-browser", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "XDG_RUNTIME_DIR": self.runtime})
        first, second = self.process.stdout.readline(), self.process.stdout.readline()
        if not second:
            raise RuntimeError(self.process.stderr.read())
        self.port = int(re.search(r":(\d+)/", first).group(1))
        self.code = second.split()[1]
        self.cookie = None

    def ask(self, path, method="GET", body=None, cookie=True, host=None, **headers):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {k.replace("_", "-"): v for k, v in headers.items()}
        headers["Host"] = host or f"127.0.0.1:{self.port}"
        if cookie and self.cookie:
            headers["Cookie"] = self.cookie if cookie is True else cookie
        c.request(method, path, body, headers)
        r = c.getresponse()
        r.data = r.read()
        c.close()
        return r

    def raw(self, text, wait=5):
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as s:
            s.sendall(text)
            answer = b""
            try:
                while piece := s.recv(65536):
                    answer += piece
            except (TimeoutError, ConnectionError):
                pass
        return answer

    def enter(self, code=None, **headers):
        return self.ask("/enter", "POST", "code=" + (self.code if code is None else code), cookie=False, **headers)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=20)


def make_home():
    home = os.path.join(TMP, "home")
    for folder in ("bin", "run", "web/www/assets"):
        os.makedirs(os.path.join(home, folder))
    for name in ("datarep", "datarep-view.so"):
        shutil.copy(os.path.join(RELEASE, name), os.path.join(home, "bin", name))
    for name, text in (("index.html", "<meta content=\"connect-src 'self'; \">page"), ("assets/a.js", "1"), ("assets/b.wasm", "w"),
                       ("assets/.hidden.js", "h"), ("assets/c.sh", "s"), ("LICENSES.txt", "l")):
        with open(os.path.join(home, "web/www", name), "w", encoding="utf-8") as f:
            f.write(text)
    with open(os.path.join(home, "web", "secret.js"), "w", encoding="utf-8") as f:
        f.write("secret")
    return home


def entering(s):
    way = [f for f in os.listdir(s.runtime) if f.startswith("datarep-view-")]
    path = os.path.join(s.runtime, way[0])
    case(len(way) == 1 and stat.S_IMODE(os.stat(path).st_mode) == 0o600, "the file that opens the browser is for this user alone")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    case(s.code in text and f"http://127.0.0.1:{s.port}/enter" in text, "it posts the code")
    with open(f"/proc/{s.process.pid}/cmdline", encoding="utf-8") as f:
        case(s.code not in f.read(), "no argument of the command has the code")
    r = s.ask("/")
    case(r.status == 401 and b"code" in r.data, "without a cookie the page asks for the code", r.status)
    case(s.ask("/files.json").status == 401 and s.ask("/data/0").status == 401 and s.ask("/assets/a.js").status == 401,
         "without a cookie there is nothing else")
    case(s.enter("wrong" * 4).status == 403 and s.enter("").status == 403, "a wrong code is refused")
    hidden = {s.enter("a" * 20, **headers).status for _ in range(30)
              for headers in ({"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}, {"Origin": "null", "Sec_Fetch_Site": "cross-site"})}
    foreign = {s.enter("a" * 20, Origin=f"http://{host}").status for _ in range(30) for host in ("evil.example", "127.0.0.1:1", "localhost")}
    case(hidden == {403} and foreign == {403}, "270 wrong codes from pages of other sites are refused")
    case(s.enter(Origin="https://evil.example").status == 403, "the right code is, too, from there")
    r = s.enter(Origin="null", Sec_Fetch_Site="cross-site")  # as the file that opens the browser sends it
    given = r.getheader("Set-Cookie") or ""
    case(r.status == 200, "and the user is not locked out by them", r.status)
    case(r.status == 200 and "HttpOnly" in given and "SameSite=Strict" in given and str(s.port) in given.split("=")[0],
         "the code gives a cookie: HttpOnly, SameSite=Strict, named by the port", given)
    s.cookie = given.split(";")[0]
    case(s.enter().status == 403, "the code is good once")
    case(s.ask("/").status == 200, "with the cookie the page comes")
    name = s.cookie.split("=")[0]
    case(s.ask("/", cookie=name + "=" + "a" * 27).status == 401 and s.ask("/", cookie=s.cookie[:-1]).status == 401
         and s.ask("/", cookie=s.cookie + "a").status == 401, "with another cookie it does not")


def hosts(s):
    bad = ["evil.example", f"evil.example:{s.port}", "127.0.0.1", "localhost", f"127.0.0.1:{s.port + 1}", f"127.0.0.1:{s.port}.evil",
           f"[::1]:{s.port}", f"0.0.0.0:{s.port}", f"127.0.0.2:{s.port}", f"user@127.0.0.1:{s.port}", f"127.0.0.1:0{s.port}"]
    answers = {h: s.ask("/files.json", host=h).status for h in bad}
    case(set(answers.values()) <= {400, 403}, "a Host that is not ours is refused", answers)
    case(s.ask("/", host=f"localhost:{s.port}").status == 200, "localhost is ours")
    cookie = s.cookie.encode()
    two = s.raw(b"GET /files.json HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nHost: evil\r\nCookie: %s\r\nConnection: close\r\n\r\n" % (s.port, cookie))
    none = s.raw(b"GET /files.json HTTP/1.1\r\nCookie: %s\r\nConnection: close\r\n\r\n" % cookie)
    old = s.raw(b"GET /files.json HTTP/1.0\r\nCookie: %s\r\n\r\n" % cookie)
    case(all(re.match(rb"HTTP/1\.\d 40[03]", a) or not a for a in (two, none, old)), "two Hosts and none are refused", (two, none, old))


def paths(s):
    bad = ["/../secret.js", "/assets/../../secret.js", "/..%2fsecret.js", "/%2e%2e/secret.js", "/assets/%2e%2e/%2e%2e/secret.js", "/./index.html",
           "//index.html", "/assets", "/assets/", "/assets/.hidden.js", "/assets/c.sh", "/etc/passwd", "/data", "/data/", "/data/1", "/data/00",
           "/data/-1", "/data/0/", "/data/0x0", "/data/99999999999999999999", "/data/../data/0", "/data/0%00", "/index.html%00.js", FILE,
           "/data/" + FILE, "/a" * 2000]
    answers = {p[:60]: s.ask(p).status for p in bad}
    case(all(a in (400, 404, 414, 431) for a in answers.values()), "nothing but the files of the page and the numbers of files", answers)
    case(s.ask("/assets/a.js").data == b"1" and s.ask("/index.html").status == 200, "those are there")
    headers = {k.lower(): v for k, v in s.ask("/").getheaders()}
    wanted = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cross-origin-resource-policy": "same-origin",
              "cross-origin-opener-policy": "same-origin", "x-frame-options": "DENY"}
    case(all(headers.get(k) == v for k, v in wanted.items()) and "access-control-allow-origin" not in headers, "headers forbid use by others", headers)
    policy = headers.get("content-security-policy", "")
    case("default-src 'none'" in policy and "unsafe-inline" not in policy and "'unsafe-eval'" not in policy, "the policy has no exception", policy)
    case(s.ask("/assets/b.wasm").getheader("Content-Type") == "application/wasm", "wasm has its media type")
    answers = {m: s.ask("/data/0", m).status for m in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH")}
    case(set(answers.values()) <= {405}, "methods that change something are refused", answers)


def ranges(s):
    with open(FILE, "rb") as f:
        data = f.read()
    n = len(data)
    r = s.ask("/data/0")
    tag = r.getheader("ETag")
    case(r.status == 200 and r.data == data and r.getheader("Accept-Ranges") == "bytes" and r.getheader("Cache-Control") == "no-store", "a whole file")
    case(tag and re.fullmatch(r'"[0-9a-f-]+"', tag), "its ETag is strong", tag)
    r = s.ask("/data/0", "HEAD")
    case(r.status == 200 and r.data == b"" and int(r.getheader("Content-Length")) == n, "HEAD has its size")
    good = {"bytes=0-0": (0, 1), "bytes=0-65535": (0, 65536), f"bytes={n - 1}-{n - 1}": (n - 1, n), "bytes=100-": (100, n), "bytes=-10": (n - 10, n),
            f"bytes=5-{2 * n}": (5, n), f"bytes=-{2 * n}": (0, n), "bytes=0-9223372036854775000": (0, n)}
    answers = {}
    for text, (a, b) in good.items():
        r = s.ask("/data/0", Range=text)
        answers[text] = (r.status == 206 and r.data == data[a:b] and r.getheader("Content-Range") == f"bytes {a}-{b - 1}/{n}"
                         and r.getheader("ETag") == tag)
    case(all(answers.values()), "one range: 206, its bytes, Content-Range and ETag", answers)
    bad = [f"bytes={n}-", f"bytes={n}-{n}", "bytes=5-4", "bytes=-0", "bytes=0-1,3-4", "bytes=" + ",".join(f"{i}-{i}" for i in range(500)), "bytes=",
           "bytes=-", "bytes=a-b", "bytes=0-1x", "items=0-1", "bytes=99999999999999999999999-", "bytes= 0-1", "bytes=0--1"]
    answers = {t[:40]: (r := s.ask("/data/0", Range=t)).status == 416 and r.getheader("Content-Range") == f"bytes */{n}" for t in bad}
    case(all(answers.values()), "several ranges, ranges outside and no ranges: 416 with the size", answers)
    case(s.ask("/data/0", Range="bytes=0-9", If_Range=tag).status == 206 and s.ask("/data/0", Range="bytes=0-9", If_Range='"other"').status == 412,
         "If-Range of another version is refused")


def misuse(s):
    begin = time.monotonic()
    held = []
    for _ in range(1000):
        try:
            held.append(socket.create_connection(("127.0.0.1", s.port), timeout=1))
        except OSError:
            break
    case(s.process.poll() is None and len(held) >= 400, f"{len(held)} connections at once: the command goes on")
    for c in held[300:]:
        c.close()
    case(s.ask("/files.json").status == 200, "with 300 silent ones another is answered")
    rss = int(re.search(r"VmRSS:\s*(\d+)", open(f"/proc/{s.process.pid}/status", encoding="utf-8").read()).group(1))
    case(rss < 100 << 10, f"its memory is bounded: {rss >> 10} MiB")
    while time.monotonic() - begin < 60 and held[:300]:
        held[0].settimeout(25)
        try:
            gone = held[0].recv(1) == b""
        except TimeoutError:
            gone = False
        except OSError:
            gone = True
        break
    case(gone, f"a client that says nothing is given up after {time.monotonic() - begin:.0f} s")
    for c in held[:300]:
        c.close()
    slow = s.raw(b"GET /data/0 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX: " % s.port, 1)
    huge = s.raw(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX: " % s.port + b"a" * 100000 + b"\r\n\r\n")
    body = s.raw(b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 1000000\r\n\r\n" % s.port + b"code=" * 20000)
    case(slow == b"" and (not huge or b" 4" in huge[:15]) and (not body or b" 4" in body[:15]), "half a request, a huge header, a huge body",
         (slow, huge[:40], body[:40]))
    garbage = [s.raw(os.urandom(200), 1) for _ in range(20)]
    case(all(not g or b" 400 " in g[:20] or b" 505 " in g[:20] for g in garbage) and s.ask("/").status == 200, "garbage")


class Remote(http.server.BaseHTTPRequestHandler):
    """A web server that has one file, by ranges."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        with open(FILE, "rb") as f:
            data = f.read()
        m = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        a, b = (int(m[1]), min(int(m[2]), len(data) - 1)) if m else (0, len(data) - 1)
        self.send_response(206 if m else 200)
        self.send_header("Content-Length", str(b - a + 1))
        self.send_header("ETag", '"one"')
        if m:
            self.send_header("Content-Range", f"bytes {a}-{b}/{len(data)}")
        self.end_headers()
        self.wfile.write(data[a:b + 1])


def urls(home):
    if not os.path.exists(os.path.join(RELEASE, "datarep-http.so")):
        case(True, "a URL # SKIP built without libcurl")
        return
    shutil.copy(os.path.join(RELEASE, "datarep-http.so"), os.path.join(home, "bin"))
    remote = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Remote)
    threading.Thread(target=remote.serve_forever, daemon=True).start()
    s = Server(home, f"http://user:password@127.0.0.1:{remote.server_port}/folder/runs.drep?signature=secret")
    s.cookie = s.enter().getheader("Set-Cookie").split(";")[0]
    with open(FILE, "rb") as f:
        data = f.read()
    r = s.ask("/data/0", Range="bytes=100-70000")
    case(r.status == 206 and r.data == data[100:70001] and r.getheader("Content-Range") == f"bytes 100-70000/{len(data)}", "a URL, by ranges")
    with open(f"/proc/{s.process.pid}/cmdline", encoding="utf-8") as f:
        shown = f.read() + s.ask("/files.json").data.decode()
    case("runs.drep" in shown and "password" not in shown and "secret" not in shown, "its user part and query are not shown", shown)
    s.end()
    remote.shutdown()


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job of a shell in the background ignores it, and so would the command
    if not os.path.exists(os.path.join(RELEASE, "datarep-view.so")):
        print("1..0 # SKIP built without libmicrohttpd")
        return
    home = make_home()
    s = Server(home, FILE)
    for part in (entering, hosts, paths, ranges, misuse):
        part(s)
    case(b"runs.drep" in s.ask("/files.json").data, "the list of files names it")
    guesses = [s.enter("a" * 20).status for _ in range(30)]
    case(set(guesses) == {403}, "codes cannot be guessed one after the other")
    case(s.end() == -signal.SIGTERM and not os.listdir(s.runtime), "a signal ends the command, and its file is gone")

    copy = os.path.join(TMP, "own <b>\u202e.drep")
    shutil.copy(FILE, copy)
    s = Server(home, copy, FILE)
    s.cookie = s.enter().getheader("Set-Cookie").split(";")[0]
    before = s.ask("/data/0").getheader("ETag")
    with open(copy, "r+b") as f:
        f.seek(40)
        f.write(b"\xff")
    case(before != s.ask("/data/0").getheader("ETag") and s.ask("/data/1").status == 200, "another commit has another ETag")
    os.truncate(copy, 10)
    case(s.ask("/data/0", Range="bytes=0-100").data != b"" and s.ask("/data/1").status == 200, "a file that became shorter harms nobody")
    case(s.end(signal.SIGINT) == -signal.SIGINT, "so does Ctrl-C")
    for pause in (0, 0.001, 0.002, 0.005, 0.01):  # timeout(1) sends two; the second is the end, whatever is under way
        s = Server(home, FILE)
        s.process.send_signal(signal.SIGTERM)
        time.sleep(pause)
        ended = s.end()
        case(ended == -signal.SIGTERM and not os.listdir(s.runtime), f"a second signal after {pause} s leaves nothing", f"{ended} {os.listdir(s.runtime)}")

    for arguments, status in (([TMP + "/absent.drep"], 3), ([TMP], 3), ([__file__], 4), (["--port=0", FILE], 2), (["--port=x", FILE], 2), ([], 2)):
        r = subprocess.run([home + "/bin/datarep", "view", "--no-browser", *arguments], capture_output=True, text=True, timeout=20, check=False)
        case(r.returncode == status and r.stderr and not r.stdout, f"view {' '.join(map(os.path.basename, arguments))}: status {status}",
             f"{r.returncode} {r.stderr}")
    urls(home)
    site = os.path.join(TMP, "site")
    r = subprocess.run([home + "/bin/datarep", "view", "--export", site, FILE, FILE], capture_output=True, text=True, timeout=20, check=False)
    case(r.returncode == 0 and sorted(os.listdir(site)) == ["0-runs.drep", "1-runs.drep", "LICENSES.txt", "assets", "files.json", "index.html"],
         "--export writes page, files and their list", r.stderr)
    r = subprocess.run([home + "/bin/datarep", "view", "--export", site, FILE], capture_output=True, text=True, timeout=20, check=False)
    case(r.returncode == 3, "--export replaces nothing", r.stderr)
    print(f"1..{cases}")


if __name__ == "__main__":
    try:
        main()
    except Exception as e:  # pylint: disable=broad-except
        print(f"not ok {cases + 1} - the test itself: {e!r}")
        print(f"1..{cases + 1}")
        sys.exit(1)
