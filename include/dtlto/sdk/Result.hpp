//===- dtlto/sdk/Result.hpp - Results, errors, the host ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Objects, errors and their messages, and access to the host's extensions.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_RESULT_HPP
#define DTLTO_SDK_RESULT_HPP

#include "../PluginAPI.h"
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dtlto::sdk {

/// Returns \p Text with each control character replaced by \p Replacement.
inline std::string printable(std::string Text, char Replacement) {
  for (char &C : Text)
    if (static_cast<unsigned char>(C) < 0x20 || C == 0x7f)
      C = Replacement;
  return Text;
}

/// Returns \p Text as one line, as messages must be.
inline std::string oneLine(std::string Text) {
  Text.erase(Text.find_last_not_of("\r\n") + 1);
  return printable(std::move(Text), ' ');
}

/// Thrown by a plugin that can't go on; `status` is DTLTO_ERROR_..., or
/// DTLTO_CANCELLED. Any other exception is an infrastructure error. An Error of
/// run() may name the machine that it happened on, for display.
class Error : public std::runtime_error {
public:
  Error(int32_t Status, const std::string &Message, std::string Worker = {})
      : std::runtime_error(Message), Status(Status), Worker(std::move(Worker)) {
  }
  int32_t status() const { return Status; }
  const std::string &worker() const { return Worker; }

private:
  int32_t Status;
  std::string Worker;
};

/// Returns the host's extension, e.g. of DTLTO_EXT_NUMBERS, or null.
template <typename T> const T *extension(const dtlto_host &H, const char *Id) {
  return static_cast<const T *>(H.extension(H.context, Id));
}

/// Like extension(), but throws Error if there is none.
template <typename T> const T &require(const dtlto_host &H, const char *Id) {
  if (auto *E = extension<T>(H, Id))
    return *E;
  throw Error(DTLTO_ERROR_CALLER,
              "this linker's dtlto is too old for the plugin: it has no " +
                  std::string(Id));
}

/// Bytes with an owner, never copied: a dtlto_buffer.
class Buffer {
public:
  Buffer() = default;
  /// Becomes the owner of \p Raw.
  explicit Buffer(const dtlto_buffer &Raw) : Raw(Raw) {}
  Buffer(const char *Text) : Buffer(std::string(Text)) {}
  /// Takes a std::string, a std::vector<char>, or anything with data() and
  /// size().
  template <typename T, typename = decltype(std::declval<T &>().data())>
  Buffer(T Bytes) {
    auto *Owner = new T(std::move(Bytes));
    Raw = {Owner->data(), Owner->size(), Owner,
           [](void *Owner, const void *, uint64_t) {
             delete static_cast<T *>(Owner);
           }};
  }
  Buffer(Buffer &&O) noexcept : Raw(O.take()) {}
  Buffer &operator=(Buffer &&O) noexcept {
    std::swap(Raw, O.Raw);
    return *this;
  }
  ~Buffer() {
    if (Raw.release)
      Raw.release(Raw.owner, Raw.data, Raw.size);
  }

  const char *data() const { return static_cast<const char *>(Raw.data); }
  size_t size() const { return static_cast<size_t>(Raw.size); }
  /// Transfers the ownership to the caller.
  dtlto_buffer take() { return std::exchange(Raw, dtlto_buffer{}); }

private:
  dtlto_buffer Raw = {};
};

/// The result of a job.
struct Result {
  Buffer Object;            // empty unless Status is DTLTO_OK
  std::string Message = {}; // the compiler's warnings, or the error
  std::string Worker = {};  // the machine that ran it
  int32_t Status = DTLTO_OK;
};

} // namespace dtlto::sdk

#endif // DTLTO_SDK_RESULT_HPP
