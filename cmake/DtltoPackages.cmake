# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Debian packages, made by CPack from the COMPONENTs of install(). Each package
# is a group of CPack. scripts/package makes the packages.

if(NOT CMAKE_SYSTEM_NAME STREQUAL Linux)
  return()
endif()

# The changelog has the packages' version, and must be up to date.
set(_changelog ${PROJECT_SOURCE_DIR}/packaging/debian/changelog)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_changelog})
file(STRINGS ${_changelog} _entry LIMIT_COUNT 1)
string(REGEX MATCH "^dtlto \\(([0-9.]+)-([0-9][^)]*)\\)" _entry "${_entry}")
set(_revision "${CMAKE_MATCH_2}")
if(NOT CMAKE_MATCH_1 STREQUAL PROJECT_VERSION)
  message(FATAL_ERROR "packaging/debian/changelog begins with version "
    "'${CMAKE_MATCH_1}', and the project has ${PROJECT_VERSION}: add an entry")
endif()
set(_version "${PROJECT_VERSION}-${_revision}")

include(DtltoMaintainer)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dtlto)
set(CPACK_PACKAGE_VENDOR "")
set(CPACK_PACKAGE_CONTACT "${DTLTO_PACKAGE_MAINTAINER}")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# Fast: repack-deb.cmake compresses again.
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE
  OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${_revision})
set(CPACK_DEBIAN_PACKAGE_SOURCE dtlto)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_POST_BUILD_SCRIPTS
  ${PROJECT_SOURCE_DIR}/cmake/package/repack-deb.cmake)
set(CPACK_COMPONENTS_ALL "")
# The only toolchain file for Linux is cmake/toolchains/arm64-linux.cmake.
if(CMAKE_CROSSCOMPILING)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  set(_shlibdeps ${PROJECT_BINARY_DIR}/packaging/shlibdeps)
  configure_file(cmake/package/shlibdeps.in ${_shlibdeps} @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/packaging/cross.cmake)
  file(WRITE ${CPACK_PROJECT_CONFIG_FILE}
    "set(SHLIBDEPS_EXECUTABLE \"${_shlibdeps}\")\n")
endif()

# The linker replaces functions that are in no header of LLVM, and equal results
# need an equal version. Debian's revisions don't matter.
string(REGEX REPLACE "^([0-9]+\\.[0-9]+)\\..*" "\\1" _minor
  "${LLVM_PACKAGE_VERSION}")
math(EXPR _next "${LLVM_VERSION_PATCH} + 1")
set(_llvm "libllvm${LLVM_VERSION_MAJOR}")
string(CONCAT _llvm "${_llvm} (>= 1:${LLVM_PACKAGE_VERSION}~), "
  "${_llvm} (<< 1:${_minor}.${_next}~)")

# dtlto_package(<name> <component> SUMMARY <line> DETAILS <text>
#               [DEPENDS <relation>] [RECOMMENDS ...] [SUGGESTS ...]
#               [LICENCE <file>...])
#
# Makes a package of the files of <component>, with copyright (a common part,
# and the parts named by LICENCE), changelog and lintian overrides.
function(dtlto_package name component)
  cmake_parse_arguments(PARSE_ARGV 2 arg ""
    "SUMMARY;DETAILS;DEPENDS;RECOMMENDS;SUGGESTS" "LICENCE")
  set(own "deb-${component}")
  set(made "${PROJECT_BINARY_DIR}/packaging/${name}")
  set(source "${PROJECT_SOURCE_DIR}/packaging/debian")

  set(copyright "")
  foreach(part common ${arg_LICENCE})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
      "${source}/copyright.${part}")
    file(READ "${source}/copyright.${part}" text)
    string(CONFIGURE "${text}" text @ONLY)
    string(APPEND copyright "${text}")
  endforeach()
  file(WRITE "${made}/copyright" "${copyright}")
  dtlto_gzip("${_changelog}" "${made}/changelog.Debian.gz")
  install(FILES "${made}/copyright" "${made}/changelog.Debian.gz"
    DESTINATION share/doc/${name} COMPONENT ${own} EXCLUDE_FROM_ALL)
  if(EXISTS "${source}/${name}.lintian-overrides")
    install(FILES "${source}/${name}.lintian-overrides"
      DESTINATION share/lintian/overrides RENAME ${name}
      COMPONENT ${own} EXCLUDE_FROM_ALL)
  endif()

  string(TOUPPER "${name}" group)
  foreach(part ${component} ${own})
    string(TOUPPER "${part}" upper)
    set(CPACK_COMPONENT_${upper}_GROUP ${name} PARENT_SCOPE)
  endforeach()
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} ${own}
    PARENT_SCOPE)
  set(CPACK_DEBIAN_${group}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${group}_DESCRIPTION "${arg_SUMMARY}\n${arg_DETAILS}"
    PARENT_SCOPE)
  foreach(relation DEPENDS RECOMMENDS SUGGESTS)
    set(CPACK_DEBIAN_${group}_PACKAGE_${relation} "${arg_${relation}}"
      PARENT_SCOPE)
  endforeach()
endfunction()

set(_clang "clang-${LLVM_VERSION_MAJOR}")
dtlto_package(dtlto linker
  SUMMARY "linker for ThinLTO on many machines"
  DETAILS "LLD with one addition: the code generation of each ThinLTO module is a
job that a plugin brings to a distributed build system, and the object file
back. The output is the same, byte for byte, as the one of ld.lld.

This package has the linker and the plugin that runs jobs on this machine."
  DEPENDS "${_llvm}"
  RECOMMENDS "${_clang}"
  SUGGESTS "dtlto-codegen, dtlto-plugin-distcc, dtlto-plugin-icecc, dtlto-plugin-distributor, dtlto-plugin-make, dtlto-plugin-reapi, dtlto-stores"
  LICENCE lld)
dtlto_package(dtlto-codegen codegen
  SUMMARY "worker that compiles one job of a ThinLTO link"
  DETAILS "dtlto-codegen compiles the job of one ThinLTO module from one file, to the
same bytes as the linker. Build farms can run it in the place of clang.

There is also a static one, which needs nothing else on its machine."
  DEPENDS "${_llvm}"
  LICENCE lld static)
dtlto_package(dtlto-distributor linkers
  SUMMARY "ThinLTO links of any LLD on many machines"
  DETAILS "dtlto-distributor brings the plugins of dtlto to other linkers: a stock LLD of
LLVM 21 or later starts it (--thinlto-distributor=), and build systems run
it on what links with --thinlto-index-only leave."
  RECOMMENDS "dtlto"
  SUGGESTS "dtlto-plugin-distcc"
  LICENCE distributor)
dtlto_package(dtlto-plugin-distcc distcc
  SUMMARY "ThinLTO links on distcc servers"
  DETAILS "A plugin of the dtlto linker that sends the jobs of a ThinLTO link to stock
distcc servers, which need the linker's version of clang."
  DEPENDS "dtlto (= ${_version})"
  SUGGESTS "distcc"
  LICENCE gpl distcc)
dtlto_package(dtlto-plugin-icecc icecc
  SUMMARY "ThinLTO links on an icecream cluster"
  DETAILS "A plugin of the dtlto linker that sends the jobs of a ThinLTO link to a stock
icecream cluster, together with the compiler that runs them there."
  DEPENDS "dtlto (= ${_version}), dtlto-codegen (= ${_version})"
  RECOMMENDS "icecc"
  LICENCE gpl icecc)
dtlto_package(dtlto-plugin-distributor distributor
  SUMMARY "ThinLTO links by way of a distributor for LLVM's DTLTO"
  DETAILS "A plugin of the dtlto linker that has a program run the jobs of a ThinLTO
link, one that was written for LLD's option --thinlto-distributor."
  DEPENDS "dtlto (= ${_version})"
  RECOMMENDS "${_clang}")
dtlto_package(dtlto-plugin-make make
  SUMMARY "ThinLTO links by way of make and any compiler launcher"
  DETAILS "A plugin of the dtlto linker that writes the jobs of a ThinLTO link to a
makefile, and has make run them with distcc, icecc, srun or a script."
  DEPENDS "dtlto (= ${_version}), make"
  RECOMMENDS "${_clang}")
if(TARGET dtlto_gold)
  dtlto_package(dtlto-gold gold
    SUMMARY "ThinLTO links on many machines with mold, GNU ld and gold"
    DETAILS "A plugin for linkers that takes the place of LLVM's LLVMgold.so, and has the
jobs of ThinLTO run by dtlto's plugins, and commands that run mold, GNU ld
and gold with it."
    DEPENDS "dtlto (= ${_version}), llvm-${LLVM_VERSION_MAJOR}-linker-tools"
    RECOMMENDS "mold | binutils"
    SUGGESTS "${_clang}"
    LICENCE lld)
endif()
if(DTLTO_HAVE_REAPI)
  dtlto_package(dtlto-plugin-reapi reapi
    SUMMARY "ThinLTO links by the Remote Execution API"
    DETAILS "A plugin of the dtlto linker that has the jobs of a ThinLTO link executed by
servers of the Remote Execution API, as Bazel and recc use them, together
with the compiler that runs them there."
    DEPENDS "dtlto (= ${_version}), dtlto-codegen (= ${_version})"
    LICENCE reapi expat)
endif()
if(DTLTO_HAVE_STORE_HTTP OR DTLTO_HAVE_STORE_REDIS)
  dtlto_package(dtlto-stores stores
    SUMMARY "remote caches for ThinLTO links"
    DETAILS "Libraries with which the dtlto linker shares optimized modules and objects
between machines, on servers for HTTP or Redis
(--thinlto-dist-remote-cache=URL)."
    DEPENDS "dtlto (= ${_version})"
    LICENCE stores expat)
endif()
dtlto_package(dtlto-dev dev
  SUMMARY "ThinLTO on many machines: for build files and for new plugins"
  DETAILS "For a vendor of a distributed build system who writes a plugin for the dtlto
linker: the header of the plugin ABI, examples and dtlto-plugin-check. For
builds: a CMake package, a CMake toolchain file and a pkg-config file."
  DEPENDS "dtlto (= ${_version})")

# All components must be in a package, except LLD's own names in /usr/bin, which
# another LLD has, and the licence, which `copyright` contains.
get_cmake_property(_left COMPONENTS)
list(REMOVE_ITEM _left ${CPACK_COMPONENTS_ALL} lld-names license)
if(_left)
  message(FATAL_ERROR "no package has what an install() gives to the COMPONENT "
    "'${_left}': name another, or add a package to cmake/DtltoPackages.cmake")
endif()

include(CPack)
