"""stdin with a journal: what was written down is in the output once, whoever dies."""
import os
import random
import socket
import struct
import subprocess
import threading
import time

from harness import SIGKILL, SIGTERM, ended, ok, test, wait_for

JOB = """pipeline.name: journalled
execution.checkpointing: {interval: 20ms, dir: state}
sources:
  in: {connector: stdin, journal: kept, %sformat: %s, schema: {line: %s}}
sinks:
  out: {from: in, connector: filesystem, path: out/, format: raw}
"""
LINES = JOB % ("", "raw", "STRING")
HEAD = struct.Struct("<IIIIQQ16s")


def line(i):
    return b"%d %s" % (i, b"x" * (i * 7 % 90))


def kept(p):
    """The bytes of the stream that lie in the journal, from the first one that is still there."""
    data = b""
    for path in sorted((p.dir / "kept").glob("*.journal")):
        raw, at = path.read_bytes(), 0
        while at + HEAD.size <= len(raw):
            _, kind, size, _, _, _, _ = HEAD.unpack_from(raw, at)
            if at + HEAD.size + size > len(raw):
                break  # torn
            data += raw[at + HEAD.size:at + HEAD.size + size] if kind == 2 else b""
            at += HEAD.size + size
    return data


def written(p):
    parts = (path.read_bytes() for path in (p.dir / "out").glob("*") if not path.name.startswith("."))
    return b"".join(sorted(b"".join(parts).splitlines(keepends=True)))


class Feed:
    """A pipe that outlives its readers, and a thread that writes numbered lines into it."""

    def __init__(self, count):
        self.reader, self.writer = os.pipe()
        self.thread = threading.Thread(target=self.write, args=(count,))
        self.thread.start()

    def write(self, count):
        text = b"".join(line(i) + b"\n" for i in range(count))
        at, chunk = 0, random.Random(count)
        while at < len(text):  # cut anywhere
            at += os.write(self.writer, text[at:at + chunk.randint(1, 30000)])
        os.close(self.writer)

    def close(self):
        self.thread.join()
        os.close(self.reader)


@test
def whoever_is_killed_what_was_written_down_comes_once(p):
    job, rng = p.write("job.yaml", LINES), random.Random(1)
    feed, count, safe, kills = Feed(400_000), 400_000, set(), 0
    try:
        while kills < 12:
            child = p.start("run", "-q", job, "--continue", stdin=feed.reader)
            time.sleep(rng.uniform(0.01, 0.12))  # the place of the kill is left to luck, the promise is not
            child.send_signal(SIGKILL)
            child.wait()
            kills += 1
            there = kept(p)
            assert there == b"" or there.endswith(b"\n"), there[-100:]
            safe.update(there.split(b"\n")[:-1])
        ended(p.start("run", "-q", job, "--continue", stdin=feed.reader))
    finally:
        while feed.thread.is_alive():
            os.read(feed.reader, 1 << 20)
        feed.close()
    lines = written(p).split(b"\n")[:-1]
    torn = set(lines) - {line(i) for i in range(count)}
    assert not torn, sorted(torn)[:3]
    numbers = sorted(int(x.split()[0]) for x in lines)
    assert len(set(numbers)) == len(numbers), "a line came twice"
    assert safe <= set(lines), sorted(safe - set(lines))[:3]
    gaps = sum(b - a > 1 for a, b in zip(numbers, numbers[1:]))
    assert gaps <= kills and len(numbers) > count / 10, (gaps, len(numbers))
    assert not list((p.dir / "kept").glob("*.journal"))  # the last checkpoint has it all


def killed(p, job, text, *args):
    """A run that has written `text` down and is killed before any checkpoint has it."""
    child = p.start("run", "-q", job, *args, "-D", "execution.checkpointing.interval=10min", stdin=subprocess.PIPE)
    child.stdin.write(text)
    child.stdin.flush()
    wait_for("the journal", lambda: (p.dir / "kept").is_dir() and kept(p).endswith(text[-20:]))
    child.send_signal(SIGKILL)
    child.wait()


@test
def each_stream_is_read_as_one_with_its_own_header(p):
    job = p.write("job.yaml", JOB % ("csv.header: skip, ", "csv", "STRING"))
    child = p.start("run", "-q", job, "-D", "execution.checkpointing.interval=10min", stdin=subprocess.PIPE)
    child.stdin.write(b"line\na\nb\nhalf")
    child.stdin.flush()
    wait_for("the journal", lambda: kept(p) == b"line\na\nb\n")  # half a line stays in the pipe
    child.send_signal(SIGKILL)
    child.wait()
    ok(p.run("run", "-q", job, "--continue", stdin=b"line\nc\ndone"))
    ok(p.run("run", "-q", job, "--continue", stdin=b"line\nd\n"))
    assert written(p) == b"a\nb\nc\nd\ndone\n", written(p)


@test
def a_stream_that_was_cut_loses_its_torn_line_and_no_other(p):
    job = p.write("job.yaml", LINES)
    killed(p, job, b"a\n" + b"t" * 70000)  # longer than what is waited for: taken in pieces
    done = ok(p.run("run", job, "--continue", stdin=b"b\n"))
    assert written(p) == b"a\nb\n" and b"70000 bytes" in done.stderr, (written(p)[:100], done.stderr)


@test
def a_fresh_run_begins_with_what_no_checkpoint_has(p):
    job = p.write("job.yaml", LINES)
    killed(p, job, b"a\nb\n")
    ok(p.run("run", "-q", job, "--fresh", stdin=b"c\n"))
    assert written(p) == b"a\nb\nc\n"
    ok(p.run("run", "-q", job, "--fresh", stdin=b"d\n"))
    assert written(p) == b"a\nb\nc\nd\n"


@test
def a_full_journal_waits_for_a_checkpoint_or_says_that_none_comes(p):
    text = b"".join(b"%0100d\n" % i for i in range(60000))
    job = p.write("job.yaml", JOB % ("journal.max-size: 1 mb, ", "raw", "STRING"))
    ok(p.run("run", "-q", job, stdin=text))
    assert written(p) == text
    small = p.write("small.yaml", "sources: {in: {connector: stdin, journal: kept, journal.max-size: 1 mb, format: raw, "
                                  "schema: {line: STRING}}}\nsinks: {out: {from: in, connector: blackhole}}\n")
    done = ok(p.run("run", small, "-D", "restart-strategy.type=none", stdin=text), 1)
    assert b"is full (journal.max-size), and no checkpoint" in done.stderr, done.stderr


@test
def a_damaged_journal_ends_the_job_with_code_4(p):
    job = p.write("job.yaml", LINES)
    killed(p, job, b"first\n")
    killed(p, job, b"second\n", "--fresh")
    first = sorted((p.dir / "kept").glob("*.journal"))[0]
    raw = bytearray(first.read_bytes())
    raw[40] ^= 1
    first.write_bytes(raw)
    done = ok(p.run("run", job, "--fresh", stdin=b"third\n"), 4)
    assert b"is damaged" in done.stderr, done.stderr
    raw[40] ^= 1
    first.write_bytes(raw)
    ok(p.run("run", "-q", job, "--fresh", stdin=b"third\n"))
    assert written(p) == b"first\nsecond\nthird\n"


@test
def a_journal_is_one_jobs_and_its_absence_is_told(p):
    job = p.write("job.yaml", LINES)
    child = p.start("run", "-q", job, stdin=subprocess.PIPE)
    child.stdin.write(b"a\n")
    child.stdin.flush()
    wait_for("a row", lambda: written(p) if (p.dir / "out").is_dir() else b"")
    other = p.write("other.yaml", LINES.replace("journalled", "other").replace("state", "state2").replace("out/", "out2/"))
    done = p.run("run", other, "-D", "restart-strategy.type=none", stdin=b"b\n")
    assert done.returncode in (1, 5) and b"another source's" in done.stderr, done.stderr
    child.send_signal(SIGTERM)
    assert child.wait(30) == 9, child.returncode
    child.communicate()
    done = ok(p.run("run", p.write("plain.yaml", LINES.replace("journal: kept, ", "")), "--continue", stdin=b"c\n"), 4)
    assert b"by way of a journal before the checkpoint" in done.stderr, done.stderr
    ok(p.run("run", "-q", job, "--continue", stdin=b"d\n"))
    assert written(p) == b"a\nd\n", written(p)


class Server:
    """Sends numbered lines to whoever is connected, each once, whatever becomes of them."""

    def __init__(self, count):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.next, self.count = 0, count
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        chunk = random.Random(self.count)
        while self.next < self.count:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with peer:
                try:
                    while self.next < self.count:
                        some = range(self.next, min(self.count, self.next + chunk.randint(1, 400)))
                        self.next = some.stop
                        peer.sendall(b"\n".join(line(i) for i in some))
                        if some.stop % 31:  # else the connection ends within the line
                            peer.sendall(b"\n")
                        else:
                            break
                except OSError:
                    pass

    def close(self):
        self.listener.close()


SOCKET = """pipeline.name: journalled
execution.checkpointing: {interval: 20ms, dir: state}
sources:
  in: {connector: socket, hostname: 127.0.0.1, port: %d, journal: kept, format: raw, schema: {line: STRING}}
sinks:
  out: {from: in, connector: filesystem, path: out/, format: raw}
"""


@test
def what_a_socket_brought_and_was_written_down_comes_once(p):
    count, safe, rng = 150_000, set(), random.Random(2)
    server = Server(count)
    job = p.write("job.yaml", SOCKET % server.port)
    try:
        for kill in range(8):
            child = p.start("run", "-q", job, "--continue")
            time.sleep(rng.uniform(0.02, 0.2))  # the place of the kill is left to luck, the promise is not
            child.send_signal(SIGKILL)
            child.wait()
            there = kept(p)
            assert there == b"" or there.endswith(b"\n"), there[-100:]
            safe.update(there.split(b"\n")[:-1])
        child = p.start("run", "-q", job, "--continue")
        wait_for("all lines sent", lambda: server.next >= count)
        server.thread.join(30)
        wait_for("the journal to be done with", lambda: line(count - 1) + b"\n" in written(p))
        child.send_signal(SIGTERM)
        ended(child)
    finally:
        server.close()
    lines = written(p).split(b"\n")[:-1]
    numbers = sorted(int(x.split()[0]) for x in lines)
    assert not set(lines) - {line(i) for i in range(count)}, "torn lines"
    assert len(set(numbers)) == len(numbers), "a line came twice"
    assert safe <= set(lines), sorted(safe - set(lines))[:3]
    assert len(numbers) > count / 10, len(numbers)


@test
def a_socket_that_ends_is_read_by_way_of_its_journal(p):
    server = Server(3000)
    try:
        job = p.write("job.yaml", (SOCKET % server.port).replace("format: raw, s", "reconnect: false, format: raw, s"))
        first = p.start("run", "-q", job, "-D", "execution.checkpointing.interval=10min", "-D", "sinks.out.path=out1/")
        ended(first)
        sent = server.next
        done = [*(p.dir / "out1").glob("part-*")]
        assert sorted(b"".join(f.read_bytes() for f in done).splitlines()) == sorted(line(i) for i in range(sent))
        assert not list((p.dir / "kept").glob("*.journal"))
    finally:
        server.close()
    told = p.run("validate", job).stdout + p.run("validate", job).stderr
    assert b"exactly-once" in told, told
