# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Warnings and sanitizers for all of the project's own code.

add_compile_options(-Wall -Wextra $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
# `return std::move(E)` turns an Error into an Expected in older compilers.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-redundant-move>)
add_compile_definitions(DTLTO_VERSION="${PROJECT_VERSION}")
# The static worker leaves out what it doesn't call.
add_compile_options(-ffunction-sections -fdata-sections)

# Most of the time of a build goes into reading headers. A compiler launcher, such
# as ccache, can't look into precompiled ones. A build without ALL finds an #include
# that is missing in code that doesn't include LLVM.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(_precompile OFF)
else()
  set(_precompile LLVM)
endif()
set(DTLTO_PRECOMPILE ${_precompile} CACHE STRING
  "Precompile headers: OFF; LLVM: LLVM's; ALL: also the standard library's")
set_property(CACHE DTLTO_PRECOMPILE PROPERTY STRINGS OFF LLVM ALL)

# Nor does one compilation of several files find what one of them forgot.
option(DTLTO_UNITY_BUILD
  "Compile files that include LLVM's headers several at a time" OFF)

# Executables are compiled as libraries are, with the same options, so that they
# share precompiled headers.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)

# dtlto_precompile(<target> [<header>...]): LLVM's headers that most files need,
# and these.
function(dtlto_precompile target)
  if(DTLTO_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE
      <llvm/Bitcode/BitcodeReader.h>
      <llvm/IR/Module.h>
      <llvm/LTO/LTO.h>
      <llvm/Support/JSON.h>
      <llvm/Support/ThreadPool.h>
      <llvm/Transforms/IPO/FunctionImport.h>
      <chrono>
      <functional>
      <map>
      ${ARGN})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${DTLTO_UNITY_BUILD})
  endif()
endfunction()

# dtlto_precompile_standard(<target> [<header>...]): the same for code without LLVM.
function(dtlto_precompile_standard target)
  if(DTLTO_PRECOMPILE STREQUAL ALL)
    target_precompile_headers(${target} PRIVATE
      <algorithm>
      <chrono>
      <condition_variable>
      <filesystem>
      <fstream>
      <functional>
      <map>
      <memory>
      <mutex>
      <string>
      <thread>
      <vector>
      ${ARGN})
  endif()
endfunction()

# dtlto_reuse_precompiled(<target> <other>): what was precompiled for another target,
# and as many files at a time.
function(dtlto_reuse_precompiled target other)
  get_target_property(headers ${other} PRECOMPILE_HEADERS)
  if(headers)
    get_target_property(unity ${other} UNITY_BUILD)
    target_precompile_headers(${target} REUSE_FROM ${other})
    set_target_properties(${target} PROPERTIES UNITY_BUILD "${unity}")
  endif()
endfunction()

if(DTLTO_SANITIZE)
  list(JOIN DTLTO_SANITIZE "," _sanitizers)
  add_compile_options(-fsanitize=${_sanitizers} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${_sanitizers})
  if("undefined" IN_LIST DTLTO_SANITIZE)
    # vptr needs RTTI, which LLVM is built without.
    add_compile_options(-fno-sanitize=vptr,function)
    add_link_options(-fno-sanitize=vptr,function)
  endif()
endif()

# libFuzzer has to see where an input leads, in all of the code.
option(DTLTO_BUILD_FUZZERS "Build the libFuzzer executables; needs clang" OFF)
if(DTLTO_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR
      NOT "address" IN_LIST DTLTO_SANITIZE)
    message(FATAL_ERROR "DTLTO_BUILD_FUZZERS needs clang, and the address "
      "sanitizer: cmake --preset asan")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# What tests run with. libLLVM and liblld are not built for the sanitizers, and
# LLD frees little at its end, by design. The thread that first writes a file in a
# unit test gets LLVM's stack for signals, which the sanitizer would take for its own.
set(DTLTO_TEST_ENVIRONMENT
  "ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0:use_sigaltstack=0"
  "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/test/tsan.supp")
