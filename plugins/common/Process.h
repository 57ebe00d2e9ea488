//===- Process.h - A program that a plugin starts ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A child process and its streams, on POSIX systems. Functions that can fail
// return an errno, or 0.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_PROCESS_H
#define DTLTO_PLUGINS_PROCESS_H

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace dtlto {

class Guard;

/// An open file, pipe or socket, which the destructor closes.
class Descriptor {
public:
  explicit Descriptor(int Fd = -1) : Fd(Fd) {}
  Descriptor(Descriptor &&Other) : Fd(Other.release()) {}
  Descriptor &operator=(Descriptor &&Other) {
    reset(Other.release());
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return Fd; }
  bool isOpen() const { return Fd >= 0; }
  int release() { return std::exchange(Fd, -1); }
  /// Leaves errno alone.
  void reset(int New = -1);

private:
  int Fd;
};

int openPipe(Descriptor &Reader, Descriptor &Writer);
/// Opens a stream for both directions. Our end doesn't block. It is a socket,
/// so that MSG_NOSIGNAL prevents SIGPIPE if the process has ended.
int openStream(Descriptor &ParentEnd, Descriptor &ChildEnd);

/// The output of a process, through a pipe.
class Output {
public:
  /// Opens the pipe. \p Writer is the process's end.
  int open(Descriptor &Writer);
  /// For poll(); -1 at the end of the output.
  int fd() const { return Reader.get(); }
  bool isOpen() const { return Reader.isOpen(); }
  /// Appends what is in the pipe to \p To, up to \p Max bytes in all, and drops
  /// the rest. Doesn't block.
  void read(std::string &To, size_t Max = SIZE_MAX);

private:
  Descriptor Reader;
};

/// A process, which the destructor kills. One thread.
class Process {
public:
  struct Setup {
    std::vector<std::string> Args; // the first: a path, or a name in PATH
    /// Changes of our environment: "NAME=value", or "NAME" to remove it.
    std::vector<std::string> Env;
    int In = -1, Out = -1, Err = -1; // -1: /dev/null
    int Folder = -1;                 // working folder; -1: ours
    int InheritedFd = -1;            // becomes the process's descriptor 3
    enum { Inherited, NewGroup, NewSession } Group = Inherited;
  };

  Process() = default;
  Process(const Process &) = delete;
  /// Kills the process and its group, unless the process has ended, and reaps
  /// it. A process that can't be killed within a second is abandoned.
  ~Process();

  /// Starts the process. From then on, \p G ends its group if the linker ends.
  /// \p G may be null and must outlive this object.
  int start(const Setup &S, Guard *G = nullptr);
  pid_t pid() const { return Pid; }

  /// Whether the process has ended. It is not reaped, so its number and its
  /// group's are not reused while this object lives.
  bool hasEnded();
  // Valid after hasEnded() returned true: the status, and the signal that
  // killed the process. Both are 0 if the status is lost: SIGCHLD is ignored,
  // or another part of the linker reaped the process.
  int status() const { return Status; }
  int signal() const { return Signal; }
  bool isLost() const { return IsLost; }
  /// "ended with 1", "was killed by signal 9"; empty if it succeeded.
  std::string describeExit() const;

  /// Sends \p Signal to the process's own group, or to the process alone if it
  /// has none.
  void kill(int Signal) const;

private:
  pid_t Pid = -1;
  bool HasGroup = false;
  Guard *TheGuard = nullptr;
  bool HasEnded = false, IsLost = false;
  int Status = 0, Signal = 0;
};

/// Returns the folder of the plugin's file.
std::string pluginFolder();

} // namespace dtlto

#endif // DTLTO_PLUGINS_PROCESS_H
