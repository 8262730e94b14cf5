"""The kafka and upsert-kafka sinks against a real broker."""
import json
import time

from harness import SIGKILL, ended, ok, test, wait_for

# What Java's own tests say that murmur2 makes of these keys.
MURMUR2 = {"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536, "a-little-bit-longer-string": -1486304829,
           "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, "abc": 479470107}


def job(p, broker, name, sink, schema, rows, top=""):
    """A job from a CSV file of these rows into a sink; `sink` is what stands in it beside the usual."""
    p.write(f"{name}.csv", "".join(f"{row}\n" for row in rows))
    return p.write(f"{name}.yaml", f"""
pipeline.name: {name}
{top}
sources:
  events:
    connector: filesystem
    path: {name}.csv
    format: csv
    csv.null-literal: '-'
    schema: {schema}
sinks:
  out:
    from: events
    properties.bootstrap.servers: '{broker.bootstrap}'
{sink}
""")


def values(broker, topic):
    return [r["value"] for r in broker.dump(topic)]


@test
def rows_become_records(p):
    broker = p.kafka()
    broker.create("plain", 1)
    path = job(p, broker, "plain", "    connector: kafka\n    topic: plain\n    format: json", "{a: BIGINT, b: STRING}", ["1,x", "2,-", "3,"])
    done = ok(p.run("run", path))
    assert b"written 3 " in done.stderr, done.stderr
    assert [json.loads(v) for v in values(broker, "plain")] == [{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"a": 3, "b": ""}]


@test
def a_record_has_no_line_end_and_null_of_raw_is_none(p):
    broker = p.kafka()
    broker.create("lines", 1)
    path = job(p, broker, "lines", "    connector: kafka\n    topic: lines\n    format: csv", "{a: BIGINT, b: STRING}", ["1,x", '2,"a,b"'])
    ok(p.run("run", path))
    assert values(broker, "lines") == ["1,x", '2,"a,b"'], values(broker, "lines")
    for charset, text in (("UTF-8", "ab"), ("UTF-16LE", "a\0b\0")):
        broker.create(f"raw-{charset}", 1)
        path = job(p, broker, f"raw-{charset}", f"    connector: kafka\n    topic: raw-{charset}\n    format: raw\n    raw.charset: {charset}",
                   "{a: STRING}", ["ab", "-", "ab"])
        ok(p.run("run", path))
        assert values(broker, f"raw-{charset}") == [text, None, text], values(broker, f"raw-{charset}")


@test
def keys_go_where_java_sends_them(p):
    broker = p.kafka()
    broker.create("keyed", 7)
    path = job(p, broker, "keyed", "    connector: kafka\n    topic: keyed\n    key.format: raw\n    key.fields: k\n    format: json",
               "{k: STRING, v: INT}", [f"{k},{i}" for i, k in enumerate(MURMUR2)])
    ok(p.run("run", path))
    rows = broker.dump("keyed")
    assert {r["key"]: r["partition"] for r in rows} == {k: (h & 0x7fffffff) % 7 for k, h in MURMUR2.items()}, rows
    assert all(json.loads(r["value"])["k"] == r["key"] for r in rows), rows


@test
def keys_have_fields_and_formats_of_their_own(p):
    broker = p.kafka()
    broker.create("parts", 1)
    path = job(p, broker, "parts", "    connector: kafka\n    topic: parts\n    key.format: json\n    key.fields: k_b;k_a\n    key.fields-prefix: k_\n"
               "    value.format: csv\n    value.csv.field-delimiter: '|'\n    value.fields-include: EXCEPT_KEY",
               "{k_a: INT, k_b: STRING, v: INT, w: STRING}", ["1,x,2,y", "3,-,4,z"])
    ok(p.run("run", path))
    rows = broker.dump("parts")
    assert [(r["key"], r["value"]) for r in rows] == [('{"b":"x","a":1}', "2|y"), ('{"b":null,"a":3}', "4|z")], rows


@test
def partitioners(p):
    broker = p.kafka()
    broker.create("fixed", 3)
    broker.create("robin", 3)
    rows = [str(i) for i in range(30)]
    path = job(p, broker, "fixed", "    connector: kafka\n    topic: fixed\n    format: raw\n    sink.partitioner: fixed", "{a: STRING}", rows)
    ok(p.run("run", path))
    assert broker.values("fixed") == {0: rows}, broker.values("fixed")
    path = job(p, broker, "robin", "    connector: kafka\n    topic: robin\n    format: raw\n    sink.partitioner: round-robin", "{a: STRING}", rows)
    ok(p.run("run", path))
    assert broker.values("robin") == {i: rows[i::3] for i in range(3)}, broker.values("robin")


@test
def headers_timestamp_and_topic_are_columns(p):
    broker = p.kafka()
    broker.create("beside-a", 1)
    broker.create("beside-b", 1)
    p.write("beside.csv", "1,x,beside-a,2024-01-02 03:04:05.678\n2,-,beside-b,-\n3,y,nowhere,-\n")
    path = p.write("beside.yaml", f"""
pipeline.name: beside
dead-letter: {{connector: filesystem, path: dead/}}
sources:
  events:
    connector: filesystem
    path: beside.csv
    format: csv
    csv.null-literal: '-'
    schema: {{a: INT, h: STRING, t: STRING, ts: TIMESTAMP(3)}}
transforms:
  with_headers:
    from: events
    select:
      - a
      - MAP[CAST('h' AS STRING), CAST(h AS BYTES)] AS heads
      - t
      - CAST(ts AS TIMESTAMP_LTZ(3)) AS ts
sinks:
  out:
    from: with_headers
    connector: kafka
    topic: [beside-a, beside-b]
    properties.bootstrap.servers: '{broker.bootstrap}'
    format: json
    on-error: dead-letter
    schema:
      a: INT
      heads: MAP<STRING, BYTES> METADATA FROM 'headers'
      t: STRING METADATA FROM 'topic'
      ts: TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'
""")
    before = time.time() * 1000
    ok(p.run("run", path))
    a, b = broker.dump("beside-a"), broker.dump("beside-b")
    assert [(r["value"], r["headers"], r["timestamp"]) for r in a] == [('{"a":1}', [["h", "x"]], 1704164645678)], a
    assert [(r["value"], r["headers"]) for r in b] == [('{"a":2}', [["h", None]])] and b[0]["timestamp"] >= before - 1000, b
    letters = [json.loads(line) for f in (p.dir / "dead").rglob("*") if f.is_file() for line in f.read_text().splitlines()]
    assert len(letters) == 1 and "none of the sink's topics" in letters[0]["error"], letters


@test
def rows_go_to_topics_that_a_pattern_allows(p):
    """Topics that are found as rows name them, of one only small batches are taken; one does not match, one is not there."""
    broker = p.kafka()
    for name, settings in (("told-a", {}), ("told-b", {"max_message_bytes": 5000}), ("untold", {})):
        broker.create(name, 2, **settings)
    rows = [(i, ["told-a", "told-b", "told-a", "told-c", "untold", ""][i % 6] if i >= 600 else "told-a") for i in range(1200)]
    p.write("told.csv", "".join(f"{i},{t},{'x' * (i % 90)}\n" for i, t in rows) + f"2000,told-b,{'y' * 6000}\n2001,told-b,z\n")
    text = f"""
pipeline.name: told
dead-letter: {{connector: filesystem, path: dead/, format: json}}
sources:
  events: {{connector: filesystem, path: told.csv, format: csv, schema: {{a: INT, t: STRING, v: STRING}}}}
sinks:
  out:
    from: events
    connector: kafka
    topic-pattern: 'told-.*'
    properties.bootstrap.servers: '{broker.bootstrap}'
    properties.linger.ms: 100
    format: csv
    on-error: dead-letter
    schema: {{a: INT, t: STRING METADATA FROM 'topic', v: STRING}}
"""
    done = ok(p.run("run", "-v", p.write("told.yaml", text)))
    got = {name: sorted(int(r["value"].split(",")[0]) for r in broker.dump(name)) for name in ("told-a", "told-b", "untold")}
    want = {"told-a": [i for i, t in rows if t == "told-a"], "told-b": [i for i, t in rows if t == "told-b"] + [2001], "untold": []}
    assert got == want, {k: (len(v), len(want[k])) for k, v in got.items()}
    letters = [json.loads(line)["error"] for f in p.dir.glob("dead/part-*") for line in f.read_text().splitlines()]
    for words, count in (("there is no topic 'told-c'", 100), ("'untold' is none of the sink's topics", 100), ("'' is none of", 100),
                         ("large", 1)):
        assert sum(words in error for error in letters) == count, (words, done.stderr[-2000:])
    assert len(letters) == 301 and b"batches have at most 5000 bytes" in done.stderr, done.stderr[-2000:]
    for change, words in ((("    on-error", "    topic: told-a\n    on-error"), b"either topic or topic-pattern"),
                          (("told-.*", "told-("), b"topic-pattern: missing closing parenthesis"),
                          (("    on-error", "    sink.delivery-guarantee: exactly-once\n    sink.transactional-id-prefix: told\n    on-error"),
                           b"exactly-once needs topics that are known before"),
                          (("topic-pattern: 'told-.*'", ""), b"'topic' must name 1 to 64 topics")):
        assert words in ok(p.run("validate", p.write("bad.yaml", text.replace(*change))), 3).stderr, words
    lacks = p.write("bad.yaml", text.replace(" METADATA FROM 'topic'", "").replace("schema: {a: INT, t: STRING, v: STRING}\n\"", ""))
    assert b"METADATA FROM 'topic'" in ok(p.run("run", lacks, "-D", "restart-strategy.type=none"), 1).stderr


@test
def several_topics_need_a_column(p):
    broker = p.kafka()
    path = job(p, broker, "several", "    connector: kafka\n    topic: a;b\n    format: raw", "{a: STRING}", ["1"])
    done = ok(p.run("run", path), 1)
    assert b"METADATA FROM 'topic'" in done.stderr, done.stderr


@test
def what_a_broker_does_not_take_is_set_aside(p):
    """Too large for the topic, for the client, a timestamp in the future, no key in a compacted topic: the row alone, not its neighbours."""
    broker = p.kafka()
    broker.create("small", 1, max_message_bytes=10000)
    sizes = [10, 20000, 100, 9000, 9000, 9000, 10100, 5, 3000000, 1]
    path = job(p, broker, "small", "    connector: kafka\n    topic: small\n    format: raw\n    on-error: dead-letter", "{a: STRING}",
               ["x" * n for n in sizes], "dead-letter: {connector: filesystem, path: dead/}")
    done = ok(p.run("run", path))
    assert b"written 7 " in done.stderr and b"dead-lettered 3 " in done.stderr, done.stderr
    assert [len(v) for v in values(broker, "small")] == [n for n in sizes if n < 10000], [len(v) for v in values(broker, "small")]
    letters = [json.loads(line) for f in (p.dir / "dead").rglob("*") if f.is_file() for line in f.read_text().splitlines()]
    assert sorted(int(x["offset"]) for x in letters) == sorted(sum(n + 1 for n in sizes[:i]) for i in (1, 6, 8)), [x["offset"] for x in letters]
    assert all("large" in x["error"].lower() for x in letters), letters

    broker.create("compacted", 1, cleanup_policy="compact")
    path = job(p, broker, "compacted", "    connector: kafka\n    topic: compacted\n    key.format: raw\n    key.fields: k\n    format: csv\n    on-error: skip",
               "{k: STRING, v: INT}", ["a,1", "-,2", "b,3"])
    done = ok(p.run("run", path))
    assert b"written 2 " in done.stderr and b"skipped 1 " in done.stderr and b"compacted" in done.stderr, done.stderr


@test
def a_timestamp_that_no_broker_takes_is_its_rows_fault(p):
    broker = p.kafka()
    broker.create("times", 1)
    p.write("times.csv", "1,2024-01-02 03:04:05\n2,2999-01-02 03:04:05\n3,1970-01-01 00:00:00\n4,1960-01-01 00:00:00\n5,2024-01-02 03:04:06\n")
    path = p.write("times.yaml", f"""
pipeline.name: times
sources:
  events: {{connector: filesystem, path: times.csv, format: csv, schema: {{a: INT, ts: TIMESTAMP(3)}}}}
sinks:
  out:
    from: events
    connector: kafka
    topic: times
    properties.bootstrap.servers: '{broker.bootstrap}'
    format: json
    on-error: skip
    schema: {{a: INT, ts: TIMESTAMP(3) METADATA FROM 'timestamp'}}
""")
    done = ok(p.run("run", path))
    assert b"skipped 2 " in done.stderr and b"so far in the future" in done.stderr, done.stderr
    # librdkafka takes 0 for now, so it is a millisecond later.
    assert [(r["value"], r["timestamp"]) for r in broker.dump("times")] == [
        ('{"a":1}', 1704164645000), ('{"a":3}', 1), ('{"a":5}', 1704164646000)], broker.dump("times")


@test
def what_is_not_there_is_said(p):
    broker = p.kafka()
    path = job(p, broker, "absent", "    connector: kafka\n    topic: nosuch\n    format: raw", "{a: STRING}", ["1"])
    done = ok(p.run("run", path), 1)
    assert b"there is no topic 'nosuch'" in done.stderr, done.stderr
    path = job(p, broker, "once", "    connector: kafka\n    topic: nosuch\n    format: raw\n    properties.acks: most", "{a: STRING}", ["1"])
    done = ok(p.run("run", path), 3)
    assert b"properties.acks" in done.stderr, done.stderr
    done = ok(p.run("validate", job(p, broker, "none", "    connector: kafka\n    format: raw", "{a: STRING}", ["1"])), 3)
    assert b"topic" in done.stderr + done.stdout, done


@test
def users_write_by_tls_and_scram_what_they_may(p):
    broker = p.kafka()
    for topic in ("allowed", "forbidden"):
        broker.create(topic, 1)
    broker.allow("writer", "topic", "allowed", "write")
    secure = f"""
    properties.security.protocol: SASL_SSL
    properties.ssl.truststore.type: PEM
    properties.ssl.truststore.location: '{broker.ca}'
    properties.sasl.mechanism: MECHANISM
    properties.sasl.jaas.config: org.apache.kafka.common.security.MODULE required username="writer" password="PASSWORD";
    connector: kafka
    format: raw
    topic: """

    def run(name, topic, mechanism="SCRAM-SHA-512", module="scram.ScramLoginModule", password="secret-of-writer"):
        text = (secure + topic).replace("MECHANISM", mechanism).replace("MODULE", module).replace("PASSWORD", password)
        path = job(p, broker, name, text, "{a: STRING}", [name], "restart-strategy.type: none\nsink.retry.timeout: 300ms")
        text = open(path).read().replace(broker.bootstrap, broker.secure)
        return p.run("run", p.write(f"{name}.yaml", text))

    plain = ("PLAIN", "plain.PlainLoginModule")
    ok(run("by-plain", "allowed", *plain))
    scram = run("by-scram", "allowed")
    if scram.returncode == 0:
        ok(run("by-scram-256", "allowed", "SCRAM-SHA-256"))
        assert values(broker, "allowed") == ["by-plain", "by-scram", "by-scram-256"], values(broker, "allowed")
    else:  # Kafka 4 takes no SCRAM of a librdkafka before 2.6.1, and that is said
        assert b"they need 2.6.1 or later" in ok(scram, 1).stderr, scram.stderr
        assert values(broker, "allowed") == ["by-plain"], values(broker, "allowed")
    done = ok(run("denied", "forbidden", *plain), 1)
    assert b"authorization failed" in done.stderr.lower() or b"not authorized" in done.stderr.lower(), done.stderr
    done = ok(run("wrong", "allowed", *plain, password="wrong-secret"), 1)
    assert b"uthentication failed" in done.stderr and b"wrong-secret" not in done.stderr, done.stderr




def stream(p, broker, name, rows, rate):
    return p.write(f"{name}.yaml", f"""
pipeline.name: {name}
execution.checkpointing: {{interval: 100ms, dir: state}}
restart-strategy: {{type: fixed-delay, fixed-delay: {{delay: 10ms, attempts: 100}}}}
sources:
  events:
    connector: datagen
    number-of-rows: {rows}
    rows-per-second: {rate}
    fields.a: {{kind: sequence, start: 1, end: {rows}}}
    schema: {{a: BIGINT}}
transforms:
  texts: {{from: events, select: [CAST(a AS STRING) AS a]}}
sinks:
  out: {{from: texts, connector: kafka, topic: {name}, format: raw, properties.bootstrap.servers: '{broker.bootstrap}'}}
""")


@test
def nothing_is_lost_when_the_job_is_killed(p):
    broker = p.kafka()
    broker.create("killed", 2)
    path = stream(p, broker, "killed", 30000, 10000)
    for least in (3000, 12000):
        child = p.start("run", path, "--continue")
        wait_for("records", lambda: sum(high for _, high in broker.ends("killed").values()) > least)
        child.send_signal(SIGKILL)
        child.wait()
    ok(p.run("run", path, "--continue"))
    found = [int(v) for v in values(broker, "killed")]
    assert sorted(set(found)) == list(range(1, 30001)), len(set(found))


@test
def a_broker_that_is_away_is_waited_for(p):
    broker = p.kafka({})
    broker.create("away", 1)
    path = stream(p, broker, "away", 40000, 10000)
    path = p.write("away.yaml", open(path).read().replace("format: raw,", "format: raw, properties.reconnect.backoff.max.ms: 200,"))
    child = p.start("run", path)
    wait_for("records", lambda: broker.ends("away")[0][1] > 1000)
    broker.kill()

    def waits():
        status = p.run("status", "--json").stdout
        return b"no broker can be reached" in status and status
    wait_for("a word that it waits", waits, 60)
    broker.start()
    ended(child, 0, 120)
    found = [int(v) for v in values(broker, "away")]
    assert sorted(set(found)) == list(range(1, 40001)) and len(found) == 40000, (len(found), len(set(found)))


@test
def a_table_goes_by_key_and_leaves_by_tombstone(p):
    broker = p.kafka()
    broker.create("table", 2, cleanup_policy="compact")
    p.write("in.json", "".join(line + "\n" for line in (
        '{"op":"c","before":null,"after":{"id":1,"n":10}}', '{"op":"c","before":null,"after":{"id":2,"n":20}}',
        '{"op":"u","before":{"id":1,"n":10},"after":{"id":1,"n":11}}', '{"op":"d","before":{"id":2,"n":20},"after":null}')))
    path = p.write("table.yaml", f"""
pipeline.name: table
sources:
  events: {{connector: filesystem, path: in.json, format: debezium-json, schema: {{id: INT, n: INT}}}}
sinks:
  out:
    from: events
    connector: upsert-kafka
    topic: table
    primary-key: [id]
    properties.bootstrap.servers: '{broker.bootstrap}'
    key.format: json
    value.format: json
""")
    ok(p.run("run", path))
    found = {}
    for r in broker.dump("table"):
        found.setdefault(r["key"], []).append(r["value"])
    assert found == {'{"id":1}': ['{"id":1,"n":10}', '{"id":1,"n":11}'], '{"id":2}': ['{"id":2,"n":20}', None]}, found
    done = ok(p.run("validate", p.write("keyless.yaml", open(path).read().replace("    primary-key: [id]\n", ""))), 3)
    assert b"primary-key" in done.stdout + done.stderr, done


@test
def exactly_once_by_redo_survives_kills(p):
    """Rows in a file until their checkpoint, then in one transaction with its number: each row once, whenever the job is killed."""
    broker = p.kafka()
    broker.create("redone", 3)
    rows = 20000
    path = stream(p, broker, "redone", rows, 10000)
    path = p.write("redone.yaml", open(path).read().replace(
        "format: raw,", "format: raw, sink.delivery-guarantee: exactly-once, exactly-once.method: redo, sink.transactional-id-prefix: redone,"))

    def seen():
        return sum(high for _, high in broker.ends("redone").values())
    for least in (1000, 6000, 11000):
        child = p.start("run", path, "--continue")
        wait_for("records", lambda: child.poll() is not None or seen() > least, 60)
        child.send_signal(SIGKILL)
        child.wait()
    ok(p.run("run", path, "--continue"))
    found = sorted(int(v) for v in values(broker, "redone"))
    assert found == list(range(1, rows + 1)), (len(found), len(set(found)))
    assert not list((p.dir / "state").rglob(".redo-*")), list((p.dir / "state").rglob(".redo-*"))


REDO = """    connector: kafka
    format: raw
    sink.delivery-guarantee: exactly-once
    exactly-once.method: redo
    sink.transactional-id-prefix: {0}
    topic: {0}"""


@test
def redo_needs_no_checkpoints_and_finds_bad_rows_first(p):
    """A bounded job without a place for checkpoints: all rows at its end, in one transaction; a row that is too large never gets there."""
    broker = p.kafka()
    broker.create("redo-end", 1, max_message_bytes=10000)
    path = job(p, broker, "redo-end", REDO.format("redo-end") + "\n    on-error: skip", "{a: STRING}", ["x", "y" * 20000, "z"])
    done = ok(p.run("run", path))
    assert b"written 2 " in done.stderr and b"skipped 1 " in done.stderr and b"too large for topic" in done.stderr, done.stderr
    assert values(broker, "redo-end") == ["x", "z"], values(broker, "redo-end")
    assert b"waits" not in done.stderr, done.stderr
    plan = ok(p.run("validate", path))
    assert b"exactly-once" in plan.stdout + plan.stderr, plan


@test
def redo_goes_beside_a_decider(p):
    """Two transactions cannot be committed in one step; with redo on one of them the job keeps exactly-once in both topics."""
    broker = p.kafka()
    for topic in ("decided", "beside"):
        broker.create(topic, 1)
    path = stream(p, broker, "decided", 2000, 4000)
    sink = f"""  more: {{from: texts, connector: kafka, topic: beside, format: raw, properties.bootstrap.servers: '{broker.bootstrap}',
         sink.delivery-guarantee: exactly-once, sink.transactional-id-prefix: beside, METHOD}}
"""
    text = open(path).read().replace("format: raw,", "format: raw, sink.delivery-guarantee: exactly-once, sink.transactional-id-prefix: decided,") + sink
    done = ok(p.run("validate", p.write("decided.yaml", text.replace("METHOD", "exactly-once.method: decider"))), 3)
    assert b"exactly-once.method: redo" in done.stdout + done.stderr, done
    ok(p.run("run", p.write("decided.yaml", text.replace("METHOD", "exactly-once.method: redo"))))
    for topic in ("decided", "beside"):
        assert sorted(int(v) for v in values(broker, topic)) == list(range(1, 2001)), topic
