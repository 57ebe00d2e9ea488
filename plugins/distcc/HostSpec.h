//===- HostSpec.h - Host specifications, as in distcc -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grammar of a host list, as in distcc(1), "HOST SPECIFICATIONS":
//
//   list   = { item }                separated by white space; # to the end of
//                                    the line is a comment
//   item   = "localhost" [limit]
//          | [user] "@" host [limit] [":" command] {option}     over ssh
//          | host [":" port] [limit] {option}                   over TCP
//          | host limit ":" port {option}                       the same
//          | "--randomize" | "--localslots=" n | "--localslots_cpp=" n
//          | "+zeroconf"
//   host   = name | IPv4 address | "[" IPv6 address "]"
//   limit  = "/" n
//   option = ",lzo" | ",cpp" | ",zstd" | ",down" | ",auth" ["=" name]
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_HOSTSPEC_H
#define DTLTO_DISTCC_HOSTSPEC_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dtlto::distcc {

/// The highest limit of a host.
inline constexpr unsigned MaxSlots = 4096;

enum class HostKind {
  Tcp,  // a distccd that listens
  Ssh,  // a distccd that ssh starts for each job
  Local // this machine, without a daemon
};

/// One host of a list.
struct HostSpec {
  HostKind Kind = HostKind::Tcp;
  std::string Name; // name or address, without brackets
  uint16_t Port = 3632;
  unsigned Limit = 0;  // jobs at the same time; 0: not specified
  std::string User;    // ssh: may be empty
  std::string Command; // ssh: distccd's path on the host; may be empty

  /// For messages and monitors: "node3", "node3:4000", "[::1]:4000",
  /// "user@node3", "localhost". The port is omitted if it is distcc's default.
  std::string display() const;
};

struct HostList {
  std::vector<HostSpec> Hosts; // in the order of the list
  bool Randomize = false;
  /// Accepted items without an effect, one line for each kind, e.g. "+zeroconf
  /// means nothing here; ...".
  std::vector<std::string> Notes;
  /// The same for harmless items of common distcc lists.
  std::vector<std::string> Remarks;
};

/// Reads \p Text. \p Source names its origin for messages ("$DISTCC_HOSTS", a
/// file's path). Throws sdk::Error, which names the source and the item, and in
/// a file of several lines also the line. A list without hosts is not an error.
HostList parseHostList(std::string_view Text, std::string_view Source);

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_HOSTSPEC_H
