# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds for 64-bit Windows with this machine's clang and LLD, and with the
# headers and libraries of Debian's mingw-w64. It uses the flavour with POSIX
# threads, whose C++ library has std::thread. Other libraries are those of
# scripts/windows-libraries: in DTLTO_WINDOWS_LIBRARIES, a variable of CMake or
# of the environment, or in that script's default folder. DTLTO_LLVM_VERSION is
# LLVM's major version for both machines.

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DTLTO_WINDOWS_LIBRARIES DTLTO_LLVM_VERSION)
if(NOT DTLTO_LLVM_VERSION)
  set(DTLTO_LLVM_VERSION 22)
endif()
set(_prefix x86_64-w64-mingw32)
file(GLOB _gcc /usr/lib/gcc/${_prefix}/*-posix)
if(NOT _gcc)
  message(FATAL_ERROR "there is no /usr/lib/gcc/${_prefix}/*-posix; install it: "
    "apt-get install g++-mingw-w64-x86-64-posix")
endif()
list(GET _gcc -1 _gcc)
# clang takes about half of GCC's time for LLVM.
set(CMAKE_C_COMPILER clang-${DTLTO_LLVM_VERSION})
set(CMAKE_CXX_COMPILER clang++-${DTLTO_LLVM_VERSION})
foreach(_language C CXX ASM)
  set(CMAKE_${_language}_COMPILER_TARGET ${_prefix})
endforeach()
set(CMAKE_RC_COMPILER ${_prefix}-windres)

if(NOT DTLTO_WINDOWS_LIBRARIES)
  set(DTLTO_WINDOWS_LIBRARIES "$ENV{DTLTO_WINDOWS_LIBRARIES}")
endif()
if(NOT DTLTO_WINDOWS_LIBRARIES)
  set(_cache "$ENV{XDG_CACHE_HOME}")
  if(_cache STREQUAL "")
    set(_cache "$ENV{HOME}/.cache")
  endif()
  set(DTLTO_WINDOWS_LIBRARIES "${_cache}/dtlto/windows")
endif()
set(LLVM_DIR "${DTLTO_WINDOWS_LIBRARIES}/llvm-${DTLTO_LLVM_VERSION}/lib/cmake/llvm"
  CACHE PATH "")

set(CMAKE_FIND_ROOT_PATH /usr/${_prefix} ${DTLTO_WINDOWS_LIBRARIES}/lzo
  ${DTLTO_WINDOWS_LIBRARIES})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(_kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${_kind} ONLY)
endforeach()

# Windows 10, for the functions that watch connections. GCC's C++ library
# expects thread-local variables where GCC puts them. clang would use the other
# flavour's library if that is installed, too.
foreach(_language C CXX)
  set(CMAKE_${_language}_FLAGS_INIT "-D_WIN32_WINNT=0x0A00 -femulated-tls")
endforeach()
foreach(_folder c++ c++/${_prefix} c++/backward)
  string(APPEND CMAKE_CXX_FLAGS_INIT " -isystem ${_gcc}/include/${_folder}")
endforeach()
string(APPEND CMAKE_CXX_FLAGS_INIT " -nostdinc++")
# Programs need no DLL of the compiler: neither libstdc++ nor winpthread.
foreach(_kind EXE SHARED MODULE)
  set(CMAKE_${_kind}_LINKER_FLAGS_INIT "-fuse-ld=lld -static -L${_gcc} -lpthread")
endforeach()

# For tests.
find_program(DTLTO_WINE NAMES wine wine64 PATHS /usr/lib/wine)
if(DTLTO_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${DTLTO_WINE}")
endif()
