//===- System.h - What differs between systems, for plugins -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sockets, small files and memory: SystemPosix.cpp and SystemWindows.cpp. All
// names of files are UTF-8. What fails sets errno to what POSIX says, on each
// system. Any thread.
//
// The watching of connections (Network.h) is there as well.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_SYSTEM_H
#define DTLTO_PLUGINS_SYSTEM_H

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
#include <ws2tcpip.h>
#undef ERROR
#else
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#endif
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dtlto::os {

/// What an errno means.
std::string errorText(int Errno);
/// What an error of getaddrinfo() means.
std::string lookUpErrorText(int Status);

//===----------------------------------------------------------------------===//
// Sockets
//===----------------------------------------------------------------------===//

/// A stream socket that doesn't wait and isn't inherited; -1 if there is none.
int openSocket(int Family);
/// Begins to connect \p Socket.
bool beginConnect(int Socket, const sockaddr *To, socklen_t Size);
/// Why \p Socket, which began to connect, is not connected; 0 if it is.
int connectError(int Socket);
void closeSocket(int Socket);

/// Borrowed bytes.
struct Part {
  const void *Data;
  size_t Size;
};
inline constexpr size_t MaxParts = 16;

/// Sends the first of \p Parts, at most MaxParts, without a signal. Returns the
/// number of bytes sent, or -1; errno is EAGAIN if there is no room.
int64_t send(int Socket, const Part *Parts, size_t Count);
/// Returns the number of bytes received, 0 at the end, or -1; errno is EAGAIN
/// if there is nothing yet.
int64_t receive(int Socket, void *To, size_t Size);

/// poll(2); on sockets alone.
int poll(pollfd *Sockets, size_t Count, int TimeoutMs);

/// A socket that poll() takes for readable from raise() to lower().
/// closeSocket() ends it. -1 if there is none.
int openSignal();
void raise(int Signal);
void lower(int Signal);

//===----------------------------------------------------------------------===//
// The user's settings and files
//===----------------------------------------------------------------------===//

/// The variable with the user's own folder.
extern const char *const HomeVariable;
/// As getenv(), in UTF-8.
const char *environment(const char *Name);

/// Reads a file of at most \p MaxSize bytes, without blocking on a pipe.
/// Returns an errno, or 0.
int readFile(const std::string &Path, size_t MaxSize, std::string &Text);
/// For writeLog() and close(): a file to append to. Doesn't block on a pipe.
int openLog(const std::string &Path);
/// Writes in one piece. Ignores failures, even SIGPIPE.
void writeLog(int Fd, std::string_view Text);
/// Replaces the file, or makes it. Leaves anything but regular files alone.
void putFile(const std::string &Path, const void *Data, size_t Size);
void makeFolder(const std::string &Path);
void removeFile(const std::string &Path);

/// Opens or makes a file whose bytes serve as locks between processes. The
/// locks belong to the descriptor, and end with it or with the process. Returns
/// -1 with errno set on failure, on file servers, and on systems without such
/// locks.
int openLocks(const std::string &Path);
void closeLocks(int Fd);
/// Locks byte \p At, for this descriptor alone or shared. Returns false at once
/// if another has it.
bool lockByte(int Fd, uint64_t At, bool IsShared);
void unlockByte(int Fd, uint64_t At);
/// Whether another descriptor has the byte, shared or not.
bool isLockedByOther(int Fd, uint64_t At);

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

/// Pages that take up memory once they are written to; null if there is no such
/// address space.
void *reserve(size_t Size);
/// Of \p Old bytes that were reserved at \p Pages, all but the first \p New are
/// given back.
void shrink(void *Pages, size_t Old, size_t New);

/// Sets \p Load to the mean number of runnable processes in the last minute.
/// Returns false if that is unknown.
bool load(double &Load);

} // namespace dtlto::os

#endif // DTLTO_PLUGINS_SYSTEM_H
