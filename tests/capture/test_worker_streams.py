"""What scripts do with their standard streams: nothing is lost, nothing is altered on its way to the terminal."""

from __future__ import annotations

import pytest

from tapeviz.capture.recorder import TEXT_LIMIT
from tests.capture.processes import events, launch, output, run_worker, status


@pytest.mark.parametrize("text", [
    "no newline", "\x1b[31mred\x1b[0m and \x1b[2Kgone\n", " 10%\r 20%\r100%\n", "tab\tbell\a é 中 😀\n", "\n\n",
    "a\0b\n",
])
def test_output_is_recorded_as_it_was_written(tmp_path, text):
    done, place = run_worker(tmp_path, f"print({text!r}, end='')")
    assert output(place) == text
    assert done.stdout == text.replace("\r", "\n")   # as text mode reads it


def test_bytes_are_recorded_as_text(tmp_path):
    done, place = run_worker(tmp_path, r"""
        import sys
        print("first", end=" ")
        sys.stdout.buffer.write("hé".encode()[:2]); sys.stdout.buffer.write("hé!\n".encode()[2:])
        sys.stdout.buffer.flush()
        print("last", sys.stdout.buffer.fileno(), sys.stdout.buffer.writable())
        sys.stderr.buffer.write(b"raw \xff\n")
    """)
    assert done.returncode == 0, done.stderr
    assert output(place) == done.stdout == "first hé!\nlast 1 True\n"
    assert output(place, "stderr") == "raw \ufffd\n"


@pytest.mark.parametrize("replacement", [
    "io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')", "codecs.getwriter('utf-8')(sys.stdout.buffer)",
    "Both(sys.stdout)",
])
def test_a_script_that_puts_its_own_stream_in_place(tmp_path, replacement):
    done, place = run_worker(tmp_path, f"""
        import codecs, io, os, sys
        class Both:
            def __init__(self, stream): self.stream, self.kept = stream, []
            def write(self, text): self.kept.append(text); return self.stream.write(text)
            def flush(self): self.stream.flush()
        print("before")
        sys.stdout = {replacement}
        print("after é")
        if os.fork() == 0:
            os._exit(0)
        os.wait()
        print("the end", end="")
    """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace("after é\nafter é\n", "after é\n") == "before\nafter é\nthe end"
    assert output(place) == "before\nafter é\nthe end"
    assert status(place) == "finished"


def test_redirected_and_closed_streams(tmp_path):
    done, place = run_worker(tmp_path, """
        import contextlib, io, sys
        with contextlib.redirect_stdout(io.StringIO()) as kept:
            print("kept")
        print(len(kept.getvalue()))
        sys.stdout.reconfigure(line_buffering=True)
        sys.stderr.close()
        print("after")
        sys.stdout = None
        print("nowhere")
    """)
    assert done.returncode == 0, done.stderr
    assert output(place) == done.stdout == "5\nafter\n"


def test_a_flood_of_output_passes_and_is_recorded_up_to_the_limit(tmp_path):
    count = TEXT_LIMIT // (1 << 20) + 8
    worker = launch(tmp_path, f"""
        import re, sys
        line = "x" * 1023 + "\\n"
        for _ in range({count} * 1024):
            sys.stdout.write(line)
        # (ru_maxrss would count the process that started this one)
        print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) >> 10)
    """)
    assert worker.wait(60)
    assert worker.state == "finished"
    assert int(worker.output.split()[-1]) < 400    # MB: the output does not gather in memory
    texts = [data["text"] for data in events(worker.recording, "stdout")]
    assert TEXT_LIMIT <= sum(map(len, texts)) < TEXT_LIMIT + 200
    assert texts[-1].endswith("(the rest of the output is not recorded)\n")
    assert worker.recording.stat().st_size < 1.2 * TEXT_LIMIT


def test_a_progress_bar_does_not_flood_the_recording(tmp_path):
    done, place = run_worker(tmp_path, """
        import sys, time
        end = time.monotonic() + 1
        count = 0
        while time.monotonic() < end:
            count += 1
            sys.stderr.write(f"\\r{count:8d}")
        print(count)
    """)
    assert output(place, "stderr").replace("\r", "\n") == done.stderr   # as text mode reads it
    assert len(events(place, "stderr")) < 100   # pieces of a batch are one event
    assert int(done.stdout) > 1000
