# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks of cluster.py. Needs its own network namespace."""

import fcntl
import socket
import struct
import subprocess

# The addresses of the linker and of the nodes.
NEAR, FAR = "10.19.0.1", "10.19.0.2"


def loopback_up():
    SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x",
                              fcntl.ioctl(s, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(s, SIOCSIFFLAGS,
                    struct.pack("16sh14x", b"lo", flags | IFF_UP))


class Cable:
    """Another network namespace and a cable to it."""

    def __init__(self, guard):
        self.name = "cable"
        # A network namespace exists as long as it has a process.
        self.process = subprocess.Popen(
            ["unshare", "-n", "sh", "-c", "echo; exec sleep infinity"],
            start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE)
        guard.watch(self.process.pid)
        self.process.stdout.readline()
        # The prefix of a command that runs in it.
        self.there = ["nsenter", "--net=/proc/%d/ns/net" % self.process.pid]
        ip("link", "add", "near", "type", "veth", "peer", "name", "far",
           "netns", str(self.process.pid))
        for prefix, device, address in (([], "near", NEAR),
                                        (self.there, "far", FAR)):
            ip("address", "add", address + "/24", "broadcast", "+", "dev",
               device, prefix=prefix)
            ip("link", "set", device, "up", prefix=prefix)
        ip("link", "set", "lo", "up", prefix=self.there)

    def cut(self):
        ip("link", "set", "far", "down", prefix=self.there)

    def read_log(self):
        return ""

    def stop(self):
        self.process.kill()
        self.process.wait()


def ip(*args, prefix=[]):
    subprocess.run(prefix + ["ip"] + list(args), check=True,
                   stdin=subprocess.DEVNULL)
