# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# dtlto as a part of LLVM's own build, after LLD: -DLLVM_ENABLE_PROJECTS=lld
# -DLLVM_EXTERNAL_PROJECTS=dtlto -DLLVM_EXTERNAL_DTLTO_SOURCE_DIR=FOLDER.
# Defines the same as DtltoCheckLLVM, for targets that aren't built yet.

if(BUILD_SHARED_LIBS)
  message(FATAL_ERROR "dtlto needs LLD's archives: build LLVM with "
    "-DBUILD_SHARED_LIBS=OFF")
endif()
if(NOT LLVM_ENABLE_THREADS)
  message(FATAL_ERROR "dtlto needs threads: build LLVM with -DLLVM_ENABLE_THREADS=ON")
endif()
set(DTLTO_LLD_ARCHIVES lldELF lldCOFF lldMachO lldMinGW lldWasm lldCommon)
foreach(_name IN LISTS DTLTO_LLD_ARCHIVES)
  if(NOT TARGET ${_name})
    message(FATAL_ERROR "dtlto needs LLD (${_name}): build LLVM with "
      "-DLLVM_ENABLE_PROJECTS=lld")
  endif()
endforeach()
if(NOT DTLTO_LINK_LLVM MATCHES "^(shared|static)$")
  message(FATAL_ERROR "DTLTO_LINK_LLVM is '${DTLTO_LINK_LLVM}': expected shared or "
    "static")
endif()
set(DTLTO_LLD_INCLUDE_DIR ${LLVM_EXTERNAL_LLD_SOURCE_DIR}/include)
if(NOT EXISTS "${DTLTO_LLD_INCLUDE_DIR}/lld/Common/Driver.h")
  set(DTLTO_LLD_INCLUDE_DIR ${LLVM_MAIN_SRC_DIR}/../lld/include)
endif()
set(LLVM_INCLUDE_DIRS ${LLVM_MAIN_INCLUDE_DIR} ${LLVM_INCLUDE_DIR})
# LLVM's build sets them for all folders.
set(LLVM_DEFINITIONS "")
message(STATUS "dtlto: a part of LLVM ${LLVM_PACKAGE_VERSION}: ${DTLTO_LINK_LLVM}")
