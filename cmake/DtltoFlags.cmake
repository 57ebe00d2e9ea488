# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Warnings and sanitizers for all of the project's own code.

add_compile_options(-Wall -Wextra $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
# Older compilers need `return std::move(E)` to convert an Error to an Expected.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-redundant-move>)
add_compile_definitions(DTLTO_VERSION="${PROJECT_VERSION}")
# Lets the static worker drop unused code.
add_compile_options(-ffunction-sections -fdata-sections)

# Reading headers takes most of a build's time. Compiler launchers, such as
# ccache, can't handle precompiled headers. Only a build without ALL detects
# missing #includes in code that doesn't include LLVM.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(_precompile OFF)
else()
  set(_precompile LLVM)
endif()
set(DTLTO_PRECOMPILE ${_precompile} CACHE STRING
  "Precompile headers: OFF; LLVM: LLVM's; ALL: also the standard library's")
set_property(CACHE DTLTO_PRECOMPILE PROPERTY STRINGS OFF LLVM ALL)

# Unity builds don't detect missing #includes either.
option(DTLTO_UNITY_BUILD
  "Compile files that include LLVM's headers several at a time" OFF)

# Executables get the same options as libraries, so that they share precompiled
# headers.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)

# dtlto_precompile(<target> [<header>...]): precompiles the LLVM headers that
# most files need, and the given ones.
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

# dtlto_precompile_standard(<target> [<header>...]): the same for code without
# LLVM.
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

# dtlto_reuse_precompiled(<target> <other>): reuses the precompiled headers of
# another target, and its unity build settings.
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
    # vptr needs RTTI, and LLVM is built without it.
    add_compile_options(-fno-sanitize=vptr,function)
    add_link_options(-fno-sanitize=vptr,function)
  endif()
endif()

# libFuzzer must instrument all of the code.
option(DTLTO_BUILD_FUZZERS "Build the libFuzzer executables; needs clang" OFF)
if(DTLTO_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR
      NOT "address" IN_LIST DTLTO_SANITIZE)
    message(FATAL_ERROR "DTLTO_BUILD_FUZZERS needs clang, and the address "
      "sanitizer: cmake --preset asan")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# The environment of tests. libLLVM and liblld are not built for the sanitizers,
# and LLD intentionally frees little at its end. In a unit test, the first
# thread that writes a file gets LLVM's signal stack, which the sanitizer would
# mistake for its own.
set(DTLTO_TEST_ENVIRONMENT
  "ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0:use_sigaltstack=0"
  "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/test/tsan.supp")
