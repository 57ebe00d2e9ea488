//===- Request.h - The request to a distccd ---------------------*- C++ -*-===//
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
// The server's command line parser knows neither `-x ir` nor source files
// without a known extension. So the command line is
//
//   clang-19 -c @args.c -o out.o
//
// The server treats @args.c as the source, and clang finds its real arguments
// in the response file /w/args.c.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_REQUEST_H
#define DTLTO_DISTCC_REQUEST_H

#include "ByteCache.h"
#include "dtlto/PluginAPI.h"
#include <string>
#include <string_view>

namespace dtlto::distcc {

/// LZO1X-compressed bytes, shared by all requests that send the same file.
using PackedBytes = ByteCache::Bytes;

/// The bytes on the wire. Immutable once built, so that they can be sent again
/// to another host.
struct Request {
  std::vector<std::string_view> Segments;          // in order; none is empty
  std::vector<std::shared_ptr<const void>> Owners; // of each segment's bytes
};

/// The largest file that may be sent, in bytes before compression. A server
/// that receives 512 MiB of LZO in one file never finishes.
constexpr uint64_t MaxFileSize = uint64_t(400) << 20;

/// Compresses an input.
using Packer = std::function<PackedBytes(const dtlto_input &)>;
/// Compresses an import only once, unless \p Cache has evicted it since. Any
/// thread.
PackedBytes pack(ByteCache &Cache, const dtlto_input &Input);

/// Builds the request for \p Job with \p Compiler. \p Cache has compressed
/// imports. Throws sdk::Error if the job can't be sent: a file is too large, or
/// an argument is empty or begins with '@', which clang would not read
/// unchanged from a response file.
std::shared_ptr<const Request> buildRequest(const dtlto_job &Job,
                                            const std::string &Compiler,
                                            ByteCache &Cache);

/// Builds the request for a dtlto-codegen that reads \p Bundle, the whole job
/// in one file, and writes a frame. The server treats the file as a C source.
/// Throws sdk::Error if the bundle is too large.
std::shared_ptr<const Request> buildBundleRequest(const dtlto_job &Job,
                                                  const std::string &Compiler,
                                                  std::string_view Bundle);

/// Builds a request for the version of \p Compiler, which becomes the reply's
/// output.
std::shared_ptr<const Request> buildProbe(const std::string &Compiler);

/// Returns \p Args as a GNU response file: one per line, quoted so that clang
/// reads each unchanged. Clang still drops empty arguments, and expands one
/// that begins with '@' if there is such a file.
std::string responseFile(const std::vector<std::string> &Args);

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_REQUEST_H
