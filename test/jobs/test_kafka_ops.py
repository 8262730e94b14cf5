"""What people ask brokers about a job: open transactions and their end, offsets, whether a run would find what it needs."""
import json

from harness import SIGKILL, ok, test, wait_for


def sink_job(p, broker, name, rows=300, interval="10 min", more="", is_endless=False):
    p.write(f"{name}.csv", "".join(f"{i}\n" for i in range(rows)))
    return p.write(f"{name}.yaml", f"""
pipeline.name: {name}
execution.checkpointing: {{interval: {interval}, dir: ck-{name}}}
sources:
  events:
    connector: filesystem
    path: {name}.csv
    format: csv
    schema: {{a: STRING}}
    rate-limit: 1000
    {"source.monitor-interval: 1 s" if is_endless else ""}
sinks:
  out:
    from: events
    connector: kafka
    topic: {name}
    format: raw
    properties.bootstrap.servers: '{broker.bootstrap}'
    sink.delivery-guarantee: exactly-once
    sink.transactional-id-prefix: {name}
{more}
""")


def answer(done, code=0):
    return json.loads(ok(done, code).stdout)


def left_open(p, broker, name):
    """A job that was killed within a transaction; its file."""
    broker.create(name, 2)
    path = sink_job(p, broker, name, is_endless=True)
    child = p.start("run", path)
    wait_for("rows of an open transaction", lambda: len(broker.dump(name, "read_uncommitted")) > 20)
    return path, child


@test
def an_open_transaction_is_listed_and_ended(p):
    broker = p.kafka()
    path, child = left_open(p, broker, "ops-open")
    try:
        done = ok(p.run("kafka", "transactions", "abort", path), 5)
        assert b"runs: stop or cancel it first" in done.stderr, done.stderr
        by_prefix = ["--prefix", "ops-open", "--bootstrap-servers", broker.bootstrap]
        done = ok(p.run("kafka", "transactions", "abort", *by_prefix), 5)
        assert b"which runs" in done.stderr, done.stderr
        assert len(answer(p.run("kafka", "transactions", "list", "--json", path))) == 1
    finally:
        child.send_signal(SIGKILL)
        child.communicate()
    one, = answer(p.run("kafka", "transactions", "list", "--json", path))
    told = broker.admin("TransactionsCommand", "describe", "--transactional-id", one["transactional_id"]).splitlines()
    head, words = (line.split("\t") for line in told[:2])
    kafka = {h.strip(): w.strip() for h, w in zip(head, words)}
    assert [str(one[k]) for k in ("state", "producer_id", "epoch", "timeout_ms")] == \
        [kafka[k] for k in ("TransactionState", "ProducerId", "ProducerEpoch", "TransactionTimeoutMs")], (one, kafka)
    assert sorted(one["partitions"].split(",")) == sorted(kafka["TopicPartitions"].split(",")), (one, kafka)
    assert one["job"] and one["since"].endswith("Z"), one
    # Behind it readers of committed rows see nothing, whoever wrote it.
    broker.put("ops-open", [{"value": "other", "partition": i} for i in range(2)])
    assert broker.dump("ops-open") == []
    gone, = answer(p.run("kafka", "transactions", "abort", "--json", *by_prefix))
    assert gone["became"] == "aborted" and gone["transactional_id"] == one["transactional_id"], gone
    assert sorted(r["value"] for r in broker.dump("ops-open")) == ["other"] * 2
    assert answer(p.run("kafka", "transactions", "list", "--json", path)) == []
    done = ok(p.run("kafka", "transactions", "abort", path))
    assert b"no transaction is open" in done.stderr, done.stderr
    # The job that comes back all the same writes each row once.
    ok(p.run("run", sink_job(p, broker, "ops-open"), "--fresh"))
    rows = [int(r["value"]) for r in broker.dump("ops-open") if r["value"] != "other"]
    assert sorted(rows) == list(range(300)), len(rows)


@test
def a_decided_transaction_is_not_taken_from_its_checkpoint(p):
    """Killed when the checkpoint is pending, ended from outside, gone on with: each row once."""
    broker = p.kafka()
    broker.create("ops-pending", 1)
    path = sink_job(p, broker, "ops-pending", rows=600, interval="100 ms")
    for point in ("run: pending was published", "run: decided"):
        ok(p.run("run", path, "--continue", env={"STREAMRUN_REHEARSE": f"{point}:1"}), -SIGKILL)
        ok(p.run("kafka", "transactions", "abort", path))
    ok(p.run("run", path, "--continue"))
    assert [int(r["value"]) for r in broker.dump("ops-pending")] == list(range(600))


@test
def transactions_need_a_job_or_a_prefix(p):
    done = ok(p.run("kafka", "transactions", "list"), 2)
    assert b"--prefix PREFIX" in done.stderr, done.stderr
    ok(p.run("kafka", "transactions", "list", "x.yaml", "--prefix", "a"), 2)
    ok(p.run("kafka", "transactions", "kill", "x.yaml"), 2)
    ok(p.run("kafka"), 2)
    done = ok(p.run("kafka", "transactions", "list", "--prefix", "a"), 3)
    assert b"properties.bootstrap.servers" in done.stderr, done.stderr
    done = ok(p.run("kafka", "transactions", "list", "--prefix", "a", "--property", "nothing"), 2)
    assert b"NAME=VALUE" in done.stderr, done.stderr
    done = ok(p.run("kafka", "transactions", "list", "no-such-job"), 8)
    assert b"no job 'no-such-job' runs" in done.stderr, done.stderr
    done = ok(p.run("kafka", "transactions", "list", "--prefix", "a", "--bootstrap-servers", "127.0.0.1:1"), 1)
    assert b"127.0.0.1:1" in done.stderr, done.stderr


SOURCE = """
pipeline.name: {name}
execution.checkpointing: {{interval: 100 ms, dir: ck-{name}.db}}
sources:
  in:
    connector: kafka
    topic: {name}
    format: raw
    properties.bootstrap.servers: '{servers}'
    properties.group.id: {name}
    scan.startup.mode: earliest-offset
    schema: {{a: STRING}}
sinks: {{out: {{from: in, connector: blackhole}}}}
"""


def offsets(p, path, *more):
    told = answer(p.run("kafka", "offsets", "--json", path, *more))
    return told, {r["partition"]: r for r in told["sources"][0]["partitions"]}


@test
def offsets_compares_the_checkpoint_and_the_group(p):
    broker, name = p.kafka(), "ops-offsets"
    broker.create(name, 2)
    broker.put(name, [{"value": str(i), "partition": 0} for i in range(10)])
    path = p.write(f"{name}.yaml", SOURCE.format(name=name, servers=broker.bootstrap))
    told, rows = offsets(p, path)
    assert told["checkpoint"] is None and rows[0]["lag"] == 10 and rows[0]["committed"] is None, told
    assert rows[0]["restart"] == "begins at 0 (scan.startup.mode)", told
    child = p.start("run", path)
    try:
        # While it runs; the group is told after the checkpoint.
        wait_for("the group's offset", lambda: offsets(p, path)[1][0]["committed"] == 10)
        told, rows = offsets(p, path)
        assert rows[0] == {"topic": name, "partition": 0, "checkpoint": 10, "committed": 10, "start": 0, "end": 10, "lag": 0,
                           "restart": "goes on at 10"}, told
    finally:
        child.send_signal(SIGKILL)
        child.communicate()
    broker.put(name, [{"value": "x", "partition": 0}] * 5)
    broker.forget(name, 0, 12)
    broker.grow(name, 3)
    told, rows = offsets(p, path)
    assert rows[0]["lag"] == 5 and rows[0]["restart"] == "2 offsets are gone: the job fails", told
    assert rows[2]["checkpoint"] is None and rows[2]["restart"] == "new: begins at 0", told
    told, rows = offsets(p, path, "-D", "sources.in.scan.lost-position=earliest")
    assert rows[0]["restart"] == "2 offsets are gone: it goes on at the earliest one", told
    shown = ok(p.run("kafka", "offsets", path)).stdout.decode()
    assert "the job fails" in shown and "partition" in shown and "ck-" in shown, shown
    other = p.write("other.yaml", "sources: {e: {connector: nexmark, events.num: 1}}\nsinks: {o: {from: e, connector: blackhole}}\n")
    assert b"no kafka source" in ok(p.run("kafka", "offsets", other), 3).stderr
    assert b"no kafka sink" in ok(p.run("kafka", "transactions", "list", other), 3).stderr


@test
def connect_asks_what_a_sink_needs(p):
    broker = p.kafka()
    broker.create("ops-connect", 3, max_message_bytes=5000)
    path = sink_job(p, broker, "ops-connect")
    out = next(r for r in answer(p.run("validate", "--connect", "--json", path))["connected"] if r.get("sink") == "out")
    assert out["fault"] is None and out["found"] == [{"topic": "ops-connect", "partitions": 3, "max_message_bytes": 5000}], out
    shown = ok(p.run("validate", "--connect", path)).stdout
    assert b"out: connected: topic ops-connect, partitions 3, max message bytes 5000" in shown, shown
    large = ["-D", "sinks.out.properties.max.request.size=100000"]
    assert b"does not take: its max.message.bytes is 5000" in ok(p.run("validate", "--connect", path, *large)).stdout
    done = ok(p.run("validate", "--connect", path, "-D", "sinks.out.properties.transaction.timeout.ms=1000000"), 1)
    assert b"transaction.max.timeout.ms, 900000 ms" in done.stdout and b"600000 ms" in done.stdout, done.stdout
    done = ok(p.run("validate", "--connect", path, "-D", "sinks.out.topic=ops-nosuch"), 1)
    assert b"topic 'ops-nosuch'" in done.stdout, done.stdout


@test
def connect_finds_rights_that_are_missing(p):
    broker = p.kafka()
    broker.create("ops-rights", 1)
    path = sink_job(p, broker, "ops-rights", more=f"""
    properties.security.protocol: SASL_SSL
    properties.ssl.ca.location: '{broker.ca}'
    properties.sasl.mechanism: PLAIN
    properties.sasl.jaas.config: org.apache.kafka.common.security.plain.PlainLoginModule required username="writer" password="secret-of-writer";
""")
    there = ["-D", f"sinks.out.properties.bootstrap.servers={broker.secure}"]
    done = ok(p.run("validate", "--connect", path, *there), 1)
    assert b"topic 'ops-rights'" in done.stdout, done.stdout
    broker.allow("writer", "topic", "ops-rights", "write")
    broker.allow("writer", "topic", "ops-rights", "describe")
    done = ok(p.run("validate", "--connect", path, *there), 1)
    assert b"transactional id" in done.stdout.lower() and b"uthoriz" in done.stdout, done.stdout
    done = ok(p.run("kafka", "transactions", "list", path, *there), 1)
    assert b"__transaction_state, which this user may not" in done.stderr, done.stderr
    p.write("client.properties", f"""# as Kafka's own tools take it
bootstrap.servers={broker.secure}
security.protocol = SASL_SSL
ssl.ca.location: {broker.ca}
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
    username="writer" password="secret-of-writer";
""")
    by_file = ["kafka", "transactions", "list", "--json", "--prefix", "ops-rights", "--command-config", "client.properties"]
    done = ok(p.run(*by_file), 1)
    assert b"__transaction_state, which this user may not" in done.stderr, done.stderr
    broker.allow("writer", "topic", "__transaction_state", "read")
    assert answer(p.run(*by_file)) == []


@test
def connect_finds_the_topics_of_a_pattern(p):
    broker = p.kafka()
    broker.create("ops-pattern-a", 2)
    broker.create("ops-pattern-b", 1)
    path = p.write("pattern.yaml", f"""
sources: {{in: {{connector: nexmark, events.num: 1}}}}
transforms: {{t: {{from: in, select: [channel AS a, channel AS topic]}}}}
sinks:
  out:
    from: t
    connector: kafka
    topic-pattern: ops-pattern-.
    format: json
    properties.bootstrap.servers: '{broker.bootstrap}'
    schema: "a STRING, topic STRING METADATA FROM 'topic'"
""")
    out = next(r for r in answer(p.run("validate", "--connect", "--json", path))["connected"] if r.get("sink") == "out")
    assert {f["topic"]: f["partitions"] for f in out["found"]} == {"ops-pattern-a": 2, "ops-pattern-b": 1}, out
    shown = ok(p.run("validate", "--connect", path, "-D", "sinks.out.topic-pattern=ops-nothing-.")).stdout
    assert b"no topic matches ops-nothing-." in shown, shown
