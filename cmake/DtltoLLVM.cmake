# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Finds LLVM and LLD's libraries, and defines:
#
#   DTLTO_LLVM_VERSION   LLVM's major version. To choose one when you configure, set
#                        it, or set LLVM_DIR to the folder of LLVMConfig.cmake
#   DTLTO_UNTESTED_LLVM  ON: also allows versions that dtlto was never built with
#   DTLTO_LINK_LLVM      shared: libLLVM.so; static: LLVM's archives. Default: the
#                        shared library, if this LLVM has one
#   dtlto_llvm           interface library for code that includes LLVM
#   dtlto_lld            interface library: LLD's drivers

# The versions in the table of lib/Core/LLVM/Version.h: tested ones, and ones
# that are only known from LLVM's sources.
set(_known_versions 19 21 22 23)
set(_untested_versions 20)
option(DTLTO_UNTESTED_LLVM "Allow versions of LLVM that dtlto was never built with")

if(DTLTO_IN_LLVM)
  set(DTLTO_LLVM_VERSION ${LLVM_VERSION_MAJOR})
  if(NOT LLVM_PACKAGE_VERSION)
    set(LLVM_PACKAGE_VERSION
      ${LLVM_VERSION_MAJOR}.${LLVM_VERSION_MINOR}.${LLVM_VERSION_PATCH})
  endif()
elseif(LLVM_DIR)
  find_package(LLVM REQUIRED CONFIG)
  if(DEFINED CACHE{DTLTO_LLVM_VERSION} AND
      NOT DTLTO_LLVM_VERSION EQUAL LLVM_VERSION_MAJOR)
    message(FATAL_ERROR "LLVM_DIR=${LLVM_DIR} is LLVM ${LLVM_VERSION_MAJOR}, but "
      "DTLTO_LLVM_VERSION is ${DTLTO_LLVM_VERSION}: set one of them, in a new "
      "build folder")
  endif()
  set(DTLTO_LLVM_VERSION ${LLVM_VERSION_MAJOR})
else()
  # The version in the environment, as for the scripts. Otherwise, of the versions that
  # are installed as on Debian, 22, or the lowest.
  set(_default 22)
  foreach(_version 22 ${_known_versions})
    if(EXISTS "/usr/lib/llvm-${_version}/lib/cmake/llvm/LLVMConfig.cmake")
      set(_default ${_version})
      break()
    endif()
  endforeach()
  if(DEFINED ENV{DTLTO_LLVM_VERSION})
    set(_default $ENV{DTLTO_LLVM_VERSION})
  endif()
  set(DTLTO_LLVM_VERSION ${_default} CACHE STRING "LLVM's major version")
endif()
list(JOIN _known_versions ", " _known)
if(DTLTO_LLVM_VERSION IN_LIST _untested_versions)
  if(NOT DTLTO_UNTESTED_LLVM)
    message(FATAL_ERROR "dtlto was never built with LLVM ${DTLTO_LLVM_VERSION}: use "
      "one of ${_known} (DTLTO_LLVM_VERSION, or LLVM_DIR), or try it with "
      "DTLTO_UNTESTED_LLVM=ON")
  endif()
  message(WARNING "dtlto was never built with LLVM ${DTLTO_LLVM_VERSION}: run all "
    "tests before you rely on it")
elseif(NOT DTLTO_LLVM_VERSION IN_LIST _known_versions)
  message(FATAL_ERROR "dtlto doesn't know LLVM ${DTLTO_LLVM_VERSION}; it knows "
    "${_known} (DTLTO_LLVM_VERSION, or LLVM_DIR)")
endif()
if(NOT LLVM_FOUND AND NOT DTLTO_IN_LLVM)
  # LLVM's releases have the minor version 1, and its packages require it in the
  # request.
  find_package(LLVM ${DTLTO_LLVM_VERSION}.1 REQUIRED CONFIG
    HINTS /usr/lib/llvm-${DTLTO_LLVM_VERSION}/lib/cmake/llvm)
endif()

if(TARGET LLVM AND (NOT DTLTO_IN_LLVM OR LLVM_LINK_LLVM_DYLIB))
  set(_default shared)
else()
  set(_default static)
endif()
set(DTLTO_LINK_LLVM ${_default} CACHE STRING
  "What of LLVM's to link: shared (libLLVM.so), or static (its archives)")
set_property(CACHE DTLTO_LINK_LLVM PROPERTY STRINGS shared static)
if(DTLTO_IN_LLVM)
  include(DtltoInLLVM)
elseif(WIN32 AND NOT EXISTS "${LLVM_LIBRARY_DIR}/liblldELF.a")
  message(STATUS "The linker isn't built: scripts/windows-libraries --all makes what "
    "it needs")
else()
  include(DtltoCheckLLVM)
endif()

# dtlto_llvm_libraries(<variable> <component>...): sets the variable to the
# archives of LLVM's components.
function(dtlto_llvm_libraries variable)
  if(DTLTO_IN_LLVM)
    llvm_map_components_to_libnames(libraries ${ARGN})
  else()
    find_program(DTLTO_LLVM_CONFIG NAMES llvm-config
      PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
    execute_process(COMMAND ${DTLTO_LLVM_CONFIG} --link-static --libs ${ARGN}
      OUTPUT_VARIABLE libraries OUTPUT_STRIP_TRAILING_WHITESPACE
      COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(libraries NATIVE_COMMAND "${libraries}")
    list(REMOVE_ITEM libraries -lPolly -lPollyISL)
  endif()
  set(${variable} "${libraries}" PARENT_SCOPE)
endfunction()

separate_arguments(_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")

add_library(dtlto_llvm INTERFACE)
target_include_directories(dtlto_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(dtlto_llvm INTERFACE ${_definitions})
target_compile_options(dtlto_llvm INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti -fno-exceptions>)
# The property DTLTO_LLVM_LIBRARIES of an executable replaces the libraries.
set(_chosen $<TARGET_PROPERTY:DTLTO_LLVM_LIBRARIES>)
if(WIN32 AND NOT DTLTO_LLD_ARCHIVES)
  set(_libraries "")
elseif(DTLTO_LINK_LLVM STREQUAL static)
  include(DtltoStaticLLVM)
  set(_libraries dtlto_static_llvm)
else()
  set(_libraries LLVM)
endif()
target_link_libraries(dtlto_llvm INTERFACE
  $<IF:$<BOOL:${_chosen}>,${_chosen},${_libraries}>)

# LLD's drivers use zlib and zstd for compressed sections.
set(_compression "")
if(LLVM_ENABLE_ZLIB OR NOT WIN32)
  find_package(ZLIB REQUIRED)
  list(APPEND _compression ZLIB::ZLIB)
endif()
if(LLVM_ENABLE_ZSTD)
  find_library(ZSTD_LIBRARY NAMES zstd REQUIRED)
  list(APPEND _compression ${ZSTD_LIBRARY})
endif()

if(DTLTO_LLD_ARCHIVES)
  add_library(dtlto_lld INTERFACE)
  target_include_directories(dtlto_lld SYSTEM INTERFACE ${DTLTO_LLD_INCLUDE_DIR})
  target_link_libraries(dtlto_lld INTERFACE ${DTLTO_LLD_ARCHIVES} dtlto_llvm
    ${_compression})
endif()
