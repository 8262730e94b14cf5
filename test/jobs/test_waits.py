"""Faults that pass: a sink whose disk is full, whose target is locked or gone, is waited for; the job goes on where it was."""
import json
import os
import signal
import sqlite3
import subprocess

from harness import ended, ok, test, wait_for

FILES = """pipeline.name: waits
execution.checkpointing: {{interval: 50 ms, dir: {dir}/ck}}
restart-strategy.type: none
sources:
  events:
    connector: filesystem
    path: in/
    format: raw
    source.monitor-interval: 20 ms
    schema: {{line: STRING}}
sinks:
  out: {{from: events, connector: filesystem, path: {out}/, format: raw}}
"""


def job_of(p, out):
    return p.write("job.yaml", FILES.format(dir=p.dir, out=out))


def lines(p, out):
    return [line for f in sorted(out.glob("[!.]*")) for line in f.read_text().split()]


def numbers(first, end):
    return "".join(f"{i:0100d}\n" for i in range(first, end))


def is_all(p, out, end):
    return sorted(lines(p, out)) == numbers(0, end).split()


def waits(p, words):
    status = json.loads(ok(p.run("status", "--json")).stdout)
    return any(words in v["waits-for"] and v["waits-since"] > 0 for v in status["vertices"] if "waits-for" in v)


def stopped(child):
    child.terminate()
    done = ended(child)
    assert b"restart" not in done.stderr and b"ERROR" not in done.stderr, done.stderr
    return done.stderr.decode()


class Small:
    """A file system of one MiB, mounted; None where that is not allowed."""

    def __init__(self, p):
        self.path = p.dir / "small"
        self.path.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", self.path], check=True)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.path], check=True)


def may_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


@test
def a_full_disk_is_waited_for(p):
    if not may_mount():
        print("-- a_full_disk_is_waited_for: nothing can be mounted here")
        return
    with Small(p) as small:
        filler = small / ".filler"
        filler.write_bytes(bytes(900 * 1024))
        p.write("in/1.txt", numbers(0, 500))
        log = p.dir / "log"
        with log.open("wb") as err:
            child = p.start("run", job_of(p, small / "out"), stderr=err)
        wait_for("the first rows", lambda: is_all(p, small / "out", 500))
        p.write("in/2.txt", numbers(500, 6000))
        wait_for("a wait", lambda: waits(p, "No space left"))
        wait_for("words of it", lambda: b"waits: " in log.read_bytes())
        assert "waits for" in ok(p.run("status")).stdout.decode()
        filler.unlink()
        wait_for("all rows", lambda: is_all(p, small / "out", 6000))
        assert not waits(p, "")
        stopped(child)
        assert b"restart" not in log.read_bytes() and b"ERROR" not in log.read_bytes(), log.read_bytes()


@test
def a_job_that_is_taken_over_or_starts_while_a_disk_is_full_waits_too(p):
    if not may_mount():
        print("-- a_job_that_is_taken_over_or_starts_while_a_disk_is_full_waits_too: nothing can be mounted here")
        return
    with Small(p) as small:
        (small / "out").mkdir()
        filler = small / ".filler"
        filler.write_bytes(bytes(900 * 1024))
        p.write("in/1.txt", numbers(0, 6000))
        job = job_of(p, small / "out")
        for _ in range(2):
            child = p.start("run", job, "--continue", "-D", "restart-strategy.type=none")
            wait_for("a wait", lambda: p.status() and waits(p, "No space left"))
            subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "oflag=append", "conv=notrunc"], capture_output=True)  # till it fails
            child.kill()
            child.wait()
        child = p.start("run", job, "--continue", "-D", "restart-strategy.type=none")
        wait_for("a wait", lambda: p.status() and waits(p, "No space left"))
        filler.unlink()
        wait_for("all rows", lambda: is_all(p, small / "out", 6000))
        stopped(child)


@test
def redo_files_wait_for_room_too(p):
    if not may_mount():
        print("-- redo_files_wait_for_room_too: nothing can be mounted here")
        return
    with Small(p) as small:
        filler = small / "filler"
        filler.write_bytes(bytes(980 * 1024))
        p.write("in/1.txt", numbers(0, 6000))
        job = p.write("job.yaml", FILES.format(dir=small, out="x").replace(
            "connector: filesystem, path: x/, format: raw", f"connector: sqlite, path: {p.dir}/out.db, table-name: t"))
        child = p.start("run", job, "-D", "execution.checkpointing.interval=10 min")
        wait_for("a wait", lambda: p.status() and waits(p, "No space left"))
        filler.unlink()
        wait_for("what was held back", lambda: not waits(p, ""))
        stopped(child)
        with sqlite3.connect(p.dir / "out.db") as db:
            assert db.execute("SELECT COUNT(*), COUNT(DISTINCT line) FROM t").fetchone() == (6000, 6000)


@test
def a_disk_without_a_byte_left_kills_no_process(p):
    """Bread crumbs lie in a mapped file: a page of it that the disk had no room for would be a SIGBUS."""
    if not may_mount():
        print("-- a_disk_without_a_byte_left_kills_no_process: nothing can be mounted here")
        return
    with Small(p) as small:
        (p.dir / "in").mkdir()
        job = p.write("job.yaml", FILES.format(dir=small, out=p.dir / "out"))
        child = p.start("run", job, "-p", "8", "-D", "execution.checkpointing.tolerable-failed-checkpoints=1000000")
        wait_for("a checkpoint", lambda: p.status() and p.status()["checkpoints"]["completed"] > 0)
        with open(small / "filler", "wb", buffering=0) as f:
            try:
                while f.write(bytes(4096)):
                    pass
            except OSError:
                pass
        for i in range(10):
            p.write(f"in/{i}.txt", numbers(100 * i, 100 * (i + 1)))
        wait_for("failed checkpoints", lambda: p.status()["checkpoints"]["failed"] > 3)
        (small / "filler").unlink()
        wait_for("all rows", lambda: is_all(p, p.dir / "out", 1000))
        child.terminate()
        ended(child)


@test
def a_target_that_is_locked_for_long_is_waited_for(p):
    p.write("in/1.txt", numbers(0, 10))
    job = p.write("job.yaml", FILES.format(dir=p.dir, out="x").replace(
        "connector: filesystem, path: x/, format: raw", "connector: sqlite, path: out.db, table-name: t"))
    child = p.start("run", job)
    db = sqlite3.connect(p.dir / "out.db", isolation_level=None)
    count = lambda: db.execute("SELECT COUNT(*) FROM t").fetchone()[0]
    wait_for("the table", lambda: db.execute("SELECT name FROM sqlite_master WHERE name = 't'").fetchone())
    wait_for("the first rows", lambda: count() == 10)
    db.execute("BEGIN EXCLUSIVE")
    p.write("in/2.txt", numbers(10, 30))
    wait_for("a wait", lambda: waits(p, "locked"))
    db.execute("ROLLBACK")
    wait_for("all rows", lambda: count() == 30)
    stopped(child)
    # Not for ever: then the restart strategy decides, of which there is none.
    db.execute("BEGIN EXCLUSIVE")
    p.write("in/3.txt", numbers(30, 40))
    child = p.start("run", job, "--continue", "-D", "sink.retry.timeout=300 ms")
    done = ended(child, 1)
    db.execute("ROLLBACK")
    assert b"locked" in done.stderr, done.stderr
    child = p.start("run", job, "--continue")
    wait_for("all rows", lambda: count() == 40)
    stopped(child)


@test
def a_wait_ends_by_its_limit(p):
    p.write("in/1.txt", numbers(0, 10))
    job = p.write("job.yaml", FILES.format(dir=p.dir, out="x").replace(
        "connector: filesystem, path: x/, format: raw", "connector: sqlite, path: out.db, table-name: t"))
    child = p.start("run", job, "-D", "sink.retry.timeout=300 ms")
    db = sqlite3.connect(p.dir / "out.db", isolation_level=None)
    wait_for("the table", lambda: db.execute("SELECT name FROM sqlite_master WHERE name = 't'").fetchone())
    wait_for("the first rows", lambda: db.execute("SELECT COUNT(*) FROM t").fetchone()[0] == 10)
    db.execute("BEGIN EXCLUSIVE")
    p.write("in/2.txt", numbers(10, 30))
    done = ended(child, 1)
    assert b"waited 3" in done.stderr and b"sink.retry.timeout" in done.stderr and b"locked" in done.stderr, done.stderr


@test
def a_directory_that_is_taken_away_is_waited_for(p):
    out = p.dir / "out"
    p.write("in/1.txt", numbers(0, 10))
    child = p.start("run", job_of(p, out))
    wait_for("the first rows", lambda: is_all(p, out, 10))
    out.rename(p.dir / "away")
    p.write("in/2.txt", numbers(10, 30))
    wait_for("a wait", lambda: waits(p, "No such file or directory"))
    (p.dir / "away").rename(out)
    wait_for("all rows", lambda: is_all(p, out, 30))
    stopped(child)


@test
def a_disk_that_became_read_only_fails_the_job_at_once(p):
    if not may_mount():
        print("-- a_disk_that_became_read_only_fails_the_job_at_once: nothing can be mounted here")
        return
    with Small(p) as small:
        p.write("in/1.txt", numbers(0, 10))
        job = job_of(p, small / "out")
        more = ["-D", "restart-strategy.type=fixed-delay", "-D", "restart-strategy.fixed-delay.attempts=1000"]
        child = p.start("run", job, *more)
        wait_for("the first rows", lambda: is_all(p, small / "out", 10))
        subprocess.run(["mount", "-o", "remount,ro", small], check=True)
        p.write("in/2.txt", numbers(10, 30))
        done = ended(child, 1)
        assert b"Read-only file system" in done.stderr and b"restart in" not in done.stderr, done.stderr
        subprocess.run(["mount", "-o", "remount,rw", small], check=True)
        child = p.start("run", job, "--continue", *more)
        wait_for("all rows", lambda: is_all(p, small / "out", 30))
        stopped(child)


@test
def a_job_that_was_stopped_for_a_while_goes_on(p):
    out = p.dir / "out"
    p.write("in/1.txt", numbers(0, 10))
    child = p.start("run", job_of(p, out), "-D", "execution.checkpointing.timeout=200 ms",
                    "-D", "execution.checkpointing.tolerable-failed-checkpoints=10")
    wait_for("the first rows", lambda: is_all(p, out, 10))
    p.write("in/2.txt", numbers(10, 3000))
    child.send_signal(signal.SIGSTOP)
    try:
        subprocess.run(["sleep", "1"], check=True)  # longer than the time of a checkpoint
    finally:
        child.send_signal(signal.SIGCONT)
    p.write("in/3.txt", numbers(3000, 3100))
    wait_for("all rows", lambda: is_all(p, out, 3100))
    stopped(child)


@test
def a_target_in_use_is_waited_for_before_the_first_row(p):
    """Nothing was read yet, so waiting loses nothing, whatever the restart strategy says."""
    p.write("in.csv", "1\n2\n")
    job = p.write("job.yaml", """restart-strategy.type: none
sources: {events: {connector: filesystem, path: in.csv, format: csv, schema: {a: INT}}}
sinks: {out: {from: events, connector: sqlite, path: t.db, table-name: t}}
""")
    db = sqlite3.connect(p.dir / "t.db", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    child = p.start("run", job)
    said = []
    while b"waits to begin: " not in b"".join(said[-1:]):
        said.append(child.stderr.readline())
        assert said[-1], said
    db.execute("ROLLBACK")
    done = ended(child)
    assert b"ERROR" not in done.stderr and b"database is locked" in said[-1], (said, done.stderr)
    assert sorted(db.execute("SELECT a FROM t")) == [(1,), (2,)]
    db.execute("BEGIN EXCLUSIVE")
    done = ok(p.run("run", job, "-D", "sink.retry.timeout=1ms"), 1)
    assert b"the job failed: sink 'out'" in done.stderr and b"database is locked" in done.stderr, done.stderr
    db.close()


@test
def an_input_that_is_not_there_fails_the_job_whatever_the_restart_strategy_is(p):
    """No restart brings it: a cron job must not stand there for ever. One that watches its path waits for it."""
    head = "execution.checkpointing: {interval: 1s, dir: ck}\nrestart-strategy: {type: fixed-delay, fixed-delay: {delay: 1 h}}\n"
    text = head + """sources: {events: {connector: filesystem, path: %s, format: csv, schema: {a: INT}}}
sinks: {out: {from: events, connector: filesystem, path: out/, format: csv}}
"""
    for path, words in (("nothing/*.csv", b"no file matches"), ("no.csv", b"there is no file or directory"), ("no/", b"there is no file or directory")):
        done = ok(p.run("run", p.write("job.yaml", text % path)), 1)
        assert words in done.stderr and b"restart in" not in done.stderr, done.stderr
    p.write("in/a.csv", "1\n")
    ok(p.run("run", p.write("job.yaml", text % "in/*.csv")))
    (p.dir / "in" / "a.csv").unlink()
    ok(p.run("run", p.dir / "job.yaml", "--continue"))  # it was there, and may come again
