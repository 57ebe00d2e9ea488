# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks of cluster.py. Needs a network namespace of its own."""

import collections
import contextlib
import ctypes
import fcntl
import os
import select
import socket
import struct
import subprocess
import threading
import time

# Where the linker is, and where the nodes are.
NEAR, FAR = "10.19.0.1", "10.19.0.2"


def loopback_up():
    SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x",
                              fcntl.ioctl(s, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(s, SIOCSIFFLAGS,
                    struct.pack("16sh14x", b"lo", flags | IFF_UP))


@contextlib.contextmanager
def inside(network):
    """Meanwhile this thread is in another network, /proc/PID/ns/net."""
    CLONE_NEWNET = 0x40000000
    libc = ctypes.CDLL(None, use_errno=True)

    def enter(fd):
        if libc.setns(fd, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    with open("/proc/thread-self/ns/net") as ours, open(network) as theirs:
        enter(theirs.fileno())
        try:
            yield
        finally:
            enter(ours.fileno())


class Cable:
    """Another network, and the one cable that leads there. What goes there and
    comes back takes `round_trip` seconds more than it would."""

    def __init__(self, guard, round_trip=0):
        self.name = "cable"
        # The network lives as long as a process is in it.
        self.process = subprocess.Popen(
            ["unshare", "-n", "sh", "-c", "echo; exec sleep infinity"],
            start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE)
        guard.watch(self.process.pid)
        self.process.stdout.readline()
        # In front of a command that is to run there.
        self.there = ["nsenter", "--net=/proc/%d/ns/net" % self.process.pid]
        if round_trip:
            Delay("near", "far", self.process.pid, round_trip / 2)
        else:
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


class Delay:
    """Two devices, `near` here and `far` in the network of the process `there`,
    with a thread that carries packets from one to the other, each of them
    `seconds` after it came. It ends with this process."""

    def __init__(self, near, far, there, seconds):
        self.seconds = seconds
        self.devices = [self._device(near, "/proc/self/ns/net"),
                        self._device(far, "/proc/%d/ns/net" % there)]
        threading.Thread(target=self._carry, daemon=True).start()

    @staticmethod
    def _device(name, network):
        TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454ca, 0x0001, 0x1000
        with inside(network):
            device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(device, TUNSETIFF, struct.pack(
                "16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
            # Few large packets: it is latency that is wanted.
            ip("link", "set", name, "mtu", "65000", "txqueuelen", "10000")
        return device

    def _carry(self):
        one, other = self.devices
        waiting = collections.deque()  # (when, where to, packet)
        while True:
            left = waiting[0][0] - time.monotonic() if waiting else None
            if left is None or left > 0:
                ready = select.select(self.devices, [], [], left)[0]
                for device in ready:
                    for _ in range(64):
                        try:
                            packet = os.read(device, 65536)
                        except BlockingIOError:
                            break
                        waiting.append((time.monotonic() + self.seconds,
                                        other if device == one else one, packet))
                continue
            _, device, packet = waiting.popleft()
            try:
                os.write(device, packet)
            except OSError:
                pass  # the device is down: the packet is lost


def ip(*args, prefix=[]):
    subprocess.run(prefix + ["ip"] + list(args), check=True,
                   stdin=subprocess.DEVNULL)
