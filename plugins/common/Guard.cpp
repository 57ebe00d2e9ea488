//===- Guard.cpp - Cleans up when the linker is killed --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Guard.h"
#include <chrono>
#include <sys/socket.h>
#include <thread>

using namespace dtlto;
using namespace std::chrono_literals;

// Reads "run GROUP", "end GROUP" and "quit" from standard input, until it ends
// with the linker. $1 is the folder to remove, or empty. Its marker, which *
// doesn't match, is removed last. Each number in $g has spaces of its own. A
// program that is ending may still write a file, so the folder is removed
// twice.
static constexpr const char *GuardScript = R"(g=
while read -r what x; do
  case $what in
  run) g="$g $x " ;;
  end) g="${g%%" $x "*}${g#*" $x "}" ;;
  quit) exit 0 ;;
  esac
done
for x in $g; do kill -s TERM -- "-$x"; done
n=0
for x in $g; do
  while [ $n -lt 3 ] && kill -s 0 -- "-$x"; do sleep 1; n=$((n + 1)); done
  kill -s KILL -- "-$x"
done
[ -n "$1" ] || exit 0
for x in "$1"/*; do rm -rf -- "$x"; done
rm -rf -- "$1"
[ ! -e "$1" ] || { sleep 1; rm -rf -- "$1"; }
)";

std::unique_ptr<Guard> Guard::start(const std::string &Folder, int Lock,
                                    int &Errno) {
  std::unique_ptr<Guard> G(new Guard);
  Descriptor ChildEnd;
  Errno = openStream(G->Stream, ChildEnd);
  if (!Errno) {
    Process::Setup S;
    S.Args = {"/bin/sh", "-c", GuardScript, "dtlto-guard", Folder};
    S.In = ChildEnd.get();
    S.InheritedFd = Lock;
    S.Group = Process::Setup::NewSession; // Ctrl-C must not reach it
    Errno = G->Shell.start(S);
  }
  return Errno ? nullptr : std::move(G);
}

Guard::~Guard() {
  writeLine("quit\n");
  Stream.reset();
  for (unsigned I = 0; !Shell.hasEnded() && I != 500; ++I)
    std::this_thread::sleep_for(2ms);
}

void Guard::writeLine(const std::string &Line) {
  (void)::send(Stream.get(), Line.data(), Line.size(), MSG_NOSIGNAL);
}

void Guard::watch(pid_t Group) {
  writeLine("run " + std::to_string(Group) + "\n");
}

void Guard::unwatch(pid_t Group) {
  writeLine("end " + std::to_string(Group) + "\n");
}
