//===- Request.h - What a distccd is sent -----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A request of distcc's protocol 3 (doc/protocol-3.txt in distcc's source). A
// token is four letters and a number in eight hexadecimal digits.
//
//   DIST 3
//   CDIR length "/w"                       the folder to compile in
//   ARGC n, then n times ARGV length bytes
//   NFIL k, then k times
//     NAME length "/w/<path>"
//     FILE length <LZO1X>                  0 bytes stand for an empty file
//
// The server's own reading of the command line knows neither `-x ir` nor a
// source file without a source's extension. So it gets
//
//   clang-19 -c @args.c -o out.o
//
// takes @args.c for the source, and clang finds its real arguments in the
// response file /w/args.c.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_REQUEST_H
#define DTLTO_DISTCC_REQUEST_H

#include "Bytes.h"
#include "dtlto/PluginAPI.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dtlto::distcc {

/// LZO1X, shared by all requests that send the same file.
using Packed = std::shared_ptr<const std::vector<uint8_t>>;

/// What goes over the wire, in order, and all that it needs to stay alive.
/// Immutable once built, so that it can be sent again to another host.
struct Request {
  std::vector<ByteView> Segments;                  // none is empty
  uint64_t Size = 0;                               // of all segments, in bytes
  std::vector<std::unique_ptr<std::string>> Texts; // tokens between files
  std::vector<Packed> Files;
};

/// Compresses an input, or finds it compressed.
using Pack = std::function<Packed(const dtlto_input &)>;

/// The largest file that may be sent, in bytes before compression: a server
/// that is sent 512 MiB of LZO in one file never comes to an end.
constexpr uint64_t MaxFileSize = uint64_t(400) << 20;

/// The request for \p Job with \p Compiler. Returns null with one line in
/// \p Error if it can't be sent: a file that is too large, or an argument that
/// is empty or begins with '@', which clang would not take from a response file
/// as it is.
std::shared_ptr<const Request> buildRequest(const dtlto_job &Job,
                                            const std::string &Compiler,
                                            const Pack &P, std::string &Error);

/// The request for a worker that is dtlto-codegen and reads \p Bundle, the
/// whole job in one file. The server takes it for a C source. \p Option says
/// what the result is to be like.
std::shared_ptr<const Request> buildBundleRequest(const dtlto_job &Job,
                                                  const std::string &Compiler,
                                                  const std::string &Option,
                                                  ByteView Bundle,
                                                  std::string &Error);

/// Asks for the version of \p Compiler; it comes back as the reply's output.
std::shared_ptr<const Request> buildProbe(const std::string &Compiler);

/// \p Args as a GNU response file: one a line, quoted so that clang reads each
/// as it is. But clang drops an empty one, and expands one that begins with '@'
/// if there is such a file.
std::string responseFile(const std::vector<std::string> &Args);

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_REQUEST_H
