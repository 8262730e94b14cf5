"""The http source against senders of the test's own, at ports that the system chose."""
import collections
import gzip
import http.client
import json
import random
import re
import socket
import ssl
import subprocess
import threading
import time

import served
from harness import SIGKILL, SIGTERM, ended, ok, test, wait_for

JOB = """pipeline.name: hook
execution.checkpointing: {interval: %s, dir: state}
restart-strategy: {type: fixed-delay, fixed-delay: {delay: 10ms}}
sources:
  in:
    connector: http
    listen: %s
    path: /events
%s
    schema: %s
sinks:
  out: {from: in, connector: filesystem, path: out/, format: raw}
"""
KEPT = "    journal: kept\n    format: raw"


def job(p, options=KEPT, interval="20ms", listen="127.0.0.1:0", schema="{line: STRING}", name="job.yaml"):
    return p.write(name, JOB % (interval, listen, options, schema))


class Hook:
    """A running job, and the port that its log tells."""

    def __init__(self, p, path, *args):
        self.log = open(p.dir / f"log-{len(p.children)}", "w+b")
        self.child = p.start("run", "-v", path, "--continue", *args, stderr=self.log)
        self.port = int(wait_for("the port", self.told))

    def told(self):
        assert self.child.poll() is None, self.words()
        found = re.findall(rb"listens at https?://[^ ]*:(\d+)/", self.words())
        return found[-1] if found else None

    def words(self):
        self.log.flush()
        with open(self.log.name, "rb") as f:
            return f.read()

    def send(self, body, path="/events", method="POST", headers=(), context=None):
        kind = (lambda *a, **k: http.client.HTTPSConnection(*a, context=context, **k)) if context else http.client.HTTPConnection
        c = kind("127.0.0.1", self.port, timeout=20)
        try:
            c.request(method, path, body=body, headers=dict(headers), encode_chunked="Transfer-Encoding" in headers)
            r = c.getresponse()
            return r.status, r.read().decode(), r.headers
        finally:
            c.close()

    def ready(self):
        wait_for("the server", lambda: self.send(None, "/health", "GET")[0] == 200)
        return self

    def stop(self):
        self.child.send_signal(SIGTERM)
        ended(self.child)


def written(p):
    parts = (f.read_bytes() for f in (p.dir / "out").glob("*") if not f.name.startswith("."))
    return b"".join(parts).decode().splitlines()


@test
def records_come_by_post_and_put_plain_or_packed(p):
    hook = Hook(p, job(p)).ready()
    zstd = subprocess.run(["zstd", "-c"], input=b"e\n", capture_output=True, check=True).stdout
    for body, method, headers in ((b"a\nb\n", "POST", {}), (b"c", "PUT", {}), (b"", "POST", {}),
                                  (gzip.compress(b"d\n"), "POST", {"Content-Encoding": "gzip"}),
                                  (zstd, "POST", {"Content-Encoding": "zstd"}),
                                  (iter([b"f\n", b"g\n"]), "POST", {"Transfer-Encoding": "chunked"})):
        assert hook.send(body, method=method, headers=headers)[0] == 200, (body, hook.words())
    wait_for("the rows", lambda: sorted(written(p)) == list("abcdefg") if (p.dir / "out").is_dir() else False)
    hook.stop()
    assert sorted(written(p)) == list("abcdefg")


@test
def what_cannot_be_taken_is_refused_with_its_reason(p):
    options = "    journal: kept\n    bearer-token: s3cret\n    source.max-body-size: 1 kb\n    format: raw"
    hook = Hook(p, job(p, options))
    right = {"Authorization": "Bearer s3cret"}
    wait_for("the server", lambda: hook.send(b"x", headers=right)[0] == 200)
    assert hook.send(b"x")[0] == 401 and hook.send(b"x", headers={"Authorization": "Bearer s3cres"})[0] == 401
    assert hook.send(b"x", path="/other", headers=right)[0] == 404
    status, words, headers = hook.send(None, method="GET", headers=right)
    assert status == 405 and headers["Allow"] == "POST, PUT", (status, headers)
    assert hook.send(b"x" * 2000, headers=right)[0] == 413
    assert hook.send(iter([b"x" * 700] * 3), headers={**right, "Transfer-Encoding": "chunked"})[0] == 413
    bomb = gzip.compress(b"x" * 100000)
    assert len(bomb) < 1000 and hook.send(bomb, headers={**right, "Content-Encoding": "gzip"})[0] == 413
    assert hook.send(b"no gzip", headers={**right, "Content-Encoding": "gzip"})[0] == 400
    assert hook.send(b"x", headers={**right, "Content-Encoding": "br"})[0] == 415
    with socket.create_connection(("127.0.0.1", hook.port)) as s:
        s.sendall(b"rubbish\r\n\r\n")
        assert not s.recv(4096).startswith(b"HTTP/1.1 2")
    assert hook.send(b"y", headers=right)[0] == 200
    hook.stop()
    assert sorted(written(p)) == ["x", "y"] and b"s3cret" not in hook.words()
    shown = ok(p.run("config", job(p, options))).stdout
    assert b"s3cret" not in shown and b"bearer-token" in shown, shown


@test
def metadata_tell_where_a_record_came_from(p):
    schema = ("\"line STRING, who STRING METADATA FROM 'remote-address', p STRING METADATA FROM 'path', m STRING METADATA FROM "
              "'method', kind STRING METADATA FROM 'content-type', h MAP<STRING, STRING> METADATA FROM 'headers', "
              "t TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'\"")
    text = (JOB % ("20ms", "127.0.0.1:0", "    source.headers: [X-Tag, X-None]\n" + KEPT, schema))
    path = p.write("job.yaml", text.replace("path: out/, format: raw", "path: out/, format: json"))
    hook = Hook(p, path).ready()
    assert hook.send(b"a\nb", headers={"X-Tag": "blue", "Content-Type": "text/x"})[0] == 200
    hook.stop()
    rows = [json.loads(row) for row in written(p)]
    assert [r["line"] for r in rows] == ["a", "b"], rows
    for r in rows:
        assert (r["who"], r["p"], r["m"], r["kind"], r["h"]) == ("127.0.0.1", "/events", "POST", "text/x", {"X-Tag": "blue"}), r
        assert r["t"].startswith("20"), r


@test
def each_body_is_read_as_a_file_or_as_one_record(p):
    hook = Hook(p, job(p, "    journal: kept\n    csv.header: skip\n    format: csv")).ready()
    assert hook.send(b'line\n"a\nb"\n')[0] == 200 and hook.send(b"line\nc")[0] == 200
    hook.stop()
    assert sorted(written(p)) == ["a", "b", "c"], written(p)
    whole = job(p, "    journal: kept2\n    source.body: record\n    format: raw", name="whole.yaml")
    hook = Hook(p, whole, "-D", "pipeline.name=whole", "-D", "sinks.out.path=whole/", "-D", "sinks.out.format=json").ready()
    assert hook.send(b"a\nb\n")[0] == 200
    hook.stop()
    rows = b"".join(f.read_bytes() for f in (p.dir / "whole").glob("part-*"))
    assert json.loads(rows) == {"line": "a\nb\n"}, rows


class Sender(threading.Thread):
    """Sends numbered lines, one request after the other; what was not answered 200 is sent again."""

    def __init__(self, who, port, stop):
        super().__init__(daemon=True)
        self.who, self.port, self.stop = who, port, stop
        self.tries = collections.Counter()
        self.safe = set()
        self.start()

    def run(self):
        n, c, rng = 0, None, random.Random(self.who)
        while not self.stop.is_set():
            lines = [f"{self.who}-{n + i}-{'x' * (n * 7 % 50)}" for i in range(rng.randint(1, 20))]
            while not self.stop.is_set():
                try:
                    c = c or http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
                    self.tries.update(lines)
                    c.request("POST", "/events", "\n".join(lines))
                    status = c.getresponse()
                    status.read()
                    if status.status == 200:
                        self.safe.update(lines)
                        break
                    assert status.status == 503, status.status
                except (OSError, http.client.HTTPException):
                    c = None
                time.sleep(0.002)  # the job is dead, or says that it is busy
            n += len(lines)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def kill_and_send(p, options, kills, listen):
    """Sends while the job is killed again and again; answers the senders, when all is written."""
    path, stop, rng = job(p, options, listen=f"127.0.0.1:{listen}"), threading.Event(), random.Random(kills)
    senders = [Sender(i, listen, stop) for i in range(3)]
    try:
        for _ in range(kills):
            before = sum(len(s.safe) for s in senders)
            child = p.start("run", "-q", path, "--continue")
            wait_for("answers", lambda: sum(len(s.safe) for s in senders) > before or child.poll() is not None)
            time.sleep(rng.uniform(0, 0.15))  # the place of the kill is left to luck, the promise is not
            child.send_signal(SIGKILL)
            child.wait()
        child = p.start("run", "-q", path, "--continue")
        before = sum(len(s.safe) for s in senders)
        wait_for("answers", lambda: sum(len(s.safe) for s in senders) > before)
    finally:
        stop.set()
        for s in senders:
            s.join(30)
    child.send_signal(SIGTERM)
    ended(child)
    child = p.start("run", "-q", path, "--continue")  # what was synced behind the last checkpoint
    hook_is_up = lambda: socket.create_connection(("127.0.0.1", listen)).close() or True

    def tried():
        try:
            return hook_is_up()
        except OSError:
            return False

    wait_for("the server", tried)
    safe = set().union(*(s.safe for s in senders))
    wait_for("what was answered", lambda: safe <= set(written(p)))
    child.send_signal(SIGTERM)
    ended(child)
    return senders, safe


@test
def what_was_answered_200_is_never_lost_and_comes_once_whoever_is_killed(p):
    senders, safe = kill_and_send(p, KEPT, 10, free_port())
    count = collections.Counter(written(p))
    tries = sum((s.tries for s in senders), collections.Counter())
    assert len(safe) > 100, len(safe)
    assert not set(count) - set(tries), "torn lines"
    once = {line for line in safe if tries[line] == 1}
    assert once and all(count[line] == 1 for line in once), [line for line in once if count[line] != 1][:3]
    assert all(count[line] <= tries[line] for line in count)


@test
def without_a_journal_a_checkpoint_can_be_waited_for(p):
    options = "    source.acknowledge: checkpoint\n    format: raw"
    path = job(p, options)
    told = p.run("validate", path)
    assert b"at-least-once" in told.stdout + told.stderr, told
    senders, safe = kill_and_send(p, options, 6, free_port())
    assert len(safe) > 20 and safe <= set(written(p))


@test
def a_signal_ends_it_with_all_that_was_taken_written(p):
    hook = Hook(p, job(p, "    format: raw")).ready()
    stop = threading.Event()
    senders = [Sender(i, hook.port, stop) for i in range(2)]
    wait_for("answers", lambda: sum(len(s.safe) for s in senders) > 50)
    hook.stop()
    stop.set()
    for s in senders:
        s.join(30)
    safe = set().union(*(s.safe for s in senders))
    assert safe <= set(written(p)), sorted(safe - set(written(p)))[:3]


@test
def too_much_at_once_is_answered_503_and_taken_later(p):
    options = "    rate-limit: 2000\n    source.buffer-size: 64 kb\n    format: raw\n    journal: kept"
    hook = Hook(p, job(p, options)).ready()
    body, busy, sent = b"x" * 999 + b"\n", 0, 0
    while busy == 0 and sent < 5000:
        status, words, headers = hook.send(body * 10)
        busy += status == 503
        sent += status == 200
        assert status == 200 or headers["Retry-After"] == "1", (status, headers)
    assert busy == 1 and b"waits to be processed" in words.encode(), words
    wait_for("room", lambda: hook.send(b"last\n")[0] == 200)
    wait_for("the rows", lambda: len(written(p)) > sent * 10)
    hook.stop()
    assert written(p).count("last") == 1 and len(written(p)) == sent * 10 + 1, (len(written(p)), sent)


@test
def a_full_journal_is_answered_503_until_a_checkpoint_empties_it(p):
    options = "    journal: kept\n    journal.max-size: 1 mb\n    source.max-body-size: 512 kb\n    format: raw"
    hook = Hook(p, job(p, options, interval="10min")).ready()
    body, status, sent = b"x" * 99_999 + b"\n", 200, 0
    while status == 200 and sent < 100:
        status, words, headers = hook.send(body)
        sent += status == 200
    assert status == 503 and "journal is full" in words and headers["Retry-After"] == "1", (status, words)
    assert hook.send(None, "/health", "GET")[0] == 503
    ok(p.run("savepoint", "--dir", p.dir / "saves"))
    wait_for("room", lambda: hook.send(b"last\n")[0] == 200)
    hook.stop()
    assert len(written(p)) == sent + 1, (len(written(p)), sent)


@test
def a_request_that_waits_too_long_is_answered_503(p):
    options = "    source.acknowledge: checkpoint\n    source.request-timeout: 1 s\n    format: raw"
    hook = Hook(p, job(p, options, interval="10min")).ready()
    status, words, headers = hook.send(b"a\n")
    assert status == 503 and "not safe yet" in words and headers["Retry-After"] == "1", (status, words)
    hook.stop()
    assert written(p) == ["a"]


@test
def it_speaks_https_with_a_certificate(p):
    served.certificate(p.dir / "cert.pem", p.dir / "key.pem")
    hook = Hook(p, job(p, "    tls.certificate-file: cert.pem\n    tls.key-file: key.pem\n" + KEPT))
    context = ssl.create_default_context(cafile=str(p.dir / "cert.pem"))
    context.check_hostname = False
    wait_for("the server", lambda: hook.send(b"a\n", context=context)[0] == 200)
    hook.stop()
    assert written(p) == ["a"]
    p.write("key.pem", "no key")
    done = ok(p.run("run", p.dir / "job.yaml", "--continue", "-D", "restart-strategy.type=none"), 1)
    assert b"PEM" in done.stderr, done.stderr


@test
def a_place_that_is_taken_or_none_is_said(p):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
        done = ok(p.run("run", job(p, listen=f"127.0.0.1:{port}"), "-D", "restart-strategy.type=none"), 1)
        assert b"cannot listen" in done.stderr and b"in use" in done.stderr, done.stderr
    for listen, words in (("nowhere", b"host:port"), ("\"::1:80\"", b"brackets"), ("127.0.0.1:99999", b"host:port")):
        done = ok(p.run("validate", job(p, listen=listen)), 3)
        assert words in done.stderr + done.stdout, (listen, done)
    for options in (KEPT, "    source.acknowledge: checkpoint\n    format: raw"):
        text = (JOB % ("x", "127.0.0.1:0", options, "{line: STRING}")).replace("execution.checkpointing: {interval: x, dir: state}\n", "")
        done = ok(p.run("run", p.write("none.yaml", text)), 1)
        assert b"set execution.checkpointing.interval" in done.stderr, done.stderr
    done = ok(p.run("validate", job(p, KEPT + "\n    source.acknowledge: checkpoint")), 3)
    assert b"with a journal" in done.stderr + done.stdout, done


@test
def a_damaged_journal_ends_the_job_and_a_torn_one_loses_what_was_not_answered(p):
    path = job(p, interval="10min")
    hook = Hook(p, path).ready()
    assert hook.send(b"first\n")[0] == 200 and hook.send(b"second\n")[0] == 200
    hook.child.send_signal(SIGKILL)
    hook.child.wait()
    file, = (p.dir / "kept").glob("*.journal")
    raw = file.read_bytes()
    for at in (raw.index(b"first"), raw.index(b"second"), len(raw) - 1):  # the last frame is no torn one
        file.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1:])
        done = ok(p.run("run", path, "--fresh", "-D", "restart-strategy.type=none"), 4)
        assert b"is damaged" in done.stderr, done.stderr
    file.write_bytes(raw + raw[-60:-20])  # as a crash within the next append leaves it
    hook = Hook(p, path, "-D", "execution.checkpointing.interval=20ms")
    wait_for("the rows", lambda: sorted(written(p)) == ["first", "second"] if (p.dir / "out").is_dir() else False)
    hook.stop()


@test
def a_record_that_fails_the_job_is_set_aside_and_it_listens_again_at_its_port(p):
    port = free_port()
    text = (JOB % ("20ms", f"127.0.0.1:{port}", "    journal: kept\n    format: json", "{id: INT}")).replace("format: raw}", "format: json}")
    hook = Hook(p, p.write("job.yaml", text + "dead-letter: {connector: filesystem, path: dead/, format: json}\n"), "-D",
                "restart-strategy.fixed-delay.attempts=10").ready()
    assert hook.send(b'{"id": 1}\n{"id": \n{"id": 2}\n')[0] == 200

    def sent():
        try:
            return hook.send(b'{"id": 3}')[0] == 200
        except (OSError, http.client.HTTPException):
            return False  # between two attempts

    wait_for("the poison record set aside", lambda: list((p.dir / "dead").glob("part-*")) if (p.dir / "dead").is_dir() else [])
    wait_for("the server", sent)
    wait_for("the rows", lambda: [json.loads(r)["id"] for r in written(p)].count(3) == 1)
    hook.stop()
    assert sorted(json.loads(r)["id"] for r in written(p)) == [1, 2, 3], written(p)
    assert hook.words().count(b"listens at") >= 3, hook.words()


def raw(port, text, seconds=10):
    """Bytes as they are; the status line of the answer, or b"" if the connection is closed without one."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as s:
        try:
            s.sendall(text)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was answered, and closed, before its body was read
        try:
            return s.recv(4096).split(b"\r\n")[0]
        except ConnectionResetError:
            return b""


@test
def a_request_whose_end_is_not_clear_is_refused(p):
    hook = Hook(p, job(p)).ready()
    for head, body in ((b"Content-Length: 2\r\nContent-Length: 6\r\n", b"a\nb\nc\n"), (b"Transfer-Encoding: gzip\r\nContent-Length: 2\r\n", b"d\n"),
                       (b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", b"2\r\ne\n\r\n0\r\n\r\n"),
                       (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"2\r\nf\n\r\n0\r\n\r\n")):
        answer = raw(hook.port, b"POST /events HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n" + body)
        assert b" 400 " in answer, (head, answer)
    assert raw(hook.port, b"POST /events HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\ng\n").endswith(b"200 OK")
    hook.stop()
    assert written(p) == ["g"], written(p)


def is_read(sender):
    """The server has taken all that was sent to it: nothing lies in the kernel, on either side."""
    ends = (sender.getsockname()[1], sender.getpeername()[1])
    with open("/proc/net/tcp") as f:
        for line in [line.split() for line in f][1:]:
            ports = tuple(int(word.split(":")[1], 16) for word in line[1:3])
            waits = [int(word, 16) for word in line[4].split(":")]
            if ports in (ends, ends[::-1]) and any(waits):
                return False
    return True


@test
def bodies_that_are_being_received_have_their_share_of_the_buffer(p):
    hook = Hook(p, job(p, "    source.buffer-size: 4 mb\n" + KEPT)).ready()
    head = b"POST /events HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", hook.port), timeout=20) as first:
        first.sendall(head + b"a" * 2900000)
        wait_for("the server to read", lambda: is_read(first))
        answer = wait_for("no room", lambda: (raw(hook.port, head + b"b" * 2999999 + b"\n").split(b" 503 ")[1:] or [None])[0])
        assert answer == b"Service Unavailable", answer
        first.sendall(b"a" * 99999 + b"\n")
        assert first.recv(4096).startswith(b"HTTP/1.1 200 "), hook.words()
    # what was refused is let go of when its connection is
    wait_for("room", lambda: raw(hook.port, head + b"c" * 2999999 + b"\n").endswith(b"200 OK"))
    hook.stop()
    assert collections.Counter(line[0] for line in written(p))["c"] == 1
