# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds for arm64 Linux with this machine's clang and LLD, and with the arm64
# packages of Debian that scripts/arm64-sysroot unpacks: in DTLTO_ARM64_SYSROOT,
# a variable of CMake or of the environment, or in that script's default folder.
# DTLTO_LLVM_VERSION is LLVM's major version for both machines.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DTLTO_ARM64_SYSROOT DTLTO_LLVM_VERSION)

if(NOT DTLTO_LLVM_VERSION)
  set(DTLTO_LLVM_VERSION 22)
endif()
if(NOT DTLTO_ARM64_SYSROOT AND DEFINED ENV{DTLTO_ARM64_SYSROOT})
  set(DTLTO_ARM64_SYSROOT "$ENV{DTLTO_ARM64_SYSROOT}")
endif()
if(NOT DTLTO_ARM64_SYSROOT)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env DTLTO_LLVM_VERSION=${DTLTO_LLVM_VERSION}
      ${CMAKE_CURRENT_LIST_DIR}/../../scripts/arm64-sysroot
    OUTPUT_VARIABLE DTLTO_ARM64_SYSROOT OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
endif()
set(DTLTO_ARM64_SYSROOT "${DTLTO_ARM64_SYSROOT}" CACHE PATH
  "Debian's arm64 packages, unpacked")
if(NOT EXISTS "${DTLTO_ARM64_SYSROOT}/usr/lib/aarch64-linux-gnu/libc.so.6" AND
    NOT EXISTS "${DTLTO_ARM64_SYSROOT}/lib/aarch64-linux-gnu/libc.so.6")
  message(FATAL_ERROR "DTLTO_ARM64_SYSROOT=${DTLTO_ARM64_SYSROOT} has no libc.so.6 of "
    "arm64: scripts/arm64-sysroot makes such a folder")
endif()

set(CMAKE_SYSROOT "${DTLTO_ARM64_SYSROOT}")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
foreach(_language C CXX)
  set(CMAKE_${_language}_COMPILER_TARGET aarch64-linux-gnu)
endforeach()
set(CMAKE_C_COMPILER clang-${DTLTO_LLVM_VERSION})
set(CMAKE_CXX_COMPILER clang++-${DTLTO_LLVM_VERSION})
foreach(_kind EXE SHARED MODULE)
  set(CMAKE_${_kind}_LINKER_FLAGS_INIT -fuse-ld=lld)
endforeach()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(_kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${_kind} ONLY)
endforeach()
# Which libraries LLVM consists of is the same on each machine, so this
# machine's llvm-config is used below.
set(LLVM_DIR
  "${CMAKE_SYSROOT}/usr/lib/llvm-${DTLTO_LLVM_VERSION}/lib/cmake/llvm" CACHE PATH "")
find_program(DTLTO_LLVM_CONFIG NAMES llvm-config-${DTLTO_LLVM_VERSION} llvm-config
  PATHS /usr/lib/llvm-${DTLTO_LLVM_VERSION}/bin)

# For tests.
find_program(DTLTO_QEMU_ARM64 NAMES qemu-aarch64-static qemu-aarch64)
if(DTLTO_QEMU_ARM64)
  set(CMAKE_CROSSCOMPILING_EMULATOR
    "${DTLTO_QEMU_ARM64};-L;${CMAKE_SYSROOT}")
endif()
