//===- FieldVisitor.h - Visitors of a configuration's fields ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A visitor of ConfigFields.h has these functions, where Name is the field's:
//
//   a field that travels as text, whose Value a reader sets:
//     flag(Name, bool &Value)
//     number(Name, int64_t &Value, int64_t Min, int64_t Max)
//     pair(Name, std::array<int64_t, 2> &Value, int64_t Min, int64_t Max)
//     optional(Name, std::optional<uint64_t> &Value, uint64_t Max)
//     text(Name, std::string &Value)
//     texts(Name, std::vector<std::string> &Value)
//   fixed(Name, bool IsFit, What)
//     a field with one value that can travel as text: that of a new struct
//   unused(Name)
//     a field that lto::thinBackend doesn't read, or not in a configuration
//     whose fixed fields are fit
//   require(bool IsFit, What)
//     another condition on the field before it, for text
//   onlyCodegen()
//     code generation reads the next field, and no earlier pass does. All
//     others count as read by both: targets tell passes much about CPU,
//     features and options (TargetTransformInfo)
//   clang(const ForClang &How, bool IsDefault, Value)
//     how clang gets the value: a number, enumerator or flag as
//     std::optional<uint64_t>, or texts. IsDefault: it is that of a new struct.
//     There is no Value if only IsDefault matters.
//
// What is the name of the linker's option.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CONFIG_FIELDVISITOR_H
#define DTLTO_CONFIG_FIELDVISITOR_H

#include <array>
#include <type_traits>

namespace dtlto {

/// How clang fills in a field as the linker did. Without a word, it keeps the
/// value of a new struct.
struct ForClang {
  /// The reason if clang can't; null: any other value will do.
  const char *What = nullptr;
  /// By value. Empty: clang has this value by default. Null: there is no word.
  std::array<const char *, 6> Words = {};
  /// An option of the frontend before a word or text; one argument with it if
  /// it ends with `=` or is empty. Null: Words are for the driver.
  const char *Option = nullptr;
  /// Other formats have no words.
  bool IsForCOFF = false;
};

/// The object doesn't depend on the field, or only together with another field
/// that has a reason.
inline constexpr ForClang Any;
constexpr ForClang same(const char *What) { return {What}; }
inline constexpr const char *NoWord = "a value that clang has no option for";
constexpr ForClang words(std::array<const char *, 6> Words,
                         const char *What = NoWord) {
  return {What, Words};
}
/// For values that the driver doesn't pass on, or only after asking a
/// toolchain. The frontend uses the last of each option.
constexpr ForClang frontend(const char *Option,
                            std::array<const char *, 6> Words = {},
                            const char *What = NoWord) {
  return {What, Words, Option};
}

/// A visitor that does nothing. Others derive from it and hide what they need.
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
  void onlyCodegen() {}
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
