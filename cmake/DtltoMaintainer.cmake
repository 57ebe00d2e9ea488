# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The maintainer of the Debian packages: DTLTO_PACKAGE_MAINTAINER. The default
# is the environment's, as for Debian's own tools.

set(_name "Local build of dtlto")
set(_address "nobody@example.org")
if(NOT "$ENV{DEBFULLNAME}" STREQUAL "")
  set(_name "$ENV{DEBFULLNAME}")
endif()
set(_maintainer "${_name} <${_address}>")
if("$ENV{DEBEMAIL}" MATCHES "<.+>")
  set(_maintainer "$ENV{DEBEMAIL}")
elseif(NOT "$ENV{DEBEMAIL}" STREQUAL "")
  set(_maintainer "${_name} <$ENV{DEBEMAIL}>")
endif()
set(DTLTO_PACKAGE_MAINTAINER "${_maintainer}" CACHE STRING
  "Who answers for the Debian packages: Name <address>")
if(NOT DTLTO_PACKAGE_MAINTAINER MATCHES "^[^<>@,]+ <[^<> ]+@[^<> ]+>$")
  message(FATAL_ERROR "DTLTO_PACKAGE_MAINTAINER is "
    "'${DTLTO_PACKAGE_MAINTAINER}': expected 'Name <address>', as "
    "-DDTLTO_PACKAGE_MAINTAINER=... or in DEBFULLNAME and DEBEMAIL")
endif()
