"""A source that is silent, or has ended, holds up neither checkpoints nor, when it may be idle, watermarks."""
import subprocess

from harness import SIGTERM, ended, ok, test, wait_for
from test_checkpoints import completed
from test_restore import table
from test_state import stores

JOB = """pipeline.name: half-silent
execution.checkpointing: {interval: 20 ms, dir: "STORE", MORE}
sources:
  events:
    connector: filesystem
    path: "DIR/in/*.csv"
    format: csv
    source.monitor-interval: 20 ms
    schema: {k: INT, ts: TIMESTAMP(3)}
    watermark: ts AS ts - INTERVAL '1' SECOND
  QUIET
transforms:
  windows:
    from: [events, quiet]
    window: TUMBLE(ts, INTERVAL '1' MINUTE)
    group-by: [k]
    select: [CAST(window_start AS STRING) AS w, COUNT(*) AS n]
sinks:
  out: {from: windows, connector: sqlite, path: "DIR/out.db", table-name: t}
"""

PIPE = """quiet:
    connector: stdin
    format: csv
    schema: {k: INT, ts: TIMESTAMP(3)}
    watermark: ts AS ts - INTERVAL '1' SECOND
    IDLE"""

FILE = """quiet:
    connector: filesystem
    path: "DIR/short.csv"
    format: csv
    schema: {k: INT, ts: TIMESTAMP(3)}
    watermark: ts AS ts - INTERVAL '1' SECOND"""


def job(p, quiet, more="num-retained: 2"):
    text = JOB.replace("QUIET", quiet).replace("STORE", stores(p)[0]).replace("DIR", str(p.dir)).replace("MORE", more)
    return p.write("job.yaml", text)


def minutes(p, first, count):
    """Appends to the one file: another one would have a watermark of its own, which stays behind."""
    (p.dir / "in").mkdir(exist_ok=True)
    with open(p.dir / "in" / "a.csv", "a") as f:
        f.write("".join(f"1,2026-03-02 09:{m:02}:{s:02}\n" for m in range(first, first + count) for s in (5, 25)))


def read(p, source="events"):
    """Rows that a source has given."""
    return next(v["read-records"] for v in p.status("half-silent")["vertices"] if v["id"] == source)


def shown(p):
    try:
        return len(table(p, "w, n"))
    except Exception:
        return 0


@test
def a_silent_input_stops_no_checkpoint_and_after_its_time_no_window(p):
    minutes(p, 0, 6)
    child = p.start("run", job(p, PIPE.replace("IDLE", "scan.watermark.idle-timeout: 50 ms")), stdin=subprocess.PIPE)
    completed(p, "half-silent", 5)
    wait_for("five windows", lambda: shown(p) == 5)
    child.stdin.write(b"1,2026-03-02 09:05:50\n")  # it is awake again, and its row counts
    child.stdin.flush()
    wait_for("its row", lambda: read(p, "quiet") == 1)  # or the other input could make it late
    minutes(p, 6, 3)
    completed(p, "half-silent", 2)
    wait_for("eight windows", lambda: shown(p) == 8)
    assert table(p, "w, n")[5] == ("2026-03-02 09:05:00.000", 3)
    assert p.status("half-silent")["checkpoints"]["failed"] == 0
    ok(p.run("cancel"))
    child.stdin.close()
    child.stdin = None
    ended(child, 0)


@test
def a_silent_input_without_a_time_out_holds_windows_but_no_checkpoint(p):
    minutes(p, 0, 6)
    child = p.start("run", job(p, PIPE.replace("    IDLE", "")), stdin=subprocess.PIPE)
    completed(p, "half-silent", 10)
    assert shown(p) == 0
    ok(p.run("savepoint", "--dir", p.dir / "sp"))
    child.stdin.write(b"1,2026-03-02 09:08:00\n")
    child.stdin.flush()
    wait_for("five windows", lambda: shown(p) == 5)
    ok(p.run("cancel"))
    child.stdin.close()
    child.stdin = None
    ended(child, 0)


@test
def what_has_ended_stays_so_in_savepoints_of_the_rest(p):
    minutes(p, 0, 3)
    p.write("short.csv", "1,2026-03-02 09:00:40\n")
    path = job(p, FILE)
    child = p.start("run", path, "-p", 2)
    wait_for("two windows", lambda: shown(p) == 2)
    completed(p, "half-silent", 3)
    assert table(p, "w, n")[0] == ("2026-03-02 09:00:00.000", 3)
    savepoint = ok(p.run("stop", "--dir", p.dir / "sp")).stdout.decode().strip()
    ended(child, 0)
    minutes(p, 3, 3)
    child = p.start("resume", "--from", savepoint, path, "-p", 3)
    completed(p, "half-silent", 2)
    wait_for("five windows", lambda: shown(p) == 5)
    assert [n for _, n in table(p, "w, n")] == [3, 2, 2, 2, 2]  # the short file was not read again
    child.send_signal(SIGTERM)
    ended(child, 0)


@test
def checkpoints_end_with_the_first_source_if_that_was_said(p):
    minutes(p, 0, 3)
    p.write("short.csv", "1,2026-03-02 09:00:40\n")
    child = p.start("run", job(p, FILE, "checkpoints-after-tasks-finish: false"))
    wait_for("the job", lambda: p.status("half-silent"))
    wait_for("a refusal", lambda: b"checkpoints-after-tasks-finish" in p.run("savepoint", "--dir", p.dir / "sp").stderr)
    before = p.status("half-silent")["checkpoints"]["completed"]
    minutes(p, 3, 3)
    wait_for("rows", lambda: read(p) == 12)
    assert p.status("half-silent")["checkpoints"]["completed"] == before
    child.send_signal(SIGTERM)  # the last one is taken all the same
    ended(child, 0)
    assert shown(p) == 5
