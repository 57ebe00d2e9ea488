# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lld-source.py <folder>: recreates the folder with a `source` that is laid out
like LLVM's, of an LLD that only prints its version."""

import shutil
import sys
from pathlib import Path

shutil.rmtree(sys.argv[1], ignore_errors=True)
lld = Path(sys.argv[1]) / "source/lld"


def write(path, text):
    path = lld / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


for folder in "ELF", "COFF", "MachO", "MinGW", "wasm", "Common":
    name = folder.lower()
    write(f"{folder}/CMakeLists.txt",
          f"add_lld_library(lld{folder}\n  {name}.cpp\n\n  LINK_COMPONENTS\n)\n")
    write(f"{folder}/{name}.cpp", f"int {name}() {{ return 1; }}\n")
# The ELF port has options.
write("ELF/Options.td", 'include "llvm/Option/OptParser.td"\n'
      'def version : Flag<["--"], "version">;\n')
write("ELF/elf.cpp", "#define OPTION(...) + 1\n"
      '#include "lld/Common/Version.inc"\n'
      "const char *version() { return LLD_VERSION_STRING; }\n"
      "int elf() { return 0\n#include \"Options.inc\"\n; }\n")
write("tools/lld/lld.cpp",
      '#include "llvm/Support/LLVMDriver.h"\n#include <cstdio>\n'
      "const char *version();\nint elf();\n"
      "int lld_main(int, char **, const llvm::ToolContext &) {\n"
      '  return !elf() || std::printf("LLD %s\\n", version()) < 0;\n}\n')
