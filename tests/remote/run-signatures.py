#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-signatures.py - requests to a bucket are signed as Amazon documents it (AWS Signature Version 4).

The server here computes each signature anew from the request as it came, with keys that have characters of all kinds: S3
servers made for tests do not look.
"""
import hashlib
import hmac
import http.server
import os
import re
import subprocess
import threading

DATAREP, TMP = os.environ["DATAREP"], os.environ["TMPDIR"]
KEY, SECRET, SESSION = "AKIDEXAMPLE", "secret/x+y=", "session/en+1=="
wrong, seen, stored = [], [], {}


def digest(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(method, path, headers, signed, date, region):
    """What the header Authorization must end with."""
    path, _, query = path.partition("?")
    canonical = "\n".join([method, path, "&".join(sorted(query.split("&"))) if query else "",
                           "".join("%s:%s\n" % (h, " ".join((headers[h] or "").split())) for h in signed.split(";")),
                           signed, headers["x-amz-content-sha256"]])
    scope = "%s/%s/s3/aws4_request" % (date, region)
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for word in (date, region, "s3", "aws4_request"):
        key = digest(key, word)
    return digest(key, text).hex()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, body=b"", **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=%s/(\d+)/([^/]+)/s3/aws4_request, ?SignedHeaders=([^,]+), ?"
                             r"Signature=(\w+)" % KEY, self.headers.get("Authorization", ""))
        seen.append(self.command)
        before = len(wrong)
        if not match:
            wrong.append("%s %s: no signature" % (self.command, self.path))
        elif signature(self.command, self.path, self.headers, match[3], match[1], match[2]) != match[4]:
            wrong.append("%s %s: a wrong signature over %s" % (self.command, self.path, match[3]))
        elif (self.headers["x-amz-content-sha256"] != "UNSIGNED-PAYLOAD" and
              self.headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest()):
            wrong.append("%s %s: a wrong sum" % (self.command, self.path))
        path, _, query = self.path.partition("?")
        if len(wrong) > before:
            self.answer(403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
        elif self.command == "POST" and query.startswith("uploads"):
            stored[path] = b""
            self.answer(200, b"<Result><UploadId>a+b/c=</UploadId></Result>")
        elif self.command == "POST":
            self.answer(200, b"<Result/>")
        elif self.command == "PUT":
            stored[path] = stored.get(path, b"") + body if query else body
            self.answer(200, ETag='"part"')
        elif path not in stored:
            self.answer(404)
        else:
            first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"]).groups())
            part = stored[path][first:last + 1]
            self.answer(206, part, ETag='"v 1"', Content_Range="bytes %d-%d/%d" % (
                first, first + len(part) - 1, len(stored[path])))

    do_GET = do_PUT = do_POST = do_DELETE = handle_any


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
if not os.path.exists(os.path.join(os.path.dirname(DATAREP), "datarep-http.so")):
    print("1..0 # SKIP built without libcurl")
    raise SystemExit
number = 0
with open(os.path.join(TMP, "x.raw"), "wb") as f:
    f.write(bytes(range(256)) * 46875)
subprocess.run([DATAREP, "import", "--type=DOUBLE", "--shape=1500000", os.path.join(TMP, "x.raw"),
                os.path.join(TMP, "a.drep")], check=True)
for session in ("", SESSION):
    env = {**os.environ, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "eu-west-1",
           "AWS_ENDPOINT_URL": "http://127.0.0.1:%d" % server.server_port, **({"AWS_SESSION_TOKEN": session} if session else {})}
    url = "s3://bucket/a b/\u00fc+&=%d.drep" % number
    for name, words in (("sent", ["convert", os.path.join(TMP, "a.drep"), url]),
                        ("read", ["diff", os.path.join(TMP, "a.drep"), url])):
        number += 1
        del wrong[:], seen[:]
        p = subprocess.run([DATAREP] + words, env=env, capture_output=True, text=True, timeout=60)
        ok = p.returncode == 0 and not wrong and len(seen) > 1 and SECRET not in p.stderr
        print("%s %d - %s%s" % ("ok" if ok else "not ok", number, name, ", with a session" if session else ""))
        if not ok:
            print("\n".join("# " + line for line in wrong[:5] + (p.stdout + p.stderr).splitlines()[:10]))
for words in (["dump", "-H", url], ["convert", os.path.join(TMP, "a.drep"), url]):
    number += 1
    bad = "another/secret+y="
    p = subprocess.run([DATAREP] + words, env={**env, "AWS_SECRET_ACCESS_KEY": bad}, capture_output=True, text=True, timeout=60)
    ok = p.returncode == 3 and "403" in p.stderr and SECRET not in p.stdout + p.stderr and bad not in p.stdout + p.stderr
    print("%s %d - %s with a wrong secret" % ("ok" if ok else "not ok", number, words[0]))
    if not ok:
        print("\n".join("# " + line for line in [str(p.returncode)] + (p.stdout + p.stderr).splitlines()[:10]))
print("1..%d" % number)
