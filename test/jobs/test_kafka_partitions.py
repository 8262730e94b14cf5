"""Partitions of a kafka source: each has a watermark, a position and an end of its own."""
import pathlib
import subprocess

from harness import SIGKILL, ok, test, wait_for
from test_kafka_source import BOUNDED, FILES, KEPT, LOST, goes_on, job, lines, lost, read_some, rows, stopped, topic, transaction, values, written

KIT = pathlib.Path(__file__).resolve().parent.parent / "kit"
FIRST = "    scan.startup.mode: earliest-offset\n"


# --- Watermarks -----------------------------------------------------------------------------------


TIMED = """    format: csv
    schema: {k: STRING, ts: TIMESTAMP(3)}
    watermark: ts AS ts
"""
COUNTS = """transforms:
  counts:
    from: in
    window: TUMBLE(ts, INTERVAL '10' SECOND)
    group-by: [k]
    select: [k, COUNT(*) AS n]
"""


def timed(p, broker, name, options, head="", out="connector: stdout, format: json"):
    path = job(p, broker, name, options, read=TIMED, head=head, more=COUNTS, out=out)
    text = pathlib.Path(path).read_text()
    return p.write("job.yaml", text.replace("out: {from: in,", "out: {from: counts,"))


def at(k, second, partition):
    return {"value": f"{k},2024-01-01 00:{second // 60:02}:{second % 60:02}", "partition": partition}


@test
def a_partition_that_is_ahead_makes_no_row_of_another_late(p):
    broker = p.kafka()
    name = topic(broker, 2)
    broker.put(name, [at(f"p{k}", s, k) for k in range(2) for s in range(1200)])
    done = ok(p.run("run", "-p", "1", timed(p, broker, name, BOUNDED)))
    assert b" late 0 " in done.stderr, done.stderr
    assert sorted((r["k"], r["n"]) for r in rows(done)) == [("p0", 10)] * 120 + [("p1", 10)] * 120, done.stdout[:500]


@test
def a_partition_without_rows_holds_windows_back_unless_it_is_idle(p):
    broker = p.kafka()
    name = topic(broker, 2)
    broker.put(name, [at("a", s, 0) for s in range(100)])
    path = timed(p, broker, name, FIRST, head=KEPT, out="connector: filesystem, path: out/, format: csv")

    def counts():
        return [line for part in p.dir.glob("out/part-*") for line in part.read_text().split()]
    child = p.start("run", path, "--continue")
    wait_for("all rows", lambda: child.poll() is not None or b'"position":100' in p.run("status", "--json").stdout.replace(b" ", b""))
    wait_for("one more", lambda: child.poll() is not None or p.run("wait", "kafka", "--checkpoint").returncode == 0)
    assert counts() == []  # the other partition may still bring any time
    stopped(p, child)
    child = p.start("run", path, "--continue", "-D", "sources.in.scan.watermark.idle-timeout=50 ms")
    def fired(k, n):
        return counts().count(f"{k},{n}")

    def windows():  # where no partition has a row nothing moves
        broker.put(name, [at("tick", 100, 0)])
        return fired("a", 10) == 10
    wait_for("windows", lambda: windows() or child.poll() is not None)
    broker.put(name, [at("b", 40, 1), at("b", 150, 1), at("b", 300, 1)])  # it is there again, and its first row is late
    broker.put(name, [at("a", 300, 0)])
    wait_for("its window", lambda: fired("b", 1) == 1 or child.poll() is not None)
    stopped(p, child)
    assert sorted(line for line in counts() if not line.startswith("tick")) == ["a,10"] * 10 + ["b,1"], counts()


# --- Where it ends --------------------------------------------------------------------------------


@test
def a_read_bounded_by_the_group_ends_where_that_is(p):
    broker = p.kafka()
    name = topic(broker, 2)
    group = f"ends-{name}"
    broker.put(name, lines(0, 3) + lines(100, 2, 1))
    to_end = f"    properties.group.id: {group}\n    scan.bounded.mode: latest-offset\n"
    ok(p.run("run", job(p, broker, name, FIRST + to_end)))
    assert broker.group(group, name) == {0: 3, 1: 2}
    broker.put(name, lines(3, 5) + lines(102, 5, 1))
    to_group = FIRST + f"    properties.group.id: {group}\n    scan.bounded.mode: group-offsets\n"
    assert sorted(map(int, values(ok(p.run("run", job(p, broker, name, to_group)))))) == [0, 1, 2, 100, 101]
    nobody = FIRST + "    properties.group.id: nobody-at-all\n    scan.bounded.mode: group-offsets\n"
    done = ok(p.run("run", job(p, broker, name, nobody), "-D", "restart-strategy.type=none"), 1)
    assert b"group 'nobody-at-all' has no offset of topic" in done.stderr and b"scan.bounded.mode" in done.stderr, done.stderr


@test
def a_bounded_read_ends_behind_aborted_rows(p):
    broker = p.kafka()
    name = topic(broker, 2)
    broker.put(name, lines(0, 2) + transaction(10, 3, "commit") + transaction(20, 5, "abort") + transaction(30, 5, "abort", 1),
               f"transactional.id={name}")
    path = job(p, broker, name, head="execution.checkpointing: {dir: state}\n", out=FILES)
    ok(p.run("run", path, "--continue", timeout=30))
    assert sorted(written(p)) == [0, 1, 10, 11, 12]
    broker.put(name, transaction(40, 1, "abort", 1) + transaction(50, 1, "commit", 1), f"transactional.id={name}")
    ok(p.run("run", path, "--continue", timeout=30))
    assert sorted(written(p)) == [0, 1, 10, 11, 12, 50]


# --- What a topic does with its records -----------------------------------------------------------


@test
def the_brokers_own_time_of_a_record_is_told(p):
    broker = p.kafka()
    name = topic(broker, message_timestamp_type="LogAppendTime")
    broker.put(name, [{"value": "x", "timestamp": 1000}])
    read = """    format: raw
    schema: |
      line STRING, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', tt STRING METADATA FROM 'timestamp-type', e INT METADATA FROM 'leader-epoch'
"""
    [row] = rows(ok(p.run("run", job(p, broker, name, read=read))))
    assert row["tt"] == "LogAppendTime" and row["ts"] > "2025", row
    assert row["e"] in (None, 0), row  # librdkafka before 2.1 does not tell


@test
def a_compacted_topic_has_holes_and_they_are_no_loss(p):
    broker = p.kafka({"log.cleaner.backoff.ms": "50", "log.cleaner.min.cleanable.ratio": "0"})
    broker.create("compacted", 1, cleanup_policy="compact", segment_ms=100, min_cleanable_dirty_ratio=0.0)

    def put(first, count):
        broker.put("compacted", [{"key": f"k{i % 3}", "value": str(i)} for i in range(first, first + count)])

    def cleaned(behind):
        """Only the newest of each key is left of the first records; each new one may close their segment."""
        put(behind, 1)
        return [int(r["value"]) for r in broker.dump("compacted") if int(r["value"]) < 30]
    path = job(p, broker, "compacted", LOST, head=KEPT, out=FILES)
    put(0, 10)
    read_some(p, path, 10)  # its last row is 9, of k0, which the next ones replace
    put(10, 20)
    wait_for("holes", lambda: len(cleaned(30)) <= 3, 60)
    assert 9 not in [int(r["value"]) for r in broker.dump("compacted")]
    newest = {28, 29, 30}  # of each key; of the others any may go at any moment
    done = goes_on(p, path, lambda: newest <= set(written(p)))
    assert b"lost" not in done.stderr and set(written(p)) <= set(range(31)), done.stderr
    assert sorted(n for n in written(p) if n < 30) == sorted({n for n in written(p) if n < 30}), written(p)
    assert newest <= set(map(int, values(ok(p.run("run", job(p, broker, "compacted"))))))


# --- Positions that are lost ----------------------------------------------------------------------


@test
def a_lost_position_goes_on_at_the_latest_when_told_to(p):
    broker = p.kafka()
    name, path = lost(p, broker)
    child = p.start("run", path, "--continue", "-D", "sources.in.scan.lost-position=latest")
    wait_for("the count of it", lambda: child.poll() is not None or b"lost-records" in p.run("status", "--json").stdout)
    broker.put(name, lines(25, 2))
    wait_for("what comes then", lambda: 26 in written(p) or child.poll() is not None)
    done = stopped(p, child)
    assert sorted(written(p)) == [0, 1, 2, 3, 4, 25, 26]
    assert b"position 5 is lost" in done.stderr and b"goes on at 25, 20 records are passed over" in done.stderr, done.stderr


@test
def while_a_broker_is_asked_other_partitions_and_checkpoints_go_on(p):
    broker = p.kafka()
    name, path = lost(p, broker, 2)
    flags = subprocess.run(["pkg-config", "--cflags", "rdkafka"], check=True, capture_output=True, text=True).stdout.split()
    subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", KIT / "kafka_hold.c", "-o", p.dir / "hold.so", *flags], check=True)
    held = p.dir / "held"
    held.touch()
    child = p.start("run", path, "--continue", "-p", "1", "-D", "sources.in.scan.lost-position=earliest",
                    env={"LD_PRELOAD": str(p.dir / "hold.so"), "KAFKA_HOLD": str(held)})
    for i in range(3):  # rows of the other one, by checkpoints
        broker.put(name, lines(100 + i, 1, 1))
        wait_for("the other partition", lambda: 100 + i in written(p) or child.poll() is not None)
    assert child.poll() is None and not set(written(p)) & set(range(20, 25))
    held.unlink()
    wait_for("what is left of it", lambda: 24 in written(p) or child.poll() is not None)
    done = stopped(p, child)
    assert sorted(written(p)) == [*range(5), *range(20, 25), 100, 101, 102]
    assert b"goes on at 20, 15 records are passed over" in done.stderr, done.stderr
    held.touch()  # and a job that is told to end while it asks does so
    broker.put(name, lines(25, 20))
    broker.forget(name, 0, 40)
    child = p.start("run", path, "--continue", "-p", "1", env={"LD_PRELOAD": str(p.dir / "hold.so"), "KAFKA_HOLD": str(held)})
    stopped(p, child)
