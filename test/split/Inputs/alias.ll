target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"
@buf = global [68 x i8] zeroinitializer, align 16
@v = hidden alias <4 x i32>, getelementptr (i8, ptr @buf, i64 1)
@sink = global i32 0
define i32 @p1(i32 %x) noinline {
 store volatile i32 1, ptr @sink
 store volatile i32 2, ptr @sink
 store volatile i32 3, ptr @sink
 store volatile i8 7, ptr @buf
 ret i32 %x
}
define i32 @p3(i32 %x) noinline {
 store volatile i32 1, ptr @sink
 store volatile i32 2, ptr @sink
 store volatile i32 3, ptr @sink
 store volatile i32 3, ptr @sink
 ret i32 %x
}
define i32 @p2(i32 %x) noinline {
 store volatile i32 1, ptr @sink
 store volatile i32 2, ptr @sink
 store volatile i32 3, ptr @sink
 %a = load <4 x i32>, ptr @v, align 1
 %b = insertelement <4 x i32> %a, i32 %x, i32 2
 %c = mul <4 x i32> %b, %a
 %c2 = add <4 x i32> %c, %b
 store <4 x i32> %c2, ptr @v, align 1
 ret i32 %x
}
define i32 @start(i32 %x) {
 %a = call i32 @p1(i32 %x)
 %z = call i32 @p3(i32 %a)
 %b = call i32 @p2(i32 %a)
 store volatile i32 3, ptr @sink
 ret i32 0
}
