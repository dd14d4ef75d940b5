# SPDX-License-Identifier: MIT
"""servers.py - the servers of the tests: nginx and an S3 server, on free ports of loopback, with and without TLS.

Each is a process of ours that the kernel ends with us.  Standard library only.
"""
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import time

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
S3 = os.path.join(os.path.dirname(os.path.abspath(__file__)), "s3")


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, process, log):
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.05)
    with open(log, errors="replace") as f:
        raise RuntimeError("no server at port %d: %s" % (port, f.read()[-2000:]))


def certificate(folder):
    """A certificate for 127.0.0.1 and localhost that is its own authority: (certificate, key)."""
    paths = os.path.join(folder, "certificate.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-days", "2",
                    "-out", paths[0], "-keyout", paths[1]], check=True, capture_output=True)
    return paths


class Server:
    """A process; stop() ends it."""

    def start(self, command, log, **more):
        self.log = log
        with open(log, "ab") as f:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=f, stderr=f,
                                            preexec_fn=end_with_parent, **more)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


NGINX_CONF = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.err crit;
events {{ worker_connections 512; }}
http {{
    log_format plain '$request_method $uri $status $body_bytes_sent $http_range';
    access_log {folder}/access.log plain;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    sendfile on; tcp_nodelay on; keepalive_requests 1000000; default_type application/octet-stream;
    gzip {gzip}; gzip_types *;
    server {{
        listen 127.0.0.1:{port};
        listen 127.0.0.1:{tls} ssl http2;
        ssl_certificate {certificate}; ssl_certificate_key {key};
        root {root};
        location /private/ {{ alias {root}/; auth_basic "files"; auth_basic_user_file {users}; }}
        location /token/ {{ if ($http_authorization != "Bearer {token}") {{ return 403; }} alias {root}/; }}
        location /moved/ {{ rewrite ^/moved/(.*)$ /$1 redirect; }}
    }}
}}
"""


class Nginx(Server):
    """Serves the files of `root`; those under /private/ for a user, under /token/ for a bearer of it."""

    def __init__(self, folder, root, tls, user="", password="", token="-", gzip="on"):
        self.port, self.tls = free_port(), free_port()
        self.access = os.path.join(folder, "access.log")
        users, conf = os.path.join(folder, "users"), os.path.join(folder, "nginx.conf")
        hashed = subprocess.run(["openssl", "passwd", "-apr1", "-stdin"], input=password, text=True, check=True,
                                capture_output=True).stdout.strip() if user else "-"
        with open(users, "w", encoding="ascii") as f:
            f.write("%s:%s\n" % (user or "-", hashed))
        with open(conf, "w", encoding="ascii") as f:
            f.write(NGINX_CONF.format(folder=folder, root=root, port=self.port, tls=self.tls, certificate=tls[0],
                                      key=tls[1], users=users, token=token, gzip=gzip))
        self.start([NGINX, "-c", conf, "-p", folder, "-e", os.path.join(folder, "nginx.start")],
                   os.path.join(folder, "nginx.out"))
        wait_for(self.port, self.process, self.log)

    def requests(self):
        """Lines of the log: (method, path, status, bytes, range)."""
        with open(self.access, encoding="utf-8", errors="replace") as f:
            return [re.fullmatch(r"(\S+) (.*) (\d+) (\d+) (.*)", line.rstrip("\n")).groups() for line in f]


class S3rver(Server):
    """An S3 server with one bucket; its keys are the library's, since it takes no others.  It verifies no signature of
    version 4: run-signatures.py does."""
    key, secret = "S3RVER", "S3RVER"

    def __init__(self, folder, modules, bucket, tls=None):
        self.port = free_port()
        data = os.path.join(folder, "s3-tls" if tls else "s3")
        command = ["node", os.path.join(modules, "s3rver", "bin", "s3rver.js"), "-d", data, "-a", "127.0.0.1",
                   "-p", str(self.port), "--configure-bucket", bucket]
        if tls:
            command += ["--cert", tls[0], "--key", tls[1]]
        self.start(command, data + ".log")
        wait_for(self.port, self.process, self.log)


def s3_modules(folder):
    """The modules of s3/package-lock.json, installed into a folder once: its node_modules."""
    with open(os.path.join(S3, "package-lock.json"), "rb") as f:
        lock = f.read()
    mark = os.path.join(folder, "package-lock.json")
    if not os.path.exists(os.path.join(folder, "done")) or open(mark, "rb").read() != lock:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(S3, name), folder)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True,
                       stdin=subprocess.DEVNULL, capture_output=True)
        open(os.path.join(folder, "done"), "w").close()
    return os.path.join(folder, "node_modules")
