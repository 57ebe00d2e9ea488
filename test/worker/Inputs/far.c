/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A relocation far outside of its section, to which LLD writes. */
int far(int x) { return x; }
__asm__(".section .far,\"aw\"\n.quad 0\n"
        ".reloc .far+0x10000000, R_X86_64_64, far\n.text");
