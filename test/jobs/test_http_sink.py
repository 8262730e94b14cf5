"""The http sink against servers that answer well, late, badly or not at all."""
import base64
import gzip
import http.server
import json
import signal
import socket
import ssl
import subprocess
import threading
import time
from email.utils import formatdate

import served
from harness import ended, ok, test, wait_for


class Server:
    """Answers as `answer(request)` says: a status, (status, headers, body), or a way not to answer: "close", "cut", "hang"."""

    def __init__(self, answer=lambda r: 200, tls=None, clients=None):
        server = self
        self.requests, self.lock, self.answer, self.stop = [], threading.Lock(), answer, threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version, disable_nagle_algorithm, wbufsize = "HTTP/1.1", True, -1

            def log_message(self, *args):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                with server.lock:
                    r = {"n": len(server.requests), "method": self.command, "path": self.path, "headers": self.headers, "body": body,
                         "key": self.headers["Idempotency-Key"], "at": time.monotonic(), "port": self.client_address[1]}
                    server.requests.append(r)
                    a = r["answer"] = server.answer(r)
                if a in ("close", "cut", "hang"):
                    if a == "cut":
                        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
                    if a == "hang":
                        server.stop.wait(30)
                    self.close_connection = True
                    return
                status, headers, body = a if isinstance(a, tuple) else (a, {}, b"")
                self.send_response(status)
                for k, v in headers.items():
                    self.send_header(k, v)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_PUT = do_PATCH = do_POST

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *args: None
        scheme = "http"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            if clients:  # only those with a certificate are spoken to
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(clients)
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self.http.server_address[1]}/in"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,))
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()

    def taken(self):
        """The rows of the requests that were answered well."""
        return [json.loads(line) for r in self.requests if r["answer"] == 200 for line in r["body"].splitlines()]


def job(p, url, more="", rows=20, source="", tail="", head=""):
    p.write("in.json", "".join('{"id":%d}\n' % i for i in range(rows)))
    return p.write("job.yaml", f"""{head}
sources:
  in: {{connector: filesystem, path: in.json, format: json, schema: {{id: INT}}{source}}}
sinks:
  out: {{from: in, connector: http, url: "{url}", format: json, sink.retry-backoff: 5ms{more}}}
{tail}""")


def ids(rows):
    return sorted(r["id"] for r in rows)


@test
def rows_go_in_batches_over_one_connection(p):
    with Server() as s:
        done = ok(p.run("run", job(p, s.url, ", sink.batch.max-size: 8, headers.X-Tenant: a b, bearer-token: t0k")))
        assert [r["body"].count(b"\n") for r in s.requests] == [8, 8, 4], s.requests
        assert [r["id"] for r in s.taken()] == list(range(20))
        assert len({r["port"] for r in s.requests}) == 1 and len({r["key"] for r in s.requests}) == 3
        h = s.requests[0]["headers"]
        assert (h["Content-Type"], h["X-Tenant"], h["Authorization"]) == ("application/x-ndjson", "a b", "Bearer t0k"), h
        assert s.requests[0]["method"] == "POST" and b"written 20" in done.stderr, done.stderr


@test
def bodies_methods_and_sizes_are_as_asked(p):
    with Server() as s:
        ok(p.run("run", job(p, s.url, ", body: array, method: PUT, compression: gzip, username: u, password: pw", rows=3)))
        r = s.requests[0]
        assert json.loads(r["body"]) == [{"id": 0}, {"id": 1}, {"id": 2}] and r["method"] == "PUT", r
        assert r["headers"]["Content-Type"] == "application/json" and r["headers"]["Content-Encoding"] == "gzip"
        assert base64.b64decode(r["headers"]["Authorization"].split()[1]) == b"u:pw"
    with Server() as s:
        ok(p.run("run", job(p, s.url, ", body: row", rows=3)))
        assert [r["body"] for r in s.requests] == [b'{"id":%d}' % i for i in range(3)]
    with Server() as s:
        ok(p.run("run", job(p, s.url, ", sink.flush-buffer.size: 20b", rows=7)))
        assert [r["body"].count(b"\n") for r in s.requests] == [3, 3, 1], [r["body"] for r in s.requests]
    with Server() as s:
        path = job(p, s.url, rows=2)
        text = (p.dir / "job.yaml").read_text().replace("format: json, sink", "format: csv, csv.write-header: true, sink.batch.max-size: 1, sink")
        (p.dir / "job.yaml").write_text(text)
        ok(p.run("run", path))
        assert [r["body"] for r in s.requests] == [b"id\n0\n", b"id\n1\n"], s.requests


@test
def what_may_do_better_is_tried_again_with_its_key(p):
    """503, 429, a closed connection, half an answer and none at all: nothing is lost, and a row is taken once by its key."""
    ways = [503, 429, "close", "cut", "hang", (500, {}, b"out of order")]

    def answer(r):
        return ways[r["n"]] if r["n"] < len(ways) else 200
    with Server(answer) as s:
        done = ok(p.run("run", job(p, s.url, ", request-timeout: 300ms, sink.batch.max-size: 10")))
        assert ids(s.taken()) == list(range(20)) and len(s.requests) == len(ways) + 2
        assert len({r["key"] for r in s.requests[:len(ways) + 1]}) == 1 and s.requests[-1]["key"] != s.requests[0]["key"]
        assert done.stderr.count(b"answered 503; trying again") == 1, done.stderr


@test
def status_shows_that_the_server_holds_the_job_up(p):
    with Server(lambda r: 503) as s:
        p.start("run", job(p, s.url, ", sink.batch.max-size: 5, sink.requests.max-buffered: 10"))

        def out():
            return next((v for v in (p.status() or {"vertices": []})["vertices"] if v["id"] == "out"), {}).get("counters", {})
        wait_for("tries", lambda: out().get("http-retries", 0) >= 2)
        assert out()["http-requests"] == 1, out()
        assert b"http-requests 1, http-retries " in ok(p.run("status")).stdout
        s.answer = lambda r: 200
        ended(p.children[-1])
        assert ids(s.taken()) == list(range(20))


@test
def retry_after_is_obeyed(p):
    def answer(r):
        if r["n"] > 1:
            return 200
        return (429, {"Retry-After": "1"}, b"") if r["n"] == 0 else (503, {"Retry-After": formatdate(time.time() + 2, usegmt=True)}, b"")
    with Server(answer) as s:
        ok(p.run("run", job(p, s.url)))
        at = [r["at"] for r in s.requests]
        assert len(at) == 3 and 1.0 <= at[1] - at[0] < 3 and 0.9 <= at[2] - at[1] < 4, at
    with Server(lambda r: (429, {"Retry-After": "3600"}, b"")) as s:
        done = p.run("run", job(p, s.url))
        assert done.returncode == 1 and b"it asks to wait 3600 s, which sink.requests.retry-timeout does not let" in done.stderr, done.stderr


@test
def tries_have_an_end(p):
    with Server(lambda r: (503, {}, b"<h1>out\n of   order</h1>")) as s:
        done = p.run("run", job(p, s.url, ", sink.max-retries: 2"))
        assert done.returncode == 1 and len(s.requests) == 3, s.requests
        assert f": POST {s.url}: answered 503: <h1>out of order</h1>; given up after try 3 (sink.max-retries)".encode() in done.stderr, done.stderr
        done = p.run("run", job(p, s.url, ", sink.requests.retry-timeout: 100ms"), "--fresh")
        assert done.returncode == 1 and b"(sink.requests.retry-timeout)" in done.stderr, done.stderr
    free = socket.socket()
    free.bind(("127.0.0.1", 0))
    url = "http://127.0.0.1:%d/x?key=hidden" % free.getsockname()[1]
    done = p.run("run", job(p, url, ", sink.max-retries: 1"))
    assert done.returncode == 1 and b"Connection refused" in done.stderr and b"hidden" not in done.stderr, done.stderr
    free.close()


@test
def refusals_that_are_no_rows_fault_fail_the_job(p):
    for status, words in ((404, b"answered 404: no such thing"), (401, b"answered 401"), (302, b"follow-redirects: true goes there")):
        with Server(lambda r: (status, {"Location": "/other"} if status == 302 else {}, b"no such thing")) as s:
            done = p.run("run", job(p, s.url), "--fresh")
            assert done.returncode == 1 and words in done.stderr and len(s.requests) == 1, done.stderr
    with Server(lambda r: 200 if r["path"] == "/other" else (307, {"Location": "/other"}, b"")) as s:
        ok(p.run("run", job(p, s.url, ", follow-redirects: true"), "--fresh"))
        assert ids(s.taken()) == list(range(20)) and s.requests[-1]["method"] == "POST"


def picky(r):
    """Refuses whatever holds a number that ends in 7."""
    bad = any(json.loads(line)["id"] % 10 == 7 for line in r["body"].splitlines())
    return (422, {}, b'{"error": "no sevens"}') if bad else 200


@test
def one_bad_row_does_not_take_its_batch_with_it(p):
    with Server(picky) as s:
        done = ok(p.run("run", job(p, s.url, ", on-error: skip", rows=1000)))
        assert ids(s.taken()) == [i for i in range(1000) if i % 10 != 7]
        assert b"written 900" in done.stderr and b"skipped 100" in done.stderr, done.stderr
        assert done.stderr.count(b"skipped a record") == 1 and b"in.json:8 (byte 63): POST" in done.stderr, done.stderr


@test
def a_refused_row_becomes_a_dead_letter_with_its_bytes(p):
    """More of them than letters that may wait; and with the source elsewhere than the sink."""
    with Server(picky) as s:
        path = job(p, s.url, ", on-error: dead-letter", rows=9000, tail="dead-letter: {connector: filesystem, path: dead/}\n",
                   head="execution.checkpointing: {interval: 50ms, dir: ckpt}")
        for more in ((), ("-p", "2", "-D", "sinks.out.parallelism=1")):
            s.requests.clear()
            done = ok(p.run("run", path, *more, "--fresh"))
            assert ids(s.taken()) == [i for i in range(9000) if i % 10 != 7], len(s.taken())
            assert b"written 8,100" in done.stderr and b"dead-lettered 900" in done.stderr, done.stderr
            letters = json.loads(ok(p.run("dead-letter", "list", path, "--json")).stdout)
            assert len(letters) >= 900 and letters[0]["step"] == "out" and "answered 422" in letters[0]["error"], letters[0]
        shown = ok(p.run("dead-letter", "show", path, letters[0]["id"], "--raw")).stdout
        assert json.loads(shown)["id"] % 10 == 7, shown


@test
def a_refused_row_fails_the_job_and_is_named(p):
    with Server(picky) as s:
        done = p.run("run", job(p, s.url))
        assert done.returncode == 1 and b"sink 'out': source 'in'" in done.stderr, done.stderr
        assert b"in.json:8 (byte 63): POST " in done.stderr and b'answered 422: {"error": "no sevens"}' in done.stderr, done.stderr
        assert b'{"id":7}' in done.stderr and done.stderr.count(b"sink 'out'") == 1, done.stderr


@test
def a_kill_loses_nothing_and_keys_tell_what_comes_twice(p):
    """Killed again and again. The server takes a key once: with batches cut by number, each row is there exactly once."""
    keys, rows = set(), []

    def answer(r):
        if r["key"] not in keys:
            keys.add(r["key"])
            rows.extend(json.loads(line)["id"] for line in r["body"].splitlines())
        return 200
    with Server(answer) as s:
        path = job(p, s.url, ", sink.batch.max-size: 50, sink.flush-buffer.timeout: 1h", rows=6000, source=", rate-limit: 6000",
                   head="execution.checkpointing: {interval: 1h, dir: ckpt}")
        for n in (1, 3, 5):
            child = p.start("run", path, "--continue", "-q")
            before = len(s.requests)
            wait_for("requests", lambda: len(s.requests) >= before + n)
            if n == 1:  # until then nothing is kept, and a run is another one, with other keys
                ok(p.run("savepoint", "--dir", "saves"))
                before = len(s.requests)
                wait_for("more", lambda: len(s.requests) >= before + 2)
            child.send_signal(signal.SIGKILL)
            child.wait()
        ok(p.run("run", path, "--continue", "-q", "-D", "sources.in.rate-limit=1000000"))
        assert len(s.requests) > len(keys), "something came twice"
        assert sorted(set(rows)) == list(range(6000)), len(set(rows))
        assert len(rows) - 6000 <= 50, len(rows)  # only the batch that the savepoint cut short may differ


@test
def rows_go_when_they_have_waited_long_enough(p):
    with Server() as s:
        path = job(p, s.url, ", sink.flush-buffer.timeout: 50ms", source="").replace("job.yaml", "pipe.yaml")
        p.write("pipe.yaml", (p.dir / "job.yaml").read_text().replace("connector: filesystem, path: in.json", "connector: stdin"))
        child = p.start("run", path, stdin=subprocess.PIPE)
        for i in range(3):
            child.stdin.write(b'{"id":%d}\n' % i)
            child.stdin.flush()
            wait_for("the row", lambda: len(s.taken()) == i + 1)
        child.stdin.close()
        child.stdin = None
        ended(child)


@test
def many_requests_are_on_the_way_at_once(p):
    """A server that takes its time: with eight at once it waits for eight, and a bad row is found all the same."""
    inside, most, gate = set(), [0], threading.Event()
    with Server() as s:
        def answer(r):
            inside.add(r["n"])
            most[0] = max(most[0], r["port"] and len({x["port"] for x in s.requests}))
            return picky(r)
        s.answer = answer
        done = ok(p.run("run", job(p, s.url, ", sink.requests.max-inflight: 8, sink.batch.max-size: 20, on-error: skip", rows=3000)))
        assert ids(s.taken()) == [i for i in range(3000) if i % 10 != 7] and b"skipped 300" in done.stderr, done.stderr
        assert most[0] > 1, "more than one connection"


@test
def certificates_are_verified(p):
    served.certificate(p.dir / "cert.pem", p.dir / "key.pem")
    with Server(tls=(p.dir / "cert.pem", p.dir / "key.pem")) as s:
        done = p.run("run", job(p, s.url))
        assert done.returncode == 1 and b"certificate" in done.stderr.lower() and not s.requests, done.stderr
        ok(p.run("run", job(p, s.url, ", tls.ca-file: cert.pem"), "--fresh"))
        ok(p.run("run", job(p, s.url, ", tls.verify: false"), "--fresh"))
        assert ids(s.taken()) == sorted(list(range(20)) * 2)


@test
def a_certificate_of_our_own_is_shown_to_servers_that_ask(p):
    for who in ("server", "client", "stranger"):
        served.certificate(p.dir / f"{who}.pem", p.dir / f"{who}.key", who)
    own = ", tls.ca-file: server.pem, tls.certificate-file: {0}.pem, tls.key-file: {1}.key, sink.max-retries: 1"
    with Server(tls=(p.dir / "server.pem", p.dir / "server.key"), clients=p.dir / "client.pem") as s:
        ok(p.run("run", job(p, s.url, own.format("client", "client"))))
        assert ids(s.taken()) == list(range(20))
        for more, words in ((", tls.ca-file: server.pem, sink.max-retries: 1", b""), (own.format("stranger", "stranger"), b""),
                            (own.format("client", "stranger"), b"key"), (own.format("nobody", "client"), b"nobody.pem"),
                            (own.format("client", "nobody"), b"nobody.key")):
            done = ok(p.run("run", job(p, s.url, more), "--fresh"), 1)
            assert b"the job failed: sink 'out'" in done.stderr and words in done.stderr, (more, done.stderr)
        assert len(s.requests) == 1, s.requests
        done = ok(p.run("validate", job(p, s.url, ", tls.certificate-file: client.pem")), 3)
        assert b"belong together" in done.stderr, done.stderr


@test
def what_is_wrong_in_the_job_is_a_fault(p):
    for more, url, words in ((", headers.Content-Length: 1", "http://h/", "the sink writes this header itself"),
                             (', "headers.a b": 1', "http://h/", "this is no name of a header"),
                             (", password: x", "http://h/", "'password' needs 'username'"),
                             (", sink.row-codes: 4xx", "http://h/", "both have this status: '408'"),
                             (", sink.retry-codes: 6xx", "http://h/", "no status of HTTP"),
                             (", sink.delivery-guarantee: exactly-once", "http://h/", "at-least-once"),
                             ("", "ftp://h/", "no URL of http or https"), ("", "http://a b/", "no URL of http or https")):
        done = p.run("validate", job(p, url, more))
        assert done.returncode == 3 and words.encode() in done.stdout + done.stderr, (more, url, done)
    done = ok(p.run("validate", job(p, "http://h/", ", headers.X: s3cret, bearer-token: s3cret2")))
    assert b"at-least-once" in done.stdout + done.stderr, done
    done = ok(p.run("config", p.dir / "job.yaml"))
    assert b"s3cret" not in done.stdout, done.stdout
