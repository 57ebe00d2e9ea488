/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A second, invalid symbol table: its entries have no size. */
__asm__(".section .odd,\"a\",@2\n.byte 1\n.text");
int odd(void) { return 1; }
