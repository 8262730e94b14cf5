"""Avro records, bare and with Confluent's registry, as messages: http bodies of one record each."""
import base64
import http.server
import json
import struct
import threading

from harness import ok, test, wait_for
from test_http_sink import Server
from test_http_source import Hook

SCHEMA = "{id: INT NOT NULL, name: STRING, price: 'DECIMAL(10, 2)', at: TIMESTAMP(3), tags: ARRAY<STRING>, m: 'MAP<STRING, BIGINT>', r: 'ROW<x INT, y STRING>'}"
ROWS = [{"id": 1, "name": "é", "price": -12.34, "at": "2024-02-29 01:02:03.456", "tags": ["a", None], "m": {"k": 5}, "r": {"x": 7, "y": "z"}},
        {"id": 2, "name": None, "price": None, "at": None, "tags": None, "m": None, "r": None}]


class Registry:
    """A double of a schema registry: schemas by number, as Confluent's answers. `gate`: answers to GET wait for it.
    `tls`: an ssl context."""

    def __init__(self, user=None, tls=None):
        registry = self
        self.schemas, self.subjects, self.asked, self.user, self.gate = {}, {}, [], user, threading.Event()
        self.types = {}
        self.gate.set()

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def answer(self, status, value):
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def allowed(self):
                registry.asked.append((self.command, self.path))
                want = registry.user and "Basic " + base64.b64encode(registry.user.encode()).decode()
                if want and self.headers["Authorization"] != want:
                    self.answer(401, {"error_code": 401, "message": "who are you?"})
                    return False
                return True

            def do_GET(self):
                if not self.allowed():
                    return
                registry.gate.wait(60)
                words = self.path.split("/")
                if words[1] == "subjects":
                    known = words[2] in registry.subjects
                    self.answer(200 if known else 404, [1] if known else {"message": "Subject not found"})
                elif words[-1] == "types":
                    self.answer(200, ["AVRO", "JSON"])
                else:
                    number = int(words[-1])
                    found, kind = registry.schemas.get(number), registry.types.get(number, "AVRO")
                    what = {"schema": found} if kind == "AVRO" else {"schemaType": kind, "schema": found}
                    self.answer(200 if found else 404, what if found else {"message": f"Schema {number} not found"})

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.allowed():
                    number = registry.add(asked["schema"], self.path.split("/")[2], asked.get("schemaType", "AVRO"))
                    self.answer(200, {"id": number})

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *unused: None  # a handshake that fails is the client's to tell
        if tls:
            self.http.socket = tls.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,))
        self.thread.start()

    def add(self, schema, subject="s", kind="AVRO"):
        for number, have in self.schemas.items():
            if have == schema:
                return number
        number = 100 + len(self.schemas)
        self.schemas[number], self.types[number] = schema, kind
        self.subjects.setdefault(subject, []).append(number)
        return number

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def zigzag(n):
    n = n << 1 ^ n >> 63
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def text(s):
    return zigzag(len(s.encode())) + s.encode()


def framed(number, body):
    return b"\0" + struct.pack(">I", number) + body


def written(p, fmt):
    """The bodies that a sink makes of ROWS."""
    p.write("rows.json", "".join(json.dumps(row) + "\n" for row in ROWS))
    with Server() as server:
        ok(p.run("run", p.write("write.yaml", f"""
sources:
  s: {{connector: filesystem, path: rows.json, format: json, schema: {SCHEMA}}}
sinks:
  out: {{from: s, connector: http, url: '{server.url}', body: row, sink.requests.max-inflight: 1, {fmt}}}
""")))
        return [r["body"] for r in server.requests]


def read(p, fmt, schema, bodies, done, extra=""):
    """Lines that a job makes of these bodies, once there are so many as `done` says."""
    path = p.write("read.yaml", f"""
pipeline.name: read
execution.checkpointing: {{interval: 20ms, dir: state}}
sources:
  in: {{connector: http, listen: '127.0.0.1:0', path: /events, source.body: record, {fmt}, schema: {schema}{extra}}}
sinks:
  out: {{from: in, connector: filesystem, path: out/, format: json}}
""")
    hook = Hook(p, path).ready()
    for body in bodies:
        status, words, _ = hook.send(body)
        assert status == 200, (status, words)

    def rows():
        parts = [q for q in (p.dir / "out").glob("*") if not q.name.startswith((".", "_"))]
        return sorted((json.loads(line) for q in parts for line in q.read_text().splitlines()), key=lambda r: r["id"])

    wait_for("the rows", lambda: len(rows()) >= done)
    hook.stop()
    return rows(), hook.words()


@test
def avro_records_come_back_as_they_were(p):
    bodies = written(p, "format: avro")
    assert bodies[1] == zigzag(2) + bytes(6), bodies[1]
    assert bodies[0].startswith(zigzag(1) + zigzag(1) + text("é") + zigzag(1) + b"\x04\xfb\x2e" + zigzag(1)), bodies[0]
    rows, words = read(p, "format: avro", SCHEMA, bodies, 2)
    assert rows == ROWS, rows


@test
def a_record_may_end_with_the_byte_of_a_newline(p):
    """5 is the byte 10, -7 the byte 13: neither is a line's end, over http or through Kafka."""
    p.write("rows.json", "".join(f'{{"id": {i}, "k": {i}}}\n' for i in (5, -7, 10)))
    head = "sources:\n  s: {connector: filesystem, path: rows.json, format: json, schema: {id: INT NOT NULL, k: INT NOT NULL}}\n"
    want = [zigzag(i) + zigzag(i) for i in (5, -7, 10)]
    assert want[0] == b"\n\n" and want[1] == b"\r\r"
    with Server() as server:
        ok(p.run("run", p.write("http.yaml", f"{head}sinks:\n  out: {{from: s, connector: http, url: '{server.url}', body: row, "
                                             "sink.requests.max-inflight: 1, format: avro}\n")))
        assert [r["body"] for r in server.requests] == want, server.requests
    with Registry() as registry:
        broker = p.kafka()
        broker.create("avro", 1)
        kafka = f"connector: kafka, topic: avro, properties.bootstrap.servers: '{broker.bootstrap}', key.format: avro, key.fields: k, "
        confluent = f"value.format: avro-confluent, value.avro-confluent.url: '{registry.url}'"
        ok(p.run("run", p.write("in.yaml", f"{head}sinks:\n  out: {{from: s, {kafka}{confluent}, value.avro-confluent.subject: avro-value}}\n")))
        done = ok(p.run("run", p.write("out.yaml", f"""
sources:
  s: {{{kafka}{confluent}, scan.startup.mode: earliest-offset, scan.bounded.mode: latest-offset, schema: {{id: INT NOT NULL, k: INT NOT NULL}}}}
sinks:
  out: {{from: s, connector: stdout, format: csv}}
""")))
        assert done.stdout.split() == [b"5,5", b"-7,-7", b"10,10"], done.stdout
        assert registry.subjects == {"avro-value": [100]}, registry.subjects


@test
def records_find_their_schemas_in_the_registry(p):
    """A sink registers its schema; a source takes rows of any schema whose fields fit its columns."""
    with Registry(user="me:secret") as registry:
        options = f"format: avro-confluent, avro-confluent.url: '{registry.url}', avro-confluent.basic-auth.user-info: 'me:secret'"
        bodies = written(p, options + ", avro-confluent.subject: rows-value")
        assert registry.subjects == {"rows-value": [100]} and all(b[:5] == framed(100, b"") for b in bodies), bodies
        made = json.loads(registry.schemas[100])
        assert made["name"] == "record" and made["fields"][0] == {"name": "id", "type": "int"}, made
        assert made["fields"][6]["type"][1]["name"] == "record_r" and made["fields"][1]["default"] is None, made
        other = registry.add(json.dumps({"type": "record", "name": "Other", "fields": [
            {"name": "gone", "type": {"type": "map", "values": "double"}}, {"name": "name", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}},
            {"name": "self", "type": ["null", "Other"]}, {"name": "id", "type": "int"}]}))
        bodies.append(framed(other, zigzag(1) + text("k") + bytes(8) + zigzag(0) + zigzag(1) + zigzag(0) + zigzag(3)))
        wrong = registry.add('{"type": "record", "name": "W", "fields": [{"name": "id", "type": "string"}]}')
        bad = [framed(999, b""), framed(wrong, text("x")), b"\1\0\0\0\0", b"", framed(100, b"\2"), bodies[1] + b"\0"]
        rows, words = read(p, options, SCHEMA, bodies + bad, 3, ", on-error: skip")
    assert rows[:2] == ROWS and rows[2] == {**dict.fromkeys(ROWS[0]), "id": 3, "name": "B"}, rows
    assert registry.asked.count(("GET", "/schemas/ids/100")) == 1 and registry.asked.count(("GET", "/schemas/ids/999")) == 1, registry.asked


@test
def a_schema_of_the_user_is_written(p):
    with Registry() as registry:
        mine = json.dumps({"type": "record", "name": "Mine", "namespace": "a.b", "fields": [
            {"name": "more", "type": ["null", "string"]}, {"name": "name", "type": ["string", "null"]}, {"name": "id", "type": "long"},
            {"name": "price", "type": {"type": "fixed", "name": "P", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}}]})
        p.write("rows.json", '{"id": 1, "name": "x", "price": -1.5}\n')
        job = f"""
sources:
  s: {{connector: filesystem, path: rows.json, format: json, schema: {{id: INT, name: STRING, price: 'DECIMAL(9, 2)'}}}}
sinks:
  out:
    from: s
    connector: http
    url: URL
    body: row
    format: avro-confluent
    avro-confluent: {{url: '{registry.url}', subject: a/b, schema: '{mine}'}}
"""
        with Server() as server:
            ok(p.run("run", p.write("job.yaml", job.replace("URL", server.url))))
            assert [r["body"] for r in server.requests] == [framed(100, bytes([0, 0]) + text("x") + zigzag(1) + struct.pack(">i", -150))], server.requests
        assert registry.asked == [("POST", "/subjects/a%2Fb/versions")], registry.asked


@test
def what_avro_cannot_be_is_told_before_the_job_runs(p):
    def fault(source="connector: http, source.body: record, format: avro, schema: {a: INT}", sink="connector: blackhole"):
        return ok(p.run("validate", p.write("bad.yaml", f"sources:\n  s: {{{source}}}\nsinks:\n  out: {{from: s, {sink}}}\n")), 3).stderr.decode()

    assert "connector 'filesystem' does not frame them" in fault("connector: filesystem, path: x, format: avro, schema: {a: INT}")
    assert "column 't': type TIMESTAMP_LTZ has no Avro type with timestamp_mapping.legacy" in fault(
        "connector: http, source.body: record, format: avro, schema: {t: TIMESTAMP_LTZ(3)}")
    assert "avro-confluent.url" in fault("connector: http, source.body: record, format: avro-confluent, schema: {a: INT}")
    web = "connector: http, url: 'http://localhost:1/', "
    assert "does not frame them" in fault(sink=web + "format: avro")
    confluent = web + "body: row, format: avro-confluent, avro-confluent.url: 'http://localhost:1', "
    assert "avro-confluent.subject" in fault(sink=confluent.rstrip(", "))
    for schema, words in (("nonsense", "it is no JSON"), ('"int"', "the schema is int, and not a record"),
                          ('{"type": "record", "name": "R", "fields": []}', "column 'a': the schema has no such field"),
                          ('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "R"}]}', "column 'a' of type INT does not fit Avro's record"),
                          ('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "int"}]}', "field 'b' of the schema has no column")):
        told = fault(sink=confluent + f"avro-confluent.subject: s, avro-confluent.schema: '{schema}'")
        assert words in told, told


@test
def a_registry_that_is_not_there_fails_the_job(p):
    p.write("rows.json", '{"a": 1}\n')
    done = p.run("run", "-q", p.write("job.yaml", """
sources:
  s: {connector: filesystem, path: rows.json, format: json, schema: {a: INT}}
sinks:
  out: {from: s, connector: http, url: 'http://127.0.0.1:1/', body: row, format: avro-confluent, avro-confluent: {url: 'http://me:secret@127.0.0.1:1', subject: s}}
"""), "-D", "restart-strategy.type=none")
    assert done.returncode == 1 and b"the schema registry at 127.0.0.1:1/" in done.stderr and b"secret" not in done.stderr, done
