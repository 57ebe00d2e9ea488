# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py SIGNAL LINK...: sends the signal to a link whose distributor
hangs. Its folder must be removed, and its process must end."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))
import interrupting  # noqa: E402


def folders():
    return [n for n in os.listdir(".") if ".dtlto-" in n]


def programs():
    """Returns the processes that run in one of our folders."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            where = os.readlink("/proc/%s/cwd" % pid)
        except OSError:
            continue
        if where.startswith(os.getcwd() + "/") and ".dtlto-" in where:
            found.append(pid)
    return found


link = interrupting.Command(
    sys.argv[2:], lambda: "%s, %s" % (folders(), programs()))
link.work_until(programs, "no program")
link.interrupt(sys.argv[1])
link.wait_for(lambda: not programs(), "the program lives")
link.wait_for(lambda: not folders(), "the folder is there")
