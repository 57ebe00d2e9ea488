# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""clang-source.py <folder>: recreates the folder with a `source` that is laid
out like LLVM's, of a clang and an LLD that only print their version."""

import shutil
import sys
from pathlib import Path

shutil.rmtree(sys.argv[1], ignore_errors=True)
source = Path(sys.argv[1]) / "source"


def write(path, text):
    path = source / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


write("clang/utils/TableGen/TableGen.cpp", "int main() { return 0; }\n")
write("clang/lib/Support/Support.cpp", "int support() { return 1; }\n")
write("llvm/CMakeLists.txt", """\
cmake_minimum_required(VERSION 3.20)
project(LLVM C CXX)
if(NOT EXISTS "${CLANG_TABLEGEN}" OR NOT LLVM_ENABLE_LTO STREQUAL "Thin")
  message(FATAL_ERROR "an option is missing")
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_compile_options(-flto=thin)
add_library(LLVMSupport STATIC lib/Support/support.cpp)
find_library(zlib z REQUIRED) # an absolute path
target_link_libraries(LLVMSupport PUBLIC ${zlib})
foreach(program clang lld)
  add_executable(${program} ${program}.cpp)
  target_link_libraries(${program} PRIVATE LLVMSupport)
endforeach()
set_target_properties(clang PROPERTIES OUTPUT_NAME clang-19)
""")
write("llvm/lib/Support/support.cpp", '#include <cstdio>\n'
      'extern "C" const char *zlibVersion();\n'
      'void say(const char *What) {\n'
      '  std::printf("%s 19.1.7 %s\\n", What, zlibVersion());\n}\n')
for name in "clang", "lld":
    write(f"llvm/{name}.cpp", "void say(const char *);\n"
          f'int main() {{ say("{name}"); return 0; }}\n')
