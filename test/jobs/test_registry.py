"""JSON behind the number of its schema; a registry over TLS, slow, or not there."""
import json
import shutil
import ssl
import struct

import registry as real
import served
from harness import Skipped, ok, test, wait_for
from test_avro import Registry, framed, read
from test_http_sink import Server
from test_http_source import Hook

ROWS = [{"id": 1, "name": "é", "m": {"k": 5}, "r": {"x": [1, None]}}, {"id": 2, "name": None, "m": None, "r": None}]
SCHEMA = "{id: INT NOT NULL, name: STRING, m: 'MAP<STRING, BIGINT>', r: 'ROW<x ARRAY<INT>>'}"
MADE = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "row", "type": "object", "properties": {
    "id": {"type": "integer"}, "name": {"type": ["string", "null"]},
    "m": {"type": ["object", "null"], "additionalProperties": {"type": ["integer", "null"]}},
    "r": {"type": ["object", "null"], "properties": {"x": {"type": ["array", "null"], "items": {"type": ["integer", "null"]}}}}},
    "required": ["id"]}


def options(registry, fmt="json-confluent", more="", subject="s"):
    return f"format: {fmt}, {fmt}.url: '{registry.url}'" + (f", {fmt}.subject: {subject}" if subject else "") + more


def writer(p, server, registry, more="", fmt="json-confluent", subject="s"):
    p.write("rows.json", "".join(json.dumps(row) + "\n" for row in ROWS))
    return p.write("write.yaml", f"""
sources:
  s: {{connector: filesystem, path: rows.json, format: json, schema: {SCHEMA}}}
sinks:
  out: {{from: s, connector: http, url: '{server.url}', body: row, sink.requests.max-inflight: 1, {options(registry, fmt, more, subject)}}}
""")


@test
def json_records_carry_the_number_of_their_schema(p):
    with Registry() as registry, Server() as server:
        ok(p.run("run", writer(p, server, registry)))
        number, = registry.subjects["s"]
        assert registry.types[number] == "JSON" and json.loads(registry.schemas[number]) == MADE, registry.schemas
        bodies = [r["body"] for r in server.requests]
        assert [b[:5] for b in bodies] == [b"\0" + struct.pack(">I", number)] * 2, bodies
        assert [json.loads(b[5:]) for b in bodies] == ROWS and not bodies[0].endswith(b"\n"), bodies
        rows, words = read(p, options(registry, subject=None), SCHEMA, bodies, 2)
        assert rows == ROWS, rows
        assert len([a for a in registry.asked if a[0] == "GET"]) == 1, registry.asked  # each number is asked for once
        registry.schemas.clear()
        own = json.dumps({"type": "object", "title": "mine"})
        ok(p.run("run", writer(p, server, registry, f", json-confluent.schema: '{own}'")))
        assert list(registry.schemas.values()) == [own], registry.schemas


@test
def json_records_with_a_wrong_frame_are_bad(p):
    with Registry() as registry:
        good, avro = registry.add("{}", kind="JSON"), registry.add('"int"')
        body = b'{"id": 7}'
        more = "}\ndead-letter: {connector: filesystem, path: dead/, format: json"
        rows, words = read(p, options(registry, subject=None, more=", on-error: dead-letter"), "{id: INT}",
                           [body, framed(999, body), framed(avro, body), framed(good, b"{"), framed(good, body)[:4],
                            framed(good, b'{"id": "x"}'), framed(good, b'{"id": 8}')], 1, more)
        assert rows == [{"id": 8}], rows
        dead = [json.loads(line) for q in (p.dir / "dead").glob("[!.]*") for line in q.read_text().splitlines()]
        told = sorted(d["error"] for d in dead)
        assert len(dead) == 6 and len([t for t in told if "does not begin with a 0" in t]) == 2, told
        assert any("999 not found" in t for t in told) and any("is no JSON schema" in t for t in told), told
        assert all(d["raw"] for d in dead), dead


@test
def numbers_are_taken_unasked_when_told_so(p):
    with Registry() as registry:
        rows, _ = read(p, options(registry, subject=None, more=", json-confluent.check-schema-id: false"), "{id: INT}",
                       [framed(1, b'{"id": 1}'), framed(2, b'{"id": 2}')], 2)
        assert rows == [{"id": 1}, {"id": 2}] and registry.asked == [], registry.asked


def slow(p, fmt, kind, schema, body):
    """Checkpoints go on while the registry does not answer, and so does stopping; then the rows come."""
    with Registry() as registry:
        number = registry.add(schema, kind=kind)
        registry.gate.clear()
        path = p.write("slow.yaml", f"""
pipeline.name: slow
execution.checkpointing: {{interval: 20ms, dir: state}}
sources:
  in: {{connector: http, listen: '127.0.0.1:0', path: /events, source.body: record,
        {options(registry, fmt, subject=None)}, schema: {{id: INT}}}}
sinks:
  out: {{from: in, connector: filesystem, path: out/, format: json}}
""")
        hook = Hook(p, path).ready()
        status, words, _ = hook.send(framed(number, body))
        assert status == 200, (status, words)
        wait_for("the question", lambda: registry.asked)
        before = p.status()["checkpoints"]["completed"]
        wait_for("checkpoints", lambda: p.status()["checkpoints"]["completed"] > before + 3)
        registry.gate.set()
        wait_for("the row", lambda: [q for q in (p.dir / "out").glob("[!._]*") if q.read_text() == '{"id":7}\n'])
        hook.stop()


@test
def a_slow_registry_does_not_hold_up_checkpoints_of_json(p):
    slow(p, "json-confluent", "JSON", "{}", b'{"id": 7}')


@test
def a_slow_registry_does_not_hold_up_checkpoints_of_avro(p):
    slow(p, "avro-confluent", "AVRO", '{"type": "record", "name": "r", "fields": [{"name": "id", "type": "int"}]}', b"\x0e")


@test
def a_registry_over_tls_with_password_and_certificates(p):
    for name in ("server", "client", "stranger"):
        cert, key = p.dir / f"{name}.pem", p.dir / f"{name}-key.pem"
        served.certificate(cert, key, name)
        (p.dir / f"{name}-both.pem").write_text(key.read_text() + cert.read_text())
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(p.dir / "server-both.pem")
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_verify_locations(p.dir / "client.pem")
    with Registry(user="me:secret of mine", tls=tls) as registry, Server() as server:
        for fmt in ("avro-confluent", "json-confluent"):
            user = f", {fmt}.basic-auth.credentials-source: USER_INFO, {fmt}.basic-auth.user-info: 'me:secret of mine'"
            trusted = f", {fmt}.ssl.truststore.location: server.pem"
            own = f", {fmt}.ssl.keystore.location: client-both.pem"
            ok(p.run("run", writer(p, server, registry, user + trusted + own, fmt)))
            none = ["-D", "restart-strategy.type=none"]
            for more in (user + own, user + trusted, user + trusted + own.replace("client", "stranger"), trusted + own):
                done = ok(p.run("run", writer(p, server, registry, more, fmt), *none), 1)
                assert b"the schema registry at https://127.0.0.1" in done.stderr, done.stderr
                assert b"secret of mine" not in done.stderr + done.stdout, done.stderr
                done = ok(p.run("validate", "--connect", p.dir / "write.yaml"), 1)
                assert b"out (format): cannot be used: the schema registry at https://" in done.stdout, done.stdout
            done = ok(p.run("validate", "--connect", writer(p, server, registry, user + trusted + own, fmt)))
            assert b"out (format): connected: registry https://127.0.0.1" in done.stdout and b"subject s, versions 1" in done.stdout


@test
def a_real_registry_knows_what_was_written(p):
    """Apicurio's, by its Confluent interface: schemas of both kinds, records both ways, numbers that are not there."""
    try:
        with real.Registry(p.dir / "registry") as registry, Server() as server:
            for fmt in ("avro-confluent", "json-confluent"):
                job = writer(p, server, registry, fmt=fmt, subject=fmt)
                assert b"versions 0" in ok(p.run("validate", "--connect", job)).stdout
                del server.requests[:]
                ok(p.run("run", job))
                ok(p.run("run", job))  # the same schema has the same number
                assert b"versions 1" in ok(p.run("validate", "--connect", job)).stdout
                bodies = [r["body"] for r in server.requests]
                assert len(bodies) == 4 and len({b[:5] for b in bodies}) == 1 and bodies[0][0] == 0, bodies
                more = ", on-error: dead-letter}\ndead-letter: {connector: filesystem, path: dead/, format: json"
                rows, _ = read(p, options(registry, fmt, subject=None), SCHEMA, [framed(9999, b"{}"), *bodies[:2]], 2, more)
                assert rows == ROWS, rows
                wait_for("the letter", lambda: [q for q in (p.dir / "dead").glob("[!._]*") if b"9999" in q.read_bytes()])
                for name in ("out", "dead", "state"):
                    shutil.rmtree(p.dir / name, ignore_errors=True)
    except real.Missing as why:
        raise Skipped(str(why)) from why
