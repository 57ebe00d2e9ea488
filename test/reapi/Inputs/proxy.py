# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A stock nginx in front of a stock server, as deployed for servers without
certificates and tokens. It requires a client certificate or a token, and
forwards allowed calls. For server.py."""

import os
import shutil
import signal
import subprocess

from daemons import Error, kill_session

# In Debian, nginx is only in root's PATH.
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
NGINX = shutil.which("nginx", path=PATH)

# All files that it writes are in a folder of the test.
CONFIGURATION = """
{user}
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
events {{ worker_connections 512; }}
http {{
  log_format short "$status $request_uri";
  access_log {folder}/access.log short;
  client_body_temp_path {folder}/nginx-body;
  proxy_temp_path {folder}/nginx-proxy;
  fastcgi_temp_path {folder}/nginx-fastcgi;
  uwsgi_temp_path {folder}/nginx-uwsgi;
  scgi_temp_path {folder}/nginx-scgi;
  client_max_body_size 0;
  # The API's own header has dots in its name.
  ignore_invalid_headers off;
  map $http_authorization $is_allowed {{ default 0; "Bearer {token}" 1; }}
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {folder}/server.pem;
    ssl_certificate_key {folder}/server.key;
    {wants}
    location / {{
      {allows}
      grpc_pass grpc://127.0.0.1:{server};
      grpc_read_timeout 600s;
      grpc_send_timeout 600s;
    }}
  }}
}}
"""


class Proxy:
    """Requires certificates that ca.pem of `folder` has signed or, if `tokens`,
    the token in the file `token` there."""

    def __init__(self, folder, port, server, tokens):
        if not NGINX:
            raise Error("there is no nginx")
        self.folder, self.port, self.server, self.tokens = folder, port, server, tokens
        self.number = 0
        self.process = None
        with open(folder + "/wrong-token", "w") as f:
            f.write("of-somebody-else\n")
        self.configure()

    def configure(self):
        token = "token-%d" % self.number
        with open(self.folder + "/nginx.conf", "w") as f:
            f.write(CONFIGURATION.format(
                user="user root;" if os.geteuid() == 0 else "",
                folder=self.folder, port=self.port, server=self.server, token=token,
                wants="" if self.tokens else
                "ssl_verify_client on; ssl_client_certificate %s/ca.pem;" % self.folder,
                allows="if ($is_allowed = 0) { return 401; }" if self.tokens else ""))
        # Atomically, as for a renewal: the file is always complete.
        with open(self.folder + "/token.new", "w") as f:
            f.write(token + "\n")
        os.rename(self.folder + "/token.new", self.folder + "/token")

    def start(self):
        log = open(self.folder + "/nginx.log", "wb")
        self.process = subprocess.Popen(
            [NGINX, "-p", self.folder, "-e", self.folder + "/error.log", "-c",
             self.folder + "/nginx.conf"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        log.close()

    def renew(self):
        """Requires another token from now on, and writes it to the file."""
        self.number += 1
        self.configure()
        self.process.send_signal(signal.SIGHUP)

    def refused(self):
        """Returns how many calls it has refused since its start."""
        with open(self.folder + "/access.log") as f:
            return sum(line.startswith("401 ") for line in f)

    def text(self):
        found = ""
        for name in "nginx.log", "error.log":
            try:
                with open(self.folder + "/" + name, errors="replace") as f:
                    found += f.read()
            except FileNotFoundError:
                pass
        return found

    def stop(self):
        if self.process:
            kill_session(self.process.pid)
            self.process.wait()
