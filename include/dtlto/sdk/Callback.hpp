//===- dtlto/sdk/Callback.hpp - The ABI's functions as members --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For hosts and extensions, whose functions get an opaque pointer first:
//
//   Host.context = reinterpret_cast<dtlto_host_context *>(this);
//   Host.load_changed = dtlto::sdk::Callback<T, &T::loadChanged>::call;
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_CALLBACK_HPP
#define DTLTO_SDK_CALLBACK_HPP

namespace dtlto::sdk {

/// The C function that calls the member \p Fn. Its first argument is a handle:
/// the address of a \p Base, which has or inherits the member, or is inherited
/// by the class that has it.
template <typename Base, auto Fn> struct Callback;

template <typename Base, typename T, typename R, typename... Args,
          R (T::*Fn)(Args...)>
struct Callback<Base, Fn> {
  template <typename Handle> static R call(Handle *H, Args... A) {
    return (static_cast<T *>(reinterpret_cast<Base *>(H))->*Fn)(A...);
  }
};

} // namespace dtlto::sdk

#endif // DTLTO_SDK_CALLBACK_HPP
