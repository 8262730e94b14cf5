"""The kafka source against a real broker, in the cases where clients differ from what people expect."""
import itertools
import json
import sqlite3

from harness import SIGKILL, SIGTERM, ended, ok, test, wait_for

NUMBERS = itertools.count(1)
PLAIN = "    format: raw\n    schema: {line: STRING}\n"
BOUNDED = "    scan.startup.mode: earliest-offset\n    scan.bounded.mode: latest-offset\n"


def topic(broker, partitions=1, **settings):
    name = f"source-{next(NUMBERS)}"
    broker.create(name, partitions, **settings)
    return name


def lines(first, count, partition=0, **more):
    return [{"value": str(i), "partition": partition, **more} for i in range(first, first + count)]


def job(p, broker, name, options=BOUNDED, read=PLAIN, head="", more="", out="connector: stdout, format: json"):
    """`name` is a topic, or the whole line that says which."""
    which = name if ":" in name else f"topic: {name}"
    return p.write("job.yaml", f"""pipeline.name: kafka
{head}sources:
  in:
    connector: kafka
    {which}
    properties.bootstrap.servers: {broker.bootstrap}
{options}{read}
sinks:
  out: {{from: in, {out}}}
{more}""")


def rows(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def values(done):
    return [row["line"] for row in rows(done)]


KEPT = "execution.checkpointing: {interval: 20ms, dir: state}\nrestart-strategy.type: none\n"
FILES = "connector: filesystem, path: out/, format: raw"


def written(p):
    return [int(line) for part in sorted(p.dir.glob("out/part-*")) for line in part.read_text().split()]


def checkpointed(p):
    return p.run("wait", "kafka", "--checkpoint", "--timeout", "20s").returncode == 0


def stopped(p, child):
    """Ends the job behind a checkpoint: before it runs, a signal would only kill it."""
    wait_for("a checkpoint", lambda: checkpointed(p) or child.poll() is not None)
    child.send_signal(SIGTERM)
    return ended(child)


# --- Where it begins and ends ---------------------------------------------------------------------


@test
def a_bounded_read_of_kafka_gives_each_record_once(p):
    broker = p.kafka()
    name = topic(broker, 3)
    broker.put(name, [row for k in range(3) for row in lines(1000 * k, 700, k)])
    got = values(ok(p.run("run", job(p, broker, name))))
    assert sorted(map(int, got)) == sorted(1000 * k + i for k in range(3) for i in range(700))
    for k in range(3):  # in order within each partition
        mine = [int(v) for v in got if 1000 * k <= int(v) < 1000 * k + 1000]
        assert mine == sorted(mine), k
    got = values(ok(p.run("run", job(p, broker, name), "-p", "2")))
    assert len(set(got)) == len(got) == 2100


@test
def each_startup_mode_of_kafka_begins_where_it_says(p):
    broker = p.kafka()
    name = topic(broker, 2)
    broker.put(name, [{"value": f"{k}{i}", "partition": k, "timestamp": 1000 * (i + 1)} for k in range(2) for i in range(5)])
    broker.forget(name, 0, 1)
    end = "    scan.bounded.mode: latest-offset\n"
    cases = {
        "scan.startup.mode: earliest-offset": ["01", "02", "03", "04", "10", "11", "12", "13", "14"],
        "scan.startup.mode: latest-offset": [],
        "scan.startup.mode: timestamp\n    scan.startup.timestamp-millis: 4000": ["03", "04", "13", "14"],
        "scan.startup.mode: timestamp\n    scan.startup.timestamp-millis: 400000": [],
        "scan.startup.mode: specific-offsets\n    scan.startup.specific-offsets: partition:1,offset:4": ["01", "02", "03", "04", "14"],
        "properties.group.id: nobody\n    properties.auto.offset.reset: earliest": ["01", "02", "03", "04", "10", "11", "12", "13", "14"],
        "properties.group.id: nobody-else\n    properties.auto.offset.reset: latest": [],
    }
    for options, want in cases.items():
        assert sorted(values(ok(p.run("run", job(p, broker, name, f"    {options}\n{end}"))))) == want, options
    done = ok(p.run("run", job(p, broker, name, f"    properties.group.id: anybody\n{end}"), "-D", "restart-strategy.type=none"), 1)
    assert b"group 'anybody' has no offset of topic" in done.stderr, done.stderr


@test
def each_bounded_mode_of_kafka_ends_where_it_says(p):
    broker = p.kafka()
    name = topic(broker)
    broker.put(name, [{"value": str(i), "timestamp": 1000 * (i + 1)} for i in range(6)])
    first = "    scan.startup.mode: earliest-offset\n    properties.group.id: ends\n"
    cases = {
        "scan.bounded.mode: latest-offset": 6,
        "scan.bounded.mode: timestamp\n    scan.bounded.timestamp-millis: 3000": 2,
        "scan.bounded.mode: timestamp\n    scan.bounded.timestamp-millis: 300000": 6,
        "scan.bounded.mode: specific-offsets\n    scan.bounded.specific-offsets: partition:0,offset:4": 4,
        "scan.bounded.mode: specific-offsets\n    scan.bounded.specific-offsets: partition:0,offset:400": 6,
        "scan.bounded.mode: specific-offsets\n    scan.bounded.specific-offsets: partition:0,offset:0": 0,
    }
    for options, want in cases.items():
        done = ok(p.run("run", job(p, broker, name, f"{first}    {options}\n")))
        assert values(done) == [str(i) for i in range(want)], options


@test
def an_empty_topic_of_kafka_is_read_to_its_end_at_once(p):
    broker = p.kafka()
    name = topic(broker, 3)
    assert rows(ok(p.run("run", job(p, broker, name), timeout=30))) == []
    broker.put(name, lines(0, 2))
    assert values(ok(p.run("run", job(p, broker, name), timeout=30))) == ["0", "1"]


@test
def topics_are_named_listed_or_matched(p):
    broker = p.kafka()
    one, two, three = topic(broker), topic(broker), f"other-{topic(broker)}"
    broker.create(three)
    for k, name in enumerate([one, two, three]):
        broker.put(name, lines(k, 1))
    assert sorted(values(ok(p.run("run", job(p, broker, f"topic: {one};{two}"))))) == ["0", "1"]
    assert sorted(values(ok(p.run("run", job(p, broker, f"topic: [{one}, {three}]"))))) == ["0", "2"]
    assert sorted(values(ok(p.run("run", job(p, broker, f"topic-pattern: '({one}|.*{three})'"))))) == ["0", "2"]
    done = ok(p.run("run", job(p, broker, "nosuch"), "-D", "restart-strategy.type=none"), 1)
    assert b"topic 'nosuch': Broker: Unknown topic or partition" in done.stderr, done.stderr


# --- What a record is -----------------------------------------------------------------------------


@test
def a_record_of_kafka_has_metadata(p):
    broker = p.kafka()
    name = topic(broker, 2)
    broker.put(name, [{"value": "x", "partition": 1, "timestamp": 1700000000123,
                       "headers": [["a", "1"], ["b", None], ["a", "2"], ["e", ""]]}, {"value": "y", "partition": 1}])
    read = """    format: raw
    schema: |
      line STRING, t STRING METADATA FROM 'topic', p INT METADATA FROM 'partition', o BIGINT METADATA FROM 'offset',
      ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', tt STRING METADATA FROM 'timestamp-type', h MAP<STRING, BYTES> METADATA FROM 'headers',
      l ARRAY<ROW<`key` STRING, `value` BYTES>> METADATA FROM 'header-list', e INT METADATA FROM 'leader-epoch'
"""
    one, two = rows(ok(p.run("run", job(p, broker, name, read=read))))
    assert (one["line"], one["t"], one["p"], one["o"], one["tt"]) == ("x", name, 1, 0, "CreateTime"), one
    assert one["ts"].startswith("2023-11-14 22:13:20.123"), one
    assert one["h"] == {"a": "Mg==", "b": None, "e": ""}, one
    assert one["l"] == [{"key": "a", "value": "MQ=="}, {"key": "b", "value": None}, {"key": "a", "value": "Mg=="},
                        {"key": "e", "value": ""}], one
    assert two["o"] == 1 and two["h"] == {} and two["l"] == [], two


@test
def a_key_of_kafka_becomes_columns(p):
    broker = p.kafka()
    name = topic(broker)
    broker.put(name, [{"key": '{"id": 1}', "value": '{"v": "a"}'}, {"key": None, "value": '{"v": "b"}'},
                      {"key": '{"id": 3}', "value": '{"v": "c"}'}])
    read = """    key.format: json
    value.format: json
    key.fields: k_id
    key.fields-prefix: k_
    value.fields-include: EXCEPT_KEY
    schema: {v: STRING, k_id: INT}
"""
    assert rows(ok(p.run("run", job(p, broker, name, read=read)))) == [
        {"v": "a", "k_id": 1}, {"v": "b", "k_id": None}, {"v": "c", "k_id": 3}]
    read = "    key.format: raw\n    key.fields: [k]\n    format: raw\n    value.fields-include: EXCEPT_KEY\n    schema: {k: STRING, v: STRING}\n"
    assert rows(ok(p.run("run", job(p, broker, name, read=read))))[1] == {"k": None, "v": '{"v": "b"}'}


@test
def a_bad_key_of_kafka_is_a_bad_record(p):
    broker = p.kafka()
    name = topic(broker)
    broker.put(name, [{"key": "no" if i in (0, 3, 4, 9) else str(i), "value": f"v{i}" if i != 5 else "v5"} for i in range(10)])
    read = """    key.format: csv
    key.fields: id
    format: csv
    value.fields-include: EXCEPT_KEY
    schema: {id: INT, v: STRING}
"""
    done = ok(p.run("run", job(p, broker, name, read=read + "    on-error: skip\n")))
    assert [(r["id"], r["v"]) for r in rows(done)] == [(i, f"v{i}") for i in (1, 2, 5, 6, 7, 8)], done.stdout
    assert b"skipped 4" in done.stderr and b"key: " in done.stderr, done.stderr
    more = "dead-letter: {connector: filesystem, path: dead/, format: json}\n"
    done = ok(p.run("run", job(p, broker, name, read=read + "    on-error: dead-letter\n", more=more)))
    letters = [json.loads(line) for part in p.dir.glob("dead/part-*") for line in part.read_text().splitlines()]
    assert sorted(row["offset"] for row in letters) == [0, 3, 4, 9] and all(row["split"] == f"{name}-0" for row in letters), letters
    done = ok(p.run("run", job(p, broker, name, read=read), "-D", "restart-strategy.type=none"), 1)
    assert b"key: " in done.stderr, done.stderr


@test
def null_empty_and_null_as_text_are_not_the_same(p):
    broker = p.kafka()
    name = topic(broker)
    broker.put(name, [{"value": v, "key": "k"} for v in (None, "", "null", "{}", '{"a": 1}')])
    raw = rows(ok(p.run("run", job(p, broker, name))))
    assert [r["line"] for r in raw] == [None, "", "null", "{}", '{"a": 1}'], raw
    read = "    format: json\n    schema: {a: INT}\n    on-error: skip\n"
    done = ok(p.run("run", job(p, broker, name, read=read)))
    assert rows(done)[-2:] == [{"a": None}, {"a": 1}], done.stdout  # a tombstone and JSON's null are no rows, as in Flink
    assert b"filtered 2" in done.stderr and b"skipped 1" in done.stderr, done.stderr


@test
def all_codecs_of_kafka_are_read(p):
    broker = p.kafka()
    name = topic(broker)
    codecs = ["none", "gzip", "snappy", "lz4", "zstd"]
    for k, codec in enumerate(codecs):
        broker.put(name, lines(100 * k, 100), f"compression.codec={codec}")
    assert values(ok(p.run("run", job(p, broker, name)))) == [str(i) for i in range(500)]


# --- Transactions ---------------------------------------------------------------------------------


def transaction(first, count, how, partition=0):
    return [*lines(first, count, partition), {"transaction": how}]


@test
def a_partition_that_ends_with_a_marker_is_read_to_its_end(p):
    broker = p.kafka()
    name = topic(broker, 3)
    broker.put(name, transaction(0, 1, "commit", 0) + transaction(1, 1, "abort", 1) + transaction(2, 2, "commit", 2),
               f"transactional.id={name}")
    broker.put(name, lines(4, 1, 2))
    assert broker.ends(name) == {0: [0, 2], 1: [0, 2], 2: [0, 4]}, broker.ends(name)
    path = job(p, broker, name, head="execution.checkpointing: {dir: state}\n", options=BOUNDED + "    properties.group.id: markers\n")
    assert sorted(values(ok(p.run("run", path, "--continue")))) == ["0", "2", "3", "4"]
    assert broker.group("markers", name) == {0: 2, 1: 2, 2: 4}
    assert values(ok(p.run("run", path, "--continue"))) == []


@test
def rows_of_a_transaction_are_read_when_it_is_committed(p):
    broker = p.kafka()
    name = topic(broker)
    broker.put(name, lines(0, 2))
    broker.put(name, transaction(100, 3, "leave"), f"transactional.id={name}")
    broker.put(name, lines(2, 2))
    path = job(p, broker, name)
    assert values(ok(p.run("run", path))) == ["0", "1"]  # up to the first open transaction
    assert values(ok(p.run("run", path, "-D", "sources.in.properties.isolation.level=read_uncommitted"))) == \
        ["0", "1", "100", "101", "102", "2", "3"]
    options = "    scan.startup.mode: earliest-offset\n"
    path = job(p, broker, name, options, head=KEPT, out=FILES)
    child = p.start("run", path)
    wait_for("rows", lambda: written(p) == [0, 1] or child.poll() is not None)
    broker.put(name, transaction(4, 2, "commit"), f"transactional.id={name}")  # whose init ends what was left open
    wait_for("what was held back", lambda: len(written(p)) >= 6 or child.poll() is not None)
    stopped(p, child)
    assert written(p) == list(range(6))


# --- Checkpoints ----------------------------------------------------------------------------------


@test
def rows_of_kafka_come_once_however_often_the_job_is_killed(p):
    broker = p.kafka()
    name = topic(broker, 3)
    options = "    scan.startup.mode: earliest-offset\n    scan.topic-partition-discovery.interval: 100ms\n    properties.group.id: kills\n"
    path = job(p, broker, name, options, head=KEPT, out=FILES)
    sent = 0
    for i in range(5):
        child = p.start("run", path, "--continue", "-p", str(1 + i % 3))
        broker.put(name, [{"value": str(sent + k), "partition": k % 3} for k in range(3000)])
        sent += 3000
        wait_for("some rows more", lambda: len(written(p)) > sent - 2900 or child.poll() is not None, 60)
        child.send_signal(SIGKILL)
        child.wait()
    child = p.start("run", path, "--continue")
    wait_for("all rows", lambda: len(written(p)) >= sent or child.poll() is not None, 60)
    stopped(p, child)
    assert sorted(written(p)) == list(range(sent))
    assert sum(broker.group("kills", name).values()) == sent


@test
def a_group_is_given_what_a_checkpoint_has(p):
    broker = p.kafka()
    name = topic(broker)
    broker.put(name, lines(0, 3))
    options = "    properties.group.id: later\n    properties.auto.offset.reset: earliest\n    scan.bounded.mode: latest-offset\n"
    path = job(p, broker, name, options)
    assert values(ok(p.run("run", path))) == ["0", "1", "2"]
    assert broker.group("later", name) == {0: 3}
    assert values(ok(p.run("run", path))) == []  # the group is where the next one begins
    broker.put(name, lines(3, 1))
    assert values(ok(p.run("run", path))) == ["3"]


@test
def a_bounded_read_of_kafka_goes_on_where_the_last_one_ended(p):
    broker = p.kafka()
    name = topic(broker, 2)
    path = job(p, broker, name, head="execution.checkpointing: {dir: state}\n", out=FILES)
    for i in range(3):
        broker.put(name, lines(100 * i, 10, i % 2))
        ok(p.run("run", path, "--continue"))
        assert sorted(written(p)) == [100 * k + j for k in range(i + 1) for j in range(10)], i
    broker.grow(name, 3)
    broker.put(name, lines(900, 5, 2))
    ok(p.run("run", path, "--continue"))
    assert len(written(p)) == 35


@test
def a_partition_that_is_added_is_read_from_its_beginning(p):
    broker = p.kafka()
    name = topic(broker)
    options = "    scan.startup.mode: latest-offset\n    scan.topic-partition-discovery.interval: 50ms\n"
    path = job(p, broker, f"topic-pattern: '{name}(-more)?'", options, head=KEPT, out=FILES)
    broker.put(name, lines(0, 5))
    child = p.start("run", path, "--continue")
    wait_for("a checkpoint", lambda: checkpointed(p))
    broker.grow(name, 2)
    broker.put(name, lines(100, 2, 1))
    broker.create(f"{name}-more")
    broker.put(f"{name}-more", lines(200, 1))
    wait_for("rows of the new ones", lambda: sorted(written(p)) == [100, 101, 200] or child.poll() is not None)
    child.send_signal(SIGKILL)
    child.wait()
    child = p.start("run", path, "--continue")
    broker.put(name, lines(300, 1, 1))
    wait_for("what came then", lambda: 300 in written(p) or child.poll() is not None)
    stopped(p, child)
    assert sorted(written(p)) == [100, 101, 200, 300]


# --- Positions that are lost ----------------------------------------------------------------------


LOST = "    scan.startup.mode: earliest-offset\n    scan.topic-partition-discovery.interval: 50ms\n"


def read_some(p, path, count):
    """Runs the job until it has written so many rows, and kills it behind a checkpoint that has them."""
    child = p.start("run", path, "--continue")
    wait_for("rows", lambda: len(written(p)) >= count or child.poll() is not None)
    child.send_signal(SIGKILL)
    child.wait()
    assert len(written(p)) == count


def goes_on(p, path, condition, *args):
    child = p.start("run", path, "--continue", *args)
    wait_for("what comes next", lambda: condition() or child.poll() is not None)
    return stopped(p, child)


def lost(p, broker, partitions=1):
    """A topic and a job, which has read the first 5 of 25 records, of which the broker has the last 5."""
    name = topic(broker, partitions)
    path = job(p, broker, name, LOST, head=KEPT, out=FILES)
    broker.put(name, lines(0, 5))
    read_some(p, path, 5)
    broker.put(name, lines(5, 20))
    broker.forget(name, 0, 20)
    return name, path


@test
def a_position_that_retention_took_fails_and_says_what_is_gone(p):
    broker = p.kafka()
    name, path = lost(p, broker)
    done = ok(p.run("run", path, "--continue"), 1)
    assert f"topic '{name}', partition 0: position 5 is lost, the broker has 20 to 25".encode() in done.stderr, done.stderr
    assert b"15 records are gone" in done.stderr and len(written(p)) == 5, done.stderr
    done = ok(p.run("run", path, "--continue", "-D", "restart-strategy.type=fixed-delay", "-D", "restart-strategy.fixed-delay.attempts=3",
                    "-D", "restart-strategy.fixed-delay.delay=10ms"), 1)
    done = goes_on(p, path, lambda: 24 in written(p), "-D", "sources.in.scan.lost-position=earliest")
    assert sorted(written(p)) == [*range(5), *range(20, 25)]
    assert b"goes on at 20, 15 records are passed over" in done.stderr, done.stderr


@test
def retention_up_to_the_position_loses_nothing(p):
    broker = p.kafka()
    name = topic(broker)
    path = job(p, broker, name, LOST, head=KEPT, out=FILES)
    broker.put(name, lines(0, 5))
    read_some(p, path, 5)
    broker.forget(name, 0, 5)
    goes_on(p, path, lambda: checkpointed(p))
    broker.put(name, lines(5, 3))
    goes_on(p, path, lambda: 7 in written(p))
    assert sorted(written(p)) == list(range(8))


@test
def a_topic_that_was_made_again_is_recognised(p):
    broker = p.kafka()
    for again, words in ((3, b"it is behind the end: the topic was made again"), (9, b"another record stands at 4")):
        name = topic(broker)
        path = job(p, broker, name, LOST, head=KEPT.replace("state", f"state-{again}"), out=FILES.replace("out/", f"out-{again}/"))
        broker.put(name, lines(0, 5))
        child = p.start("run", path, "--continue")
        wait_for("a checkpoint with all", lambda: sum(len(f.read_text().split()) for f in p.dir.glob(f"out-{again}/part-*")) == 5)
        child.send_signal(SIGKILL)
        child.wait()
        broker.delete(name)
        wait_for("the end of the topic", lambda: name not in broker.topics())
        broker.create(name)
        broker.put(name, lines(100, again))
        done = ok(p.run("run", path, "--continue"), 1)
        assert words in done.stderr and f"position 5 is lost, the broker has 0 to {again}".encode() in done.stderr, done.stderr


@test
def a_topic_that_is_deleted_fails_the_job(p):
    broker = p.kafka()
    name = topic(broker)
    path = job(p, broker, name, LOST, head=KEPT, out=FILES)
    broker.put(name, lines(0, 5))
    child = p.start("run", path)
    wait_for("rows", lambda: len(written(p)) == 5 or child.poll() is not None)
    broker.delete(name)
    done = ended(child, 1)
    assert f"topic '{name}'".encode() in done.stderr and b"Unknown topic or partition" in done.stderr, done.stderr


@test
def a_first_run_begins_at_what_is_still_there(p):
    broker = p.kafka()
    name = topic(broker)
    broker.put(name, lines(0, 6))
    broker.forget(name, 0, 3)
    assert values(ok(p.run("run", job(p, broker, name)))) == ["3", "4", "5"]


# --- The broker and its rights --------------------------------------------------------------------


@test
def a_broker_that_is_gone_is_waited_for(p):
    broker = p.kafka({"log.retention.check.interval.ms": "300000"})
    name = topic(broker)
    path = job(p, broker, name, "    scan.startup.mode: earliest-offset\n", head=KEPT, out=FILES)
    broker.put(name, lines(0, 5))
    child = p.start("run", path, "-v")
    wait_for("rows", lambda: written(p) == list(range(5)) or child.poll() is not None)
    broker.kill()
    wait_for("the word of it", lambda: b"brokers-unreachable" in p.run("status", "--json").stdout or child.poll() is not None)
    broker.start()
    broker.put(name, lines(5, 5))
    wait_for("rows", lambda: written(p) == list(range(10)) or child.poll() is not None)
    done = stopped(p, child)
    assert done.stderr.count(b"no broker can be reached") == 1 and len(done.stderr.splitlines()) < 20, done.stderr


@test
def a_source_of_kafka_speaks_tls_and_sasl_by_javas_names(p):
    broker = p.kafka()
    name = topic(broker)
    broker.put(name, lines(0, 3))
    options = f"""{BOUNDED}    properties.security.protocol: SASL_SSL
    properties.sasl.mechanism: PLAIN
    properties.sasl.jaas.config: org.apache.kafka.common.security.plain.PlainLoginModule required username="reader" password="${{SECRET}}";
    properties.ssl.truststore.type: PEM
    properties.ssl.truststore.location: {broker.ca}
"""
    path = job(p, broker, name, options)
    with open(path) as f:
        text = f.read().replace(broker.bootstrap, broker.secure)
    p.write("job.yaml", text)
    for secret, words in (("secret-of-reader", b"uthorization failed"), ("wrong-one", b"uthentication failure")):
        done = ok(p.run("run", path, "-D", "restart-strategy.type=none", env={"SECRET": secret}), 1)
        assert words in done.stderr.splitlines()[-1] and secret.encode() not in done.stderr, done.stderr
    broker.allow("reader", "topic", name, "all")
    assert values(ok(p.run("run", path, env={"SECRET": "secret-of-reader"}))) == ["0", "1", "2"]
    assert b"secret-of-reader" not in ok(p.run("config", path, env={"SECRET": "secret-of-reader"})).stdout


# --- A table in a topic ---------------------------------------------------------------------------


UPSERTS = """    connector: upsert-kafka
    key.format: json
    value.format: json
    schema: "id INT, v STRING, n INT, PRIMARY KEY (id) NOT ENFORCED"
"""


def upserts(p, broker, name, options="", read=UPSERTS, head="", out="connector: print", more=""):
    path = job(p, broker, name, options, read, head, more, out)
    with open(path) as f:
        text = f.read().replace("    connector: kafka\n", "", 1)
    return p.write("job.yaml", text)


def upsert(key, value, **more):
    return {"key": json.dumps({"id": key}), "value": None if value is None else json.dumps(value), **more}


@test
def a_topic_of_upserts_is_a_table(p):
    broker = p.kafka()
    name = topic(broker)
    broker.put(name, [upsert(1, {"id": 1, "v": "a", "n": 1}), upsert(2, {"id": 2, "v": "b"}), upsert(1, {"id": 1, "v": "c", "n": 2}),
                      upsert(9, None), upsert(2, {"id": 2, "v": "b"}), upsert(2, None), upsert(1, {"id": 1, "v": None, "n": 3}),
                      upsert(2, {"id": 2, "v": "d"})])
    want = ["+I[1, a, 1]", "+I[2, b, null]", "-U[1, a, 1]", "+U[1, c, 2]", "-D[2, b, null]", "-U[1, c, 2]", "+U[1, null, 3]", "+I[2, d, null]"]
    end = "    scan.bounded.mode: latest-offset\n"
    done = ok(p.run("run", upserts(p, broker, name, end)))
    assert done.stdout.decode().splitlines() == want, done.stdout
    total = "transforms:\n  t: {sql: \"SELECT COALESCE(v, '-') AS v, COUNT(*) AS rows_of, SUM(n) AS s FROM `in` GROUP BY COALESCE(v, '-')\"}\n"
    path = upserts(p, broker, name, end, out="connector: sqlite, path: t.db, table-name: t, primary-key: [v]", more=total)
    with open(path) as f:
        p.write("job.yaml", f.read().replace("{from: in, connector: sqlite", "{from: t, connector: sqlite"))
    ok(p.run("run", path, "-p", "2"))
    with sqlite3.connect(p.dir / "t.db") as db:
        assert sorted(db.execute("select v, rows_of, s from t")) == [("-", 1, 3), ("d", 1, None)]
    read = UPSERTS.replace("id INT", "k_id INT").replace("KEY (id)", "KEY (k_id)") + "    key.fields-prefix: k_\n    value.fields-include: EXCEPT_KEY\n"
    done = ok(p.run("run", upserts(p, broker, name, end, read)))
    assert done.stdout.decode().splitlines() == want, done.stdout


@test
def a_table_in_a_topic_goes_on_where_it_was(p):
    broker = p.kafka()
    name = topic(broker, 3)
    head = "execution.checkpointing: {interval: 20ms, dir: state}\n"
    path = upserts(p, broker, name, head=head, out="connector: sqlite, path: t.db, table-name: t, primary-key: [id]")

    def table():
        try:
            with sqlite3.connect(f"file:{p.dir}/t.db?mode=ro", uri=True) as db:
                return dict(db.execute("select id, n from t"))
        except sqlite3.OperationalError:
            return {}
    want = {}
    for i in range(4):
        child = p.start("run", path, "--continue", "-p", str(1 + i % 3))
        for k in range(40 * i, 40 * i + 60):
            want[k] = 1000 * i + k
        gone = [k for k in want if k % 7 == i]
        broker.put(name, [upsert(k, {"id": k, "v": "x", "n": n}, partition=k % 3) for k, n in want.items()] +
                   [upsert(k, None, partition=k % 3) for k in gone])
        for k in gone:
            del want[k]
        wait_for("the table", lambda: table() == want or child.poll() is not None)
        child.send_signal(SIGKILL)
        child.wait()
        assert table() == want


@test
def a_table_in_a_topic_needs_a_key(p):
    broker = p.kafka()
    name = topic(broker)
    for read, words in ((UPSERTS.replace(", PRIMARY KEY (id) NOT ENFORCED", ""), b"a primary key"),
                        (UPSERTS.replace("    key.format: json\n", ""), b"needs 'key.format'"),
                        (UPSERTS.replace("value.format: json", "value.format: debezium-json"), b"carries changes of its own"),
                        (UPSERTS + "    key.fields-prefix: k_\n", b"the value cannot have the key's columns")):
        assert words in ok(p.run("validate", upserts(p, broker, name, read=read)), 3).stderr, words
    broker.put(name, [{"key": None, "value": '{"id": 1}'}, {"key": None, "value": None}])
    done = ok(p.run("run", upserts(p, broker, name, "    scan.bounded.mode: latest-offset\n    on-error: skip\n")))
    assert b"skipped 1" in done.stderr and done.stdout == b"+I[1, null, null]\n", (done.stdout, done.stderr)


# --- Operations -----------------------------------------------------------------------------------


@test
def status_shows_position_end_and_lag_of_each_partition(p):
    broker = p.kafka()
    name = topic(broker, 2)
    broker.put(name, lines(0, 5) + lines(100, 3, 1))
    broker.put(name, transaction(5, 2, "leave"), f"transactional.id={name}")
    child = p.start("run", job(p, broker, name, "    scan.startup.mode: earliest-offset\n", head=KEPT, out=FILES))

    def splits():
        done = p.run("status", "--json")
        node = json.loads(done.stdout)["vertices"][0] if done.returncode == 0 else {}
        return {k["split"]: (k["position"], k["end"], k["lag"]) for k in node.get("splits", [])}
    want = {f"{name}-0": (5, 7, 2), f"{name}-1": (3, 3, 0)}
    wait_for("both at their ends", lambda: splits() == want or child.poll() is not None)
    assert f": {name}-0 at 5 of 7, 2 behind" in ok(p.run("status")).stdout.decode()
    stopped(p, child)


@test
def validate_asks_the_broker_when_told_to(p):
    broker = p.kafka()
    name = topic(broker, 3)
    path = job(p, broker, name)
    assert b"connected" not in ok(p.run("validate", path)).stdout
    done = ok(p.run("validate", "--connect", path))
    assert b"  in: connected, 3 partitions" in done.stdout, done.stdout
    done = ok(p.run("validate", "--connect", "--json", path, "-D", "sources.in.topic=nosuch"), 1)
    [one] = json.loads(done.stdout)["connected"]
    assert one["source"] == "in" and "topic 'nosuch': Broker: Unknown topic or partition" in one["fault"], one
    options = "    properties.group.id: nobody-yet\n    scan.parallelism: 2\n"
    done = ok(p.run("validate", "--connect", job(p, broker, name, options)), 1)
    assert b"group 'nobody-yet' has no offset of topic" in done.stdout, done.stdout
    assert b'"parallelism": 2' in ok(p.run("plan", "--json", job(p, broker, name, options))).stdout
