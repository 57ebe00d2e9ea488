#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renders a report in a browser (headless Chromium), and prints the result.

  browse.py [--hash=<state>] [--run=<code>] <page.html>

Prints the document after the page's own code has run, one element a line and
without the data, the code and the style. <code> is JavaScript that runs last in the
page. The value that it assigns to `result` is printed first, as `result: <JSON>`.

Fails if the page's code failed, wrote to the console, didn't finish, or accessed
the network.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

MAX_SECONDS = 240

RUN = """<script>
try {
  let result;
  %s;
  document.documentElement.dataset.result = JSON.stringify(result);
} catch (e) { document.documentElement.dataset.error = String(e); }
</script>
</body>"""


def fail(message):
    sys.exit("browse.py: " + message)


def main():
    p = argparse.ArgumentParser(allow_abbrev=False)
    p.add_argument("--hash", default="")
    p.add_argument("--run", default="")
    p.add_argument("page")
    opts = p.parse_args()
    with open(opts.page) as f:
        page = f.read()
    if opts.run:
        head, tail = page.rsplit("</body>", 1)
        page = head + RUN % opts.run + tail

    folder = tempfile.mkdtemp(prefix="browse.")
    try:
        path = os.path.join(folder, "page.html")
        with open(path, "w") as f:
            f.write(page)
        # The sandbox needs rights that root and containers don't have. The
        # proxy is a port where no process listens.
        command = [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu",
            "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync",
            "--disable-dev-shm-usage", "--proxy-server=127.0.0.1:9",
            "--user-data-dir=" + os.path.join(folder, "user"),
            "--window-size=1400,1000", "--virtual-time-budget=10000",
            "--enable-logging=stderr", "--dump-dom",
            "file://" + path + ("#" + opts.hash if opts.hash else "")]
        env = dict(os.environ, HOME=folder, XDG_CONFIG_HOME=folder,
                   XDG_CACHE_HOME=folder, TMPDIR=folder, TZ="UTC")
        child = subprocess.Popen(command, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                 env=env, start_new_session=True)
        try:
            out, err = child.communicate(timeout=MAX_SECONDS)
        except subprocess.TimeoutExpired:
            fail("no answer of the browser")
        finally:
            # Remaining helper processes of the browser.
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    finally:
        shutil.rmtree(folder, ignore_errors=True)

    dom, log = out.decode(errors="replace"), err.decode(errors="replace")
    console = re.findall(r".*:CONSOLE.*", log)
    if console:
        fail("the page wrote to the console: " + "\n".join(console))
    root = re.match(r"(?:<!DOCTYPE html>\s*)?(?:<!--.*?-->\s*)?<html[^>]*>", dom, re.S)
    if not root:
        fail("no document: %r, and %s" % (dom[:200], log))
    root = root[0]
    error = re.search(r'data-error="([^"]*)"', root)
    if error:
        fail("the page's code failed: " + error[1])
    if 'data-ready="yes"' not in root:
        fail("the page's code didn't come to its end: " + root)
    body = re.sub(r"<(script|style)\b.*?</\1>", "", dom[dom.index("<body"):],
                  flags=re.S)
    result = re.search(r' data-result="([^"]*)"', root)
    if result:
        print("result: " + result[1].replace("&quot;", '"').replace("&amp;", "&"))
    print(re.search(r"<html[^>]*>", root)[0])
    print(re.sub(r">\s*<", ">\n<", body))


main()
