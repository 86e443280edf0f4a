"""Programs that tests run in processes of their own: a writer to watch, to kill, to starve of disk, to fork."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

HEAD = """
import sys, time
from tapeviz.recording.schema import NONE
from tapeviz.recording.writer import Writer
def op(writer, number):
    writer.op(number, 0, 1, 1, NONE, NONE, 0, 1, 1, number, NONE, NONE, NONE, number, time.time_ns(), 0, 0, NONE, NONE)
"""

ENDLESS = HEAD + """
writer = Writer(sys.argv[1], {"script": "endless"})
writer.kind("add")
number = 0
while True:   # about 20,000 operations a second; the last number made is told through the pipe now and then
    op(writer, number)
    writer.value(number, 0, [number])
    number += 1
    time.sleep(0 if number % 20 else 0.001)
"""

FULL_DISK = HEAD + """
import resource
writer = Writer(sys.argv[1], {})
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
for number in range(100_000):
    op(writer, number)
    if number == 1000:
        writer.flush()
writer.close()
print(writer.failed)
print("the script goes on")
"""

FORK = HEAD + """
import os
writer = Writer(sys.argv[1], {})
for number in range(1000):
    op(writer, number)
child = os.fork()
if child == 0:
    for number in range(5000):
        op(writer, 100_000 + number)
    writer.value(0, 0, [1.0])
    writer.flush()
    sys.exit(0)   # with the clean-up of an ordinary exit
assert os.waitpid(child, 0)[1] == 0
for number in range(1000, 2000):
    op(writer, number)
writer.close()
"""

NO_CLOSE = HEAD + """
writer = Writer(sys.argv[1], {})
for number in range(1000):
    op(writer, number)
"""

INTERRUPTED = HEAD + """
import os, signal, threading
writer = Writer(sys.argv[1], {})
def disturb():
    for _ in range(200):
        time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=disturb, daemon=True).start()
number, hits = 0, 0
end = time.monotonic() + 0.6
while time.monotonic() < end:
    try:
        while time.monotonic() < end:
            writer.name_id(f"name {number}")
            op(writer, number)
            number += 1
    except KeyboardInterrupt:
        hits += 1
signal.signal(signal.SIGINT, signal.SIG_IGN)
writer.close()
print(hits, number)
"""


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process with this program."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def output_of(program: str, *arguments: object) -> str:
    """What a program prints; it must end well."""
    process = start(program, *arguments)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out
