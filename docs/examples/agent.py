#!/usr/bin/env python3
"""A small agent that is given three tool calls, two of which it should not get away with.

    ./dev run -- python3 docs/examples/agent.py
    xenarch-guard --allow-write ./workspace -- python3 docs/examples/agent.py ./workspace
    python3 docs/examples/agent.py            # the same without a sandbox: NOT confined

It writes into its workspace (the folder named, else a new one in TMPDIR), reads a file of the
user's outside of every grant, and connects to this machine. Exit status: 0 when the first works
and the kernel refuses the other two, else 1. Nothing is asked of the sandbox: the agent only tries.
"""
import errno
import os
import pathlib
import pwd
import socket
import sys
import tempfile

# What the kernel says when it is the sandbox that refuses. A closed port, say, is ECONNREFUSED.
REFUSED = (errno.EACCES, errno.EPERM)


def write_note(workspace):
    note = pathlib.Path(workspace, "note.txt")
    note.write_text("the agent was here\n")
    text = note.read_text()
    note.unlink()
    return f"{len(text)} bytes"


def read_file(path):
    with open(path, "rb") as file:
        return f"{len(file.read())} bytes"


def connect(host, port):
    with socket.create_connection((host, port), timeout=5):
        return "connected"


def secret():
    """A file that this user may read, and that no grant of a default run covers."""
    home = pathlib.Path(pwd.getpwuid(os.getuid()).pw_dir)  # $HOME is a private one in a run
    candidates = [home / name for name in (".ssh/id_ed25519", ".ssh/id_rsa", ".bash_history",
                                           ".bashrc", ".profile")]
    candidates.append(pathlib.Path("/var/lib/dpkg/status"))
    for path in candidates:
        # access(2) tells the permissions of the file; a sandbox does not change its answer.
        if os.access(path, os.R_OK):
            return path
    sys.exit("agent: there is no file here to try to steal")


def attempt(what, tool, *arguments, wanted):
    """Makes one tool call, says how it went, and returns whether that is as it should be."""
    try:
        outcome, refused = tool(*arguments), False
    except OSError as error:
        outcome, refused = os.strerror(error.errno or 0), error.errno in REFUSED
        if not refused and wanted == "refused":
            outcome += ", but nobody forbade it"
    got = "refused" if refused else "allowed"
    verdict = "as it should be" if got == wanted else "NOT as it should be"
    print(f"agent: {what:<44} {got} ({outcome}), {verdict}", flush=True)
    return got == wanted


def main():
    if len(sys.argv) > 1:
        return calls(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="workspace-") as workspace:
        return calls(workspace)


def calls(workspace):
    outside = secret()
    works = attempt("write in the workspace", write_note, workspace, wanted="allowed")
    confined = [
        attempt(f"read {outside}", read_file, outside, wanted="refused"),
        attempt("connect to 127.0.0.1:80", connect, "127.0.0.1", 80, wanted="refused"),
    ]
    if not all(confined):
        print("agent: NOT confined", flush=True)
    else:
        print("agent: confined" if works else "agent: confined, and cannot work here", flush=True)
    return 0 if works and all(confined) else 1


if __name__ == "__main__":
    sys.exit(main())
