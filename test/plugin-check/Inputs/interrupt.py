# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py SIGNAL COMMAND...: sends the signal to a checker while it runs a
case. Its folder in $TMPDIR must be removed, and all its processes must end."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))
import interrupting  # noqa: E402

tmp = os.environ["TMPDIR"]
os.makedirs(tmp, exist_ok=True)


def runs_case():
    return any("case.txt" in os.listdir(os.path.join(tmp, name))
               for name in os.listdir(tmp)
               if name.startswith("dtlto-plugin-check-"))


check = interrupting.Command(sys.argv[2:], lambda: str(os.listdir(tmp)))
check.work_until(runs_case, "no case runs")
check.interrupt(sys.argv[1])
if any(name.startswith("dtlto-plugin-check-") for name in os.listdir(tmp)):
    sys.exit("left: %s" % os.listdir(tmp))
