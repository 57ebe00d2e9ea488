# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# with-machine.sh COMMAND...: runs it with ./machine.conf, or $MACHINE_CONF, as
# /etc/dtlto.conf. Needs a mount name space of its own.
set -e
file=$(realpath "${MACHINE_CONF-machine.conf}")
mount -t tmpfs none /mnt
mkdir /mnt/upper /mnt/work
cat "$file" >/mnt/upper/dtlto.conf
mount -t overlay none -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work /etc
exec "$@"
