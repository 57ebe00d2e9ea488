# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Run by CPack when the packages are made. CPack has plugins of ours for libraries
# of the system, and has the packages run ldconfig; they need no script at all.
# dpkg-deb also takes no file's time that is after SOURCE_DATE_EPOCH. (Level 6 takes
# five times as long, for a sixth less.)
find_program(DPKG_DEB dpkg-deb REQUIRED)
foreach(package ${CPACK_PACKAGE_FILES})
  set(folder "${package}.unpacked")
  file(REMOVE_RECURSE "${folder}")
  execute_process(COMMAND "${DPKG_DEB}" --raw-extract "${package}" "${folder}"
    COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE "${folder}/DEBIAN/postinst" "${folder}/DEBIAN/postrm")
  execute_process(COMMAND "${DPKG_DEB}" --root-owner-group -Zxz -z1
      --build "${folder}" "${package}"
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE "${folder}")
endforeach()
