# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks that the found LLVM, installed or in its build tree, has what dtlto
# needs. Reports what is missing, with the option of LLVM's build, or Debian's
# package, that provides it. Defines:
#
#   DTLTO_LLD_ARCHIVES     LLD's drivers
#   DTLTO_LLD_INCLUDE_DIR  the folder with LLD's headers
#   LLD_ELF_LIBRARY        one of the archives

set(_missing "")

# dtlto_lacks(<what> <option of LLVM's build> <Debian's package>)
function(dtlto_lacks what option package)
  set(line "  ${what}: build LLVM with ${option}")
  if(package)
    string(APPEND line "; Debian has it in ${package}")
  endif()
  set(_missing "${_missing}${line}\n" PARENT_SCOPE)
endfunction()

if(NOT DTLTO_LINK_LLVM MATCHES "^(shared|static)$")
  message(FATAL_ERROR "DTLTO_LINK_LLVM is '${DTLTO_LINK_LLVM}': expected shared or "
    "static")
endif()
if(DTLTO_LINK_LLVM STREQUAL shared AND NOT TARGET LLVM)
  dtlto_lacks("the shared library libLLVM (DTLTO_LINK_LLVM=static does without)"
    "-DLLVM_BUILD_LLVM_DYLIB=ON" "")
endif()

# With BUILD_SHARED_LIBS, LLD's calls are inside shared libraries, and can't be
# wrapped.
set(DTLTO_LLD_ARCHIVES)
set(_left)
foreach(_name ELF COFF MachO MinGW Wasm Common)
  find_library(LLD_${_name}_LIBRARY NAMES liblld${_name}.a
    PATHS ${LLVM_LIBRARY_DIR} NO_DEFAULT_PATH)
  if(LLD_${_name}_LIBRARY)
    list(APPEND DTLTO_LLD_ARCHIVES ${LLD_${_name}_LIBRARY})
  else()
    list(APPEND _left liblld${_name}.a)
  endif()
endforeach()
if(_left)
  list(JOIN _left ", " _left)
  if(LLVM_ENABLE_SHARED_LIBS)
    dtlto_lacks("LLD's archives (${_left})" "-DBUILD_SHARED_LIBS=OFF" "")
  else()
    dtlto_lacks("LLD's archives (${_left})" "-DLLVM_ENABLE_PROJECTS=lld"
      "liblld-${LLVM_VERSION_MAJOR}-dev")
  endif()
endif()

# In a build tree, LLD's headers are in the source tree.
find_path(DTLTO_LLD_INCLUDE_DIR lld/Common/Driver.h
  PATHS ${LLVM_INCLUDE_DIRS} ${LLVM_BUILD_MAIN_SRC_DIR}/../lld/include
  NO_DEFAULT_PATH)
if(NOT DTLTO_LLD_INCLUDE_DIR AND NOT _left)
  dtlto_lacks("LLD's headers (lld/Common/Driver.h)" "-DLLVM_ENABLE_PROJECTS=lld"
    "liblld-${LLVM_VERSION_MAJOR}-dev")
endif()

# dtlto-distributor always links its part of LLVM from archives.
if(LLVM_ENABLE_SHARED_LIBS)
  dtlto_lacks("LLVM's archives" "-DBUILD_SHARED_LIBS=OFF" "")
elseif(NOT EXISTS "${LLVM_LIBRARY_DIR}/libLLVMLTO.a")
  dtlto_lacks("LLVM's archives (libLLVMLTO.a)"
    "-DLLVM_INSTALL_TOOLCHAIN_ONLY=OFF" "llvm-${LLVM_VERSION_MAJOR}-dev")
endif()
if(NOT LLVM_ENABLE_THREADS)
  dtlto_lacks("threads" "-DLLVM_ENABLE_THREADS=ON" "")
endif()

if(NOT _missing STREQUAL "")
  if(LLVM_BUILD_MAIN_SRC_DIR)
    string(APPEND _missing "  It is a build folder: maybe only part of it was built; "
      "ninja llvm-libraries lld llvm-config does the rest\n")
  endif()
  message(FATAL_ERROR "the LLVM in ${LLVM_DIR} lacks what dtlto needs:\n${_missing}")
endif()

# RTTI doesn't matter: code without it links with an LLVM that has it. The
# headers show whether LLVM was built with checks of errors and debug counters
# (llvm/Config/abi-breaking.h).
set(_facts "")
foreach(_fact ASSERTIONS EXPENSIVE_CHECKS RTTI)
  if(LLVM_ENABLE_${_fact})
    string(TOLOWER "${_fact}" _fact)
    string(REPLACE "_" " " _fact "${_fact}")
    string(APPEND _facts ", ${_fact}")
  endif()
endforeach()
list(LENGTH LLVM_TARGETS_TO_BUILD _count)
set(_targets "${_count} targets")
if(_count EQUAL 1)
  set(_targets "1 target")
endif()
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}: ${DTLTO_LINK_LLVM}, "
  "${_targets}${_facts}")
