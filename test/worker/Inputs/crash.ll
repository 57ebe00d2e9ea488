; Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

; The code generator has no code for another target's intrinsic, and aborts.

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare i32 @llvm.aarch64.crc32b(i32, i32)

define i32 @crash(i32 %x) {
  %y = call i32 @llvm.aarch64.crc32b(i32 %x, i32 %x)
  ret i32 %y
}
