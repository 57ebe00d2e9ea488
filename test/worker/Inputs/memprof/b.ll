; Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source_filename = "b.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"
define ptr @bx() {
  %1 = call ptr @helper(), !callsite !8
  ret ptr %1
}
define internal ptr @helper() {
  %1 = call ptr @_Znam(i64 10) #0, !memprof !2, !callsite !7
  ret ptr %1
}
declare ptr @_Znam(i64)
attributes #0 = { builtin allocsize(0) }
!2 = !{!3, !5}
!3 = !{!4, !"notcold"}
!4 = !{i64 9086428284934609951, i64 -5964873800580613432, i64 8632435727821051414}
!5 = !{!6, !"cold"}
!6 = !{i64 9086428284934609951, i64 -5964873800580613432, i64 -3421689549917153178}
!7 = !{i64 9086428284934609951}
!8 = !{i64 -5964873800580613432}
