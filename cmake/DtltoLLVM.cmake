# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Finds LLVM and LLD's libraries, and defines:
#
#   dtlto_llvm      interface library: what code that includes LLVM needs
#   dtlto_lld       interface library: LLD's drivers

find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
if(NOT TARGET LLVM)
  message(FATAL_ERROR "dtlto needs the shared library libLLVM: the wrapped "
    "functions of LLVM are called from LLD's archives")
endif()

separate_arguments(_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")

add_library(dtlto_llvm INTERFACE)
target_include_directories(dtlto_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(dtlto_llvm INTERFACE ${_definitions})
target_compile_options(dtlto_llvm INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti -fno-exceptions>)
target_link_libraries(dtlto_llvm INTERFACE LLVM)

find_package(ZLIB REQUIRED)
find_library(ZSTD_LIBRARY NAMES zstd REQUIRED)

set(_lld_archives)
foreach(_name ELF COFF MachO MinGW Wasm Common)
  find_library(LLD_${_name}_LIBRARY NAMES liblld${_name}.a
    HINTS ${LLVM_LIBRARY_DIR} REQUIRED)
  list(APPEND _lld_archives ${LLD_${_name}_LIBRARY})
endforeach()
# LLD's drivers use zlib and zstd for compressed sections.
add_library(dtlto_lld INTERFACE)
target_link_libraries(dtlto_lld INTERFACE ${_lld_archives} dtlto_llvm
  ZLIB::ZLIB ${ZSTD_LIBRARY})
