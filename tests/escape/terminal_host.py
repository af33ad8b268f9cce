"""terminal_host.py SLAVE NULL|TERMINAL COMMAND...: what a shell is to the command that it starts.

Takes the terminal SLAVE as its own, runs the command on it (its standard input is /dev/null or the
terminal), and then looks at what the terminal has become, as the shell would next: prints the
command's status, what can be read from the terminal, and whether it echoes. Has to be the leader of a
session; goes on living when the command has ended, so that the kernel does not reset the terminal.
"""
import json
import os
import subprocess
import sys
import termios

slave, stdin, *command = sys.argv[1:]
terminal = os.open(slave, os.O_RDWR)
modes = termios.tcgetattr(terminal)
with subprocess.Popen(command, stdin=subprocess.DEVNULL if stdin == "NULL" else terminal,
                      stdout=terminal, stderr=terminal) as process:
    status = process.wait()
echoes = bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
modes[3] &= ~termios.ICANON
modes[6][termios.VMIN] = modes[6][termios.VTIME] = 0
termios.tcsetattr(terminal, termios.TCSANOW, modes)
typed = os.read(terminal, 4096).decode(errors="replace")
print(json.dumps({"status": status, "typed": typed, "echoes": echoes}))
