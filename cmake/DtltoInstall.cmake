# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The files of an installation for build systems: a CMake package, a toolchain
# file and a pkg-config file. They use paths relative to themselves, so a prefix
# may be moved.

include(CMakePackageConfigHelpers)
find_package(Threads REQUIRED)

foreach(_part MAJOR MINOR)
  file(STRINGS include/dtlto/PluginAPI.h _line
    REGEX "^#define DTLTO_ABI_${_part} [0-9]+$")
  string(REGEX MATCH "[0-9]+$" DTLTO_ABI_${_part} "${_line}")
  if(DTLTO_ABI_${_part} STREQUAL "")
    message(FATAL_ERROR "include/dtlto/PluginAPI.h has no DTLTO_ABI_${_part}")
  endif()
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  include/dtlto/PluginAPI.h)

add_library(dtlto_plugin_api INTERFACE)
target_include_directories(dtlto_plugin_api INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:include>)
set_target_properties(dtlto_plugin_api PROPERTIES EXPORT_NAME plugin-api)
# <dtlto/sdk/*.hpp>, for plugins in C++.
add_library(dtlto_sdk INTERFACE)
target_link_libraries(dtlto_sdk INTERFACE dtlto_plugin_api Threads::Threads)
target_compile_features(dtlto_sdk INTERFACE cxx_std_17)
set_target_properties(dtlto_sdk PROPERTIES EXPORT_NAME sdk)
# <dtlto/testing/Host.hpp>, for unit tests of plugins.
add_library(dtlto_testing INTERFACE)
target_link_libraries(dtlto_testing INTERFACE dtlto_sdk ${CMAKE_DL_LIBS})
set_target_properties(dtlto_testing PROPERTIES EXPORT_NAME testing)

# Next to the plugins, which have the same place under each prefix.
set(DTLTO_CMAKE_DIR lib/cmake/dtlto)
set(_made ${PROJECT_BINARY_DIR}/cmake)
configure_package_config_file(cmake/package/dtltoConfig.cmake.in
  ${_made}/dtltoConfig.cmake INSTALL_DESTINATION ${DTLTO_CMAKE_DIR}
  PATH_VARS DTLTO_PLUGIN_DIR)
write_basic_package_version_file(${_made}/dtltoConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
configure_file(cmake/package/dtlto-toolchain.cmake.in
  ${_made}/dtlto-toolchain.cmake @ONLY)
configure_file(cmake/package/dtlto.pc.in ${_made}/dtlto.pc @ONLY)

install(DIRECTORY include/dtlto DESTINATION include COMPONENT dev)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/dtlto-dev
  COMPONENT dev OPTIONAL)
install(TARGETS dtlto_plugin_api dtlto_sdk dtlto_testing EXPORT dtltoTargets COMPONENT dev)
install(EXPORT dtltoTargets NAMESPACE dtlto:: DESTINATION ${DTLTO_CMAKE_DIR}
  COMPONENT dev)
install(FILES ${_made}/dtltoConfig.cmake ${_made}/dtltoConfigVersion.cmake
    cmake/package/dtltoEnable.cmake
  DESTINATION ${DTLTO_CMAKE_DIR} COMPONENT dev)
install(FILES ${_made}/dtlto-toolchain.cmake
  DESTINATION share/dtlto/cmake COMPONENT dev)
# The same for each architecture.
install(FILES ${_made}/dtlto.pc DESTINATION share/pkgconfig COMPONENT dev)
