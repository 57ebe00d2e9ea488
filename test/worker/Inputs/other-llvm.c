// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Simulates a libLLVM that was installed after dtlto had been built.

void LLVMGetVersion(unsigned *Major, unsigned *Minor, unsigned *Patch);
void LLVMGetVersion(unsigned *Major, unsigned *Minor, unsigned *Patch) {
  *Major = 19;
  *Minor = 1;
  *Patch = 99;
}
