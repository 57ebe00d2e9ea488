; Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source_filename = "a.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"
define i32 @main() {
  %1 = call ptr @bx(), !callsite !0
  %2 = call ptr @bx(), !callsite !1
  call void @use(ptr %1)
  call void @use(ptr %2)
  ret i32 0
}
declare ptr @bx()
declare void @use(ptr)
!0 = !{i64 8632435727821051414}
!1 = !{i64 -3421689549917153178}
