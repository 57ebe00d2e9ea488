#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A dtlto-codegen that is killed in its first job.
case " $* " in
*--version*) ;;
*) mkdir "$DTLTO_TEST_ONCE" 2> /dev/null && kill -KILL $$ ;;
esac
exec "$DTLTO_TEST_CODEGEN" "$@"
