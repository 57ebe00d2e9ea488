# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sourced by other scripts, after common.sh: installs Debian packages.

policy=/usr/sbin/policy-rc.d

# The policy-rc.d while packages are installed: no service may start. The last line
# distinguishes it from other policies.
own_policy='#!/bin/sh
exit 101
# Of dtlto, for the time of an installation.'

# install_packages PACKAGE...: installs missing packages. The command runs after
# ${as_root[@]}, which may be empty. Their daemons don't start, and are disabled, so
# that they don't start at boot either.
install_packages() {
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get -qq -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update || die "cannot update the lists of packages, see above"
  at_exit restore_policy
  # An existing policy of ours is from a killed run.
  if [[ -e $policy ]] && ! grep -qxF "${own_policy##*$'\n'}" "$policy"; then
    "${as_root[@]}" mv "$policy" "$policy.dtlto-saved"
  fi
  "${as_root[@]}" tee "$policy" >/dev/null <<<"$own_policy"
  "${as_root[@]}" chmod 755 "$policy"
  "${apt[@]}" install --yes --no-install-recommends "$@" ||
    die "cannot install packages, see above"
  disable_daemons "$@"
  restore_policy
}

# Restores the saved policy. Can be called repeatedly, also without a policy of ours.
restore_policy() {
  if [[ -e $policy ]] && grep -qxF "${own_policy##*$'\n'}" "$policy"; then
    "${as_root[@]}" rm "$policy"
  fi
  if [[ -e $policy.dtlto-saved && ! -e $policy ]]; then
    "${as_root[@]}" mv "$policy.dtlto-saved" "$policy"
  fi
}

# disable_daemons PACKAGE...: disables the packages' daemons at boot.
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
          # Removes the links of the packages' own scripts, including aliases.
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
