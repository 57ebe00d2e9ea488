//===- FieldVisitor.h - Visitors of a configuration's fields ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A visitor of ConfigFields.h has these functions; Name is the field's name:
//
//   a field that is sent as text; a reader sets Value:
//     flag(Name, bool &Value)
//     number(Name, int64_t &Value, int64_t Min, int64_t Max)
//     pair(Name, std::array<int64_t, 2> &Value, int64_t Min, int64_t Max)
//     optional(Name, std::optional<uint64_t> &Value, uint64_t Max)
//     text(Name, std::string &Value)
//     texts(Name, std::vector<std::string> &Value)
//   fixed(Name, bool IsAllowed, What)
//     a field that text can only express with the value of a new struct
//   unused(Name)
//     a field that lto::thinBackend never reads, or doesn't read if the
//     fixed fields have their values
//   require(bool IsAllowed, What)
//     another condition on the previous field, for text
//   wantsCodegenFields()
//     whether to visit fields that only code generation reads. All other fields
//     count as read by earlier passes, too: targets tell passes much about CPU,
//     features and options (TargetTransformInfo)
//   clang(const ClangSetting &Setting, bool IsDefault, Value)
//     how clang gets the value: a number, enumerator or flag as
//     std::optional<uint64_t>, or texts. IsDefault: the value is that of a new
//     struct. Without Value, only IsDefault matters.
//
// What is the name of the linker's option.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CONFIG_FIELDVISITOR_H
#define DTLTO_CONFIG_FIELDVISITOR_H

#include <array>
#include <type_traits>

namespace dtlto {

/// How clang sets a field to the linker's value. Without an option, clang keeps
/// the value of a new struct.
struct ClangSetting {
  /// The reason if clang can't set it; null: any other value works.
  const char *What = nullptr;
  /// Words by value. Empty: the value is clang's default. Null: no word exists.
  std::array<const char *, 6> Words = {};
  /// A frontend option before each word or text. It is joined with the word if
  /// it ends with `=` or is empty. Null: Words are for the driver.
  const char *Option = nullptr;
  /// Words exist only for COFF.
  bool IsForCOFF = false;
};

/// The object doesn't depend on the field, or depends on it only together with
/// another field that has a reason.
inline constexpr ClangSetting Any;
constexpr ClangSetting same(const char *What) { return {What}; }
inline constexpr const char *NoWord = "a value that clang has no option for";
constexpr ClangSetting words(std::array<const char *, 6> Words,
                             const char *What = NoWord) {
  return {What, Words};
}
/// For values that the driver doesn't pass on, or only for some toolchains. The
/// frontend uses the last occurrence of each option.
constexpr ClangSetting frontend(const char *Option,
                                std::array<const char *, 6> Words = {},
                                const char *What = NoWord) {
  return {What, Words, Option};
}

/// A visitor that does nothing. Other visitors derive from it and hide the
/// functions that they need.
struct FieldVisitor {
  template <class... T> void flag(T &&...) {}
  template <class... T> void number(T &&...) {}
  template <class... T> void pair(T &&...) {}
  template <class... T> void optional(T &&...) {}
  template <class... T> void text(T &&...) {}
  template <class... T> void texts(T &&...) {}
  template <class... T> void fixed(T &&...) {}
  template <class... T> void unused(T &&...) {}
  template <class... T> void require(T &&...) {}
  bool wantsCodegenFields() const { return true; }
  template <class... T> void clang(T &&...) {}
};

/// Whether \p Value is empty, null or zero.
template <class T>
auto isUnset(const T &Value, int) -> decltype(Value.empty()) {
  return Value.empty();
}
template <class T> bool isUnset(const T &Value, long) {
  if constexpr (std::is_enum_v<T>)
    return Value == T();
  else
    return !Value;
}

} // namespace dtlto

#endif // DTLTO_CONFIG_FIELDVISITOR_H
