//===- System.h - What differs between systems, for plugins -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sockets, small files and memory, implemented in SystemPosix.cpp and
// SystemWindows.cpp. All file names are UTF-8. Functions that fail set errno as
// POSIX does, on each system. Any thread.
//
// These files also watch connections (Network.h).
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

/// Describes an errno.
std::string errorText(int Errno);

//===----------------------------------------------------------------------===//
// Sockets
//===----------------------------------------------------------------------===//

/// Opens a stream socket that doesn't block and isn't inherited, or returns -1.
int openSocket(int Family);
/// Begins to connect \p Socket. Returns false with errno set on failure.
bool beginConnect(int Socket, const sockaddr *To, socklen_t Size);
/// Whether closing \p Socket resets the connection instead of ending it. A
/// server whose queue of connections is full ignores an end, but not a reset:
/// it would later wait for a client that is gone.
void setResetOnClose(int Socket, bool DoesReset);
/// Returns why \p Socket, which began to connect, isn't connected; 0 if it is.
int connectError(int Socket);
void closeSocket(int Socket);

/// Borrowed bytes.
struct Part {
  const void *Data;
  size_t Size;
};
inline constexpr size_t MaxParts = 16;

/// Sends \p Parts, but at most MaxParts of them, without SIGPIPE. Returns the
/// number of bytes sent, or -1; errno is EAGAIN if the buffer is full.
int64_t send(int Socket, const Part *Parts, size_t Count);
/// Returns the number of bytes received, 0 at the end, or -1; errno is EAGAIN
/// if there is nothing yet.
int64_t receive(int Socket, void *To, size_t Size);

/// Like poll(2), for sockets only.
int poll(pollfd *Sockets, size_t Count, int TimeoutMs);

/// Opens a socket that poll() reports as readable from raise() to lower().
/// closeSocket() closes it. Returns -1 on failure.
int openSignal();
void raise(int Signal);
void lower(int Signal);

//===----------------------------------------------------------------------===//
// The user's settings and files
//===----------------------------------------------------------------------===//

/// The environment variable with the user's home folder.
extern const char *const HomeVariable;
/// Like getenv(), in UTF-8.
const char *environment(const char *Name);

/// Reads a file of at most \p MaxSize bytes, without blocking on a pipe.
/// Returns an errno, or 0.
int readFile(const std::string &Path, size_t MaxSize, std::string &Text);
/// Opens a file to append to, for writeLog(). close() closes it. Doesn't block
/// on a pipe.
int openLog(const std::string &Path);
/// Writes \p Text with one call. Ignores failures, even SIGPIPE.
void writeLog(int Fd, std::string_view Text);
/// Creates or replaces the file. Leaves anything but regular files alone.
void putFile(const std::string &Path, const void *Data, size_t Size);
void makeFolder(const std::string &Path);
void removeFile(const std::string &Path);

/// Opens or creates a file whose bytes serve as locks between processes. The
/// locks belong to the descriptor, and end with it or with the process. Returns
/// -1 with errno set on failure, on file servers, and on systems without such
/// locks.
int openLocks(const std::string &Path);
void closeLocks(int Fd);
/// Locks byte \p At, exclusively or shared. Returns false at once if another
/// descriptor's lock conflicts.
bool lockByte(int Fd, uint64_t At, bool IsShared);
void unlockByte(int Fd, uint64_t At);
/// Whether another descriptor has locked the byte, shared or not.
bool isLockedByOther(int Fd, uint64_t At);

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

/// Reserves pages that take up memory only once they are written to. Returns
/// null if there is not enough address space.
void *reserve(size_t Size);
/// Gives back all but the first \p New of the \p Old bytes that were reserved
/// at \p Pages.
void shrink(void *Pages, size_t Old, size_t New);

/// Sets \p Load to the mean number of runnable processes in the last minute.
/// Returns false if that is unknown.
bool load(double &Load);

} // namespace dtlto::os

#endif // DTLTO_PLUGINS_SYSTEM_H
