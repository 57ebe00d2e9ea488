# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# CPack runs this after it has made the packages. CPack treats our plugins as
# libraries of the system, and makes the packages run ldconfig; but they need no
# scripts. dpkg-deb also limits the times of files to SOURCE_DATE_EPOCH. (Level
# 6 takes five times as long, and saves a sixth.)
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
