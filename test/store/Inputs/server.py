#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command with a stock server for a store on this machine.

  server.py nginx [--tls [--document=FILE]] [--room=FOLDER] -- COMMAND...
  server.py redis [--password] -- COMMAND...
  server.py freeze

Starts nginx or redis-server on free ports at 127.0.0.1 with a folder of its own, waits
until it listens, runs COMMAND, and stops the server by process id, however COMMAND
ended. The exit code is COMMAND's, which gets

  STORE          the server's folder
  HTTP           the URL of nginx, without a path
  REDIS          the URL of redis-server

With --tls, there are also HTTPS; EXPIRED and OTHER_NAME, which have such certificates;
and MUTUAL, which requires one of the client. STORE then has ca.pem, which signed all
of them, other.pem, another authority, client.pem, client.key, stranger.pem and
stranger.key (of the other authority), and locked.key, which has a password.

nginx has these paths:

  /cache         a store in files, in STORE/contents
  /room          one in FOLDER
  /readonly      one in a folder that can't be written to
  /small         accepts at most 1 MiB
  /token         requires the bearer token of STORE/token
  /basic         requires the user and password of STORE/netrc
  /header        requires the header X-Store with the token of STORE/token
  /moved-token   redirects to /token
  /other-token, /other-header
                 redirect to /token and /header at another name of the server
  /moved, /loop, /away, /busy
                 redirects to /cache, to itself and to HTTP's /cache; status 503

With --document=FILE, HTTPS has the paths of the configuration in that document instead.

With --password, redis-server requires the one in STORE/password, of the user default
or of the user `linker`, who has the one in STORE/linker.

`server.py freeze`, as a part of COMMAND, stops the server with SIGSTOP.
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import daemons

# In Debian, nginx is only in root's PATH.
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
START_LIMIT = 60

NGINX = """
{user}
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/log warn;
events {{ worker_connections 64; }}
http {{
  log_format short "$connection $request_method $status";
  access_log {folder}/access.log short;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  client_max_body_size 64m;
  default_type application/octet-stream;
  map $http_authorization $has_token {{ default 0; "Bearer {token}" 1; }}
  dav_methods PUT;
  create_full_put_path on;
  server {{ listen 127.0.0.1:{http}; include {folder}/paths; }}
  {tls}
}}
"""
TLS = """
  ssl_certificate_key {folder}/server.key;
  ssl_certificate {folder}/server.pem;
  {document}
  server {{ listen 127.0.0.1:{mutual} ssl; include {folder}/paths;
    ssl_verify_client on; ssl_client_certificate {folder}/ca.pem; }}
  server {{ listen 127.0.0.1:{expired} ssl; include {folder}/paths;
    ssl_certificate {folder}/expired.pem; ssl_certificate_key {folder}/expired.key; }}
  server {{ listen 127.0.0.1:{other_name} ssl; include {folder}/paths;
    ssl_certificate {folder}/elsewhere.pem; ssl_certificate_key {folder}/elsewhere.key; }}
"""
PATHS = """
root {folder}/contents;
location /cache/ {{ }}
location /readonly/ {{ }}
location /small/ {{ client_max_body_size 1m; }}
location /room/ {{ alias {room}/; }}
location /token/ {{ if ($has_token = 0) {{ return 401; }} }}
location /basic/ {{ auth_basic store; auth_basic_user_file {folder}/users; }}
location /header/ {{ if ($http_x_store != "{token}") {{ return 401; }} }}
location /moved-token/ {{ rewrite ^/moved-(.*)$ /$1 redirect; }}
location /other-token/ {{ rewrite ^/other-(.*)$ http://localhost:{http}/$1 redirect; }}
location /other-header/ {{ rewrite ^/other-(.*)$ http://localhost:{http}/$1 redirect; }}
location /moved/ {{ rewrite ^/moved/(.*)$ /cache/$1 redirect; }}
location /loop/ {{ return 307 $request_uri; }}
location /away/ {{ rewrite ^/away/(.*)$ http://127.0.0.1:{http}/cache/$1 redirect; }}
location /busy/ {{ return 503; }}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def write(name, text):
    with open(name, "w") as f:
        f.write(text)


def make_certificates(folder):
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)

    new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    for name in "ca", "other":
        openssl(*new, "-x509", "-days", "2", "-subj", "/CN=" + name, "-keyout",
                name + ".key", "-out", name + ".pem")
    # OpenSSL before 3.4 has no option for the first day, and later versions refuse a
    # last day before it.
    options = subprocess.run(["openssl", "x509", "-help"], capture_output=True, text=True)
    expired = ["-days", "-1"]
    if "-not_before" in options.stderr + options.stdout:
        expired = ["-not_before", "20200101000000Z", "-not_after", "20200102000000Z"]
    valid = ["-days", "2"]
    for name, ca, address, dates in (
            ("server", "ca", "IP:127.0.0.1", valid),
            ("elsewhere", "ca", "DNS:elsewhere.example.com", valid),
            ("expired", "ca", "IP:127.0.0.1", expired),
            ("client", "ca", "DNS:client", valid),
            ("stranger", "other", "DNS:client", valid)):
        write(folder + "/names", "subjectAltName=" + address + "\n")
        openssl(*new, "-subj", "/CN=" + name, "-keyout", name + ".key", "-out",
                name + ".csr")
        openssl("x509", "-req", *dates, "-in", name + ".csr", "-CA", ca + ".pem",
                "-CAkey", ca + ".key", "-CAcreateserial", "-extfile", "names",
                "-out", name + ".pem")
    openssl("pkey", "-aes256", "-in", "client.key", "-passout", "pass:secret",
            "-out", "locked.key")


def read_document(name, values):
    """Returns a server's configuration, that of a document if there is one, with the
    test's own folder and port."""
    if not name:
        return "server {{ listen 127.0.0.1:{https} ssl; include {folder}/paths; }}".format(
            **values)
    with open(name) as f:
        text = f.read().partition("```nginx\n")[2].partition("```")[0]
    for old, new in (("listen 443 ssl", "listen 127.0.0.1:{https} ssl"),
                     ("/etc/nginx/cache.", "{folder}/server."),
                     ("/srv/dtlto", "{folder}/contents")):
        if old not in text:
            raise daemons.Error("%s lacks '%s'" % (name, old))
        text = text.replace(old, new.format(**values))
    return text


class Server(daemons.Server):
    def __init__(self, folder, opts):
        self.folder = folder
        self.log = folder + "/log"
        self.name = opts.kind
        self.env = {"STORE": folder}
        os.mkdir(folder + "/contents")
        getattr(self, "prepare_" + opts.kind)(opts)

    def prepare_nginx(self, opts):
        write(self.folder + "/token", "token-of-the-store\n")
        write(self.folder + "/users", "linker:{PLAIN}password-of-the-linker\n")
        write(self.folder + "/netrc", "machine 127.0.0.1 login linker password "
                                      "password-of-the-linker\n")
        write(self.folder + "/wrong-netrc", "machine 127.0.0.1 login linker "
                                            "password another-password\n")
        names = ["http"]
        if opts.tls:
            names += ["https", "mutual", "expired", "other_name"]
            make_certificates(self.folder)
        ports = {name: free_port() for name in names}
        self.port = ports["http"]
        for name, port in ports.items():
            self.env[name.upper()] = "http%s://127.0.0.1:%d" % (
                "" if name == "http" else "s", port)
        room = os.path.abspath(opts.room) if opts.room else self.folder
        values = dict(ports, folder=self.folder, room=room, token="token-of-the-store")
        values["tls"] = ""
        if opts.tls:
            values["document"] = read_document(opts.document, values)
            values["tls"] = TLS.format(**values)
        # The room may be in a namespace that has no other user.
        values["user"] = "user root;" if opts.room and os.geteuid() == 0 else ""
        write(self.folder + "/nginx.conf", NGINX.format(**values))
        write(self.folder + "/paths", PATHS.format(**values))
        for name in "cache", "token", "basic", "header":
            os.mkdir(self.folder + "/contents/" + name)
            # As root, nginx writes as another user.
            os.chmod(self.folder + "/contents/" + name, 0o777)
        os.mkdir(self.folder + "/contents/readonly", 0o555)
        self.command = [shutil.which("nginx", path=PATH) or "nginx", "-p", self.folder,
                        "-e", self.log, "-c", self.folder + "/nginx.conf"]

    def prepare_redis(self, opts):
        self.port = free_port()
        self.env["REDIS"] = "redis://127.0.0.1:%d" % self.port
        settings = ["port %d" % self.port, "bind 127.0.0.1", "dir " + self.folder,
                    "logfile " + self.log, 'save ""', "daemonize no",
                    # Debian's redis-server may be built with systemd support.
                    "supervised no"]
        if opts.password:
            write(self.folder + "/password", "password-of-redis\n")
            write(self.folder + "/linker", "password-of-the-linker\n")
            settings += ["requirepass password-of-redis",
                         "user linker on >password-of-the-linker ~dtlto:* "
                         "+getrange +set +select"]
        write(self.folder + "/redis.conf", "\n".join(settings) + "\n")
        self.command = ["redis-server", self.folder + "/redis.conf"]

    def start(self, guard):
        self.spawn(guard, self.command, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
        end = time.monotonic() + START_LIMIT
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise daemons.Error("%s doesn't listen" % self.name)
                time.sleep(0.02)


def run(opts, folder, guard, started):
    server = Server(folder, opts)
    started.append(server)
    server.start(guard)
    env = dict(os.environ, STORE_SESSION=str(server.process.pid), **server.env)
    return daemons.run_command(opts.command, env, opts.limit, [])


def main():
    if sys.argv[1:] == ["freeze"]:
        for pid in daemons.session_members(int(os.environ["STORE_SESSION"])):
            daemons.kill(pid, signal.SIGSTOP)
        return 0
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("kind", choices=["nginx", "redis"])
    parser.add_argument("--password", action="store_true")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--room", default="")
    parser.add_argument("--document", default="")
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("command", nargs="+")
    opts = daemons.parse_args(parser, sys.argv[1:])
    return daemons.main("server", lambda folder, guard, started: run(
        opts, folder, guard, started))


if __name__ == "__main__":
    sys.exit(main())
