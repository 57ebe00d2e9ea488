# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Read by other scripts, after common.sh: how they install Debian packages.

policy=/usr/sbin/policy-rc.d

# What policy-rc.d says while packages are installed: no service may start.
# The last line tells it from anybody else's.
own_policy='#!/bin/sh
exit 101
# Of dtlto, for the time of an installation.'

# install_packages PACKAGE...: installs packages that are missing, as ${as_root[@]},
# the words of a command or none. Their daemons don't start, and aren't enabled, so
# that they don't start with the machine either.
install_packages() {
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get -qq -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update || die "can't update the lists of packages, see above"
  at_exit restore_policy
  # One that is ours is what a killed run left.
  if [[ -e $policy ]] && ! grep -qxF "${own_policy##*$'\n'}" "$policy"; then
    "${as_root[@]}" mv "$policy" "$policy.dtlto-saved"
  fi
  "${as_root[@]}" tee "$policy" >/dev/null <<<"$own_policy"
  "${as_root[@]}" chmod 755 "$policy"
  "${apt[@]}" install --yes --no-install-recommends "$@" ||
    die "can't install packages, see above"
  disable_daemons "$@"
  restore_policy
}

# More than once, and without a policy of ours, it does nothing.
restore_policy() {
  if [[ -e $policy ]] && grep -qxF "${own_policy##*$'\n'}" "$policy"; then
    "${as_root[@]}" rm "$policy"
  fi
  if [[ -e $policy.dtlto-saved && ! -e $policy ]]; then
    "${as_root[@]}" mv "$policy.dtlto-saved" "$policy"
  fi
}

# disable_daemons PACKAGE...: removes what starts the packages' daemons at boot.
disable_daemons() {
  local file name names=()
  while read -r file; do
    name=${file##*/}
    case $file in
      /etc/init.d/*) "${as_root[@]}" update-rc.d "$name" disable ;;
      */lib/systemd/system/*.service | */lib/systemd/system/*.socket)
        if command -v systemctl >/dev/null; then
          "${as_root[@]}" systemctl --quiet disable "$name"
        else
          # What the packages' own scripts made. Also aliases are links to it.
          "${as_root[@]}" find /etc/systemd/system -type l -lname "*/$name" -delete
        fi
        ;;
      *) continue ;;
    esac
    names+=("$name")
  done < <(dpkg -L "$@")
  [[ ${#names[@]} -eq 0 ]] ||
    echo "no daemon was started, and none starts with the machine: ${names[*]}"
}
