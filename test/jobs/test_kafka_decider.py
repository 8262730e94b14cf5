"""Exactly-once of the kafka sinks: the broker's transaction decides about each checkpoint."""
import pathlib
import shutil
import time
from signal import SIGCONT

import kafka_proxy
from harness import SIGKILL, ok, test, wait_for

ROWS = 3000


def job(p, broker, name, sink="", top="", rows=ROWS, topic=None, rate=0, bootstrap=None, pause=0):
    """The numbers from 0 on, from a file, into a topic, in the order of the file."""
    p.write(f"{name}.csv", "".join(f"{i}\n" for i in range(rows)))
    return p.write(f"{name}.yaml", f"""
pipeline.name: {name}
execution.checkpointing: {{interval: 100 ms, min-pause: {pause} ms, dir: ck-{name}}}
{top}
sources:
  events:
    connector: filesystem
    path: {name}.csv
    format: csv
    schema: {{a: STRING}}
    {f'rate-limit: {rate}' if rate else ''}
sinks:
  out:
    from: events
    connector: kafka
    topic: {topic or name}
    format: raw
    properties.bootstrap.servers: '{bootstrap or broker.bootstrap}'
    sink.delivery-guarantee: exactly-once
    sink.transactional-id-prefix: {name}
{sink}
""")


def numbers(broker, topic):
    return [int(r["value"]) for r in broker.dump(topic)]


@test
def a_transaction_each_and_every_row_once(p):
    broker = p.kafka()
    broker.create("once", 1)
    path = job(p, broker, "once", rate=4000)
    shown = ok(p.run("validate", path)).stdout
    assert b"exactly-once, decided by the target's own transaction" in shown, shown
    done = ok(p.run("run", path))
    assert numbers(broker, "once") == list(range(ROWS)), done.stderr
    listed = ok(p.run("checkpoints", "list", "ck-once")).stdout
    assert b"pending" not in listed and b"finished" in listed, listed


@test
def killed_at_any_moment_every_row_comes_once(p):
    broker = p.kafka()
    broker.create("decided-killed", 1)
    path = job(p, broker, "decided-killed", rate=2000)
    kills = 0
    for i in range(40):
        child = p.start("run", path, "--continue")
        try:
            child.wait(timeout=0.15 + 0.07 * (i % 7))
        except Exception:
            child.send_signal(SIGKILL)
            kills += 1
        _, err = child.communicate()
        if child.returncode == 0:
            break
        assert child.returncode in (-9, 0), err
    else:
        ok(p.run("run", path, "--continue"))
    assert numbers(broker, "decided-killed") == list(range(ROWS)), (kills, len(numbers(broker, "decided-killed")))
    assert kills >= 2, kills


@test
def files_follow_the_transaction(p):
    broker = p.kafka()
    broker.create("decided-beside", 1)
    path = job(p, broker, "decided-beside", rate=3000, sink="""
  copy:
    from: events
    connector: filesystem
    path: copy
    format: csv
""")
    for wait in (0.4, 0.6, 0.5):
        child = p.start("run", path, "--continue")
        try:
            child.wait(timeout=wait)
        except Exception:
            child.send_signal(SIGKILL)
        child.communicate()
    ok(p.run("run", path, "--continue"))
    assert numbers(broker, "decided-beside") == list(range(ROWS))
    lines = [int(x) for f in sorted((p.dir / "copy").glob("[!.]*")) for x in f.read_text().split()]
    assert sorted(lines) == list(range(ROWS)), len(lines)


@test
def sinks_of_one_prefix_share_a_transaction(p):
    broker = p.kafka()
    for topic in ("left", "right"):
        broker.create(topic, 2)
    path = job(p, broker, "left", top="parallelism.default: 2", rate=4000, sink=f"""
  right:
    from: events
    connector: kafka
    topic: right
    format: raw
    properties.bootstrap.servers: '{broker.bootstrap}'
    sink.delivery-guarantee: exactly-once
    sink.transactional-id-prefix: left
""")
    child = p.start("run", path)
    try:
        child.wait(timeout=0.7)
    except Exception:
        child.send_signal(SIGKILL)
    child.communicate()
    ok(p.run("run", path, "--continue"))
    for topic in ("left", "right"):
        assert sorted(numbers(broker, topic)) == list(range(ROWS)), topic


@test
def a_sink_writes_to_its_own_topics_though_it_shares_a_transaction(p):
    broker = p.kafka()
    for topic in ("own-a", "own-b", "own-c"):
        broker.create(topic, 1)
    p.write("own.csv", "".join(f"{i},own-{'abc'[i % 3]}\n" for i in range(30)))
    sink = f"""
    connector: kafka
    format: json
    properties.bootstrap.servers: '{broker.bootstrap}'
    sink.delivery-guarantee: exactly-once
    sink.transactional-id-prefix: own
    on-error: skip
    schema: {{a: INT, t: STRING METADATA FROM 'topic'}}"""
    path = p.write("own.yaml", f"""
pipeline.name: own
execution.checkpointing: {{interval: 100 ms, dir: ck-own}}
sources:
  events: {{connector: filesystem, path: own.csv, format: csv, schema: {{a: INT, t: STRING}}}}
sinks:
  one:
    from: events{sink}
    topic: [own-a, own-b]
  two:
    from: events{sink}
    topic: [own-b, own-c]
""")
    done = ok(p.run("run", path))
    for topic, first, times in (("own-a", 0, 1), ("own-b", 1, 2), ("own-c", 2, 1)):
        got = sorted(int(r["value"].split(":")[1][:-1]) for r in broker.dump(topic))
        assert got == sorted(list(range(first, 30, 3)) * times), (topic, got)
    assert b"'own-c' is none of the sink's topics" in done.stderr, done.stderr


@test
def two_transactions_cannot_decide(p):
    broker = p.kafka()
    broker.create("two", 1)
    path = job(p, broker, "two", sink=f"""
  other:
    from: events
    connector: kafka
    topic: two
    format: raw
    properties.bootstrap.servers: '{broker.bootstrap}'
    sink.delivery-guarantee: exactly-once
    sink.transactional-id-prefix: another
""")
    words = ok(p.run("validate", path), 3).stderr
    assert b"SR0512" in words and b"cannot be committed in one step" in words, words


@test
def a_store_of_another_time_is_refused(p):
    """A copy of the store from before is not what the target tells: nothing is written twice, and --fresh begins again."""
    broker = p.kafka()
    broker.create("copied", 1)
    path = job(p, broker, "copied", rate=2000)
    child = p.start("run", path)
    wait_for("a checkpoint", lambda: b"running" in p.run("checkpoints", "list", "ck-copied").stdout)
    child.send_signal(SIGKILL)
    child.communicate()
    shutil.copytree(p.dir / "ck-copied", p.dir / "old")
    ok(p.run("run", path, "--continue"))
    shutil.rmtree(p.dir / "ck-copied")
    shutil.move(p.dir / "old", p.dir / "ck-copied")
    refused = ok(p.run("run", path, "--continue"), 4).stderr
    assert b"they do not belong together" in refused, refused
    assert numbers(broker, "copied") == list(range(ROWS))


def pending(p, broker, name, point, *more, before=lambda: None, rows=ROWS):
    """A run that was killed at a point of its third decision, and the consumer group with the marker deleted."""
    broker.create(name, 1)
    before()
    path = job(p, broker, name, rate=1000, rows=rows, pause=200)  # so that each transaction has rows, also where there is no time
    ok(p.run("run", path, *more, env={"STREAMRUN_REHEARSE": f"{point}:3"}), -SIGKILL)
    listed = ok(p.run("checkpoints", "list", f"ck-{name}")).stdout
    assert b"pending" in listed, listed
    group = name + "-" + next(f.name for f in (p.dir / f"ck-{name}").iterdir() if len(f.name) == 32)[:8]
    assert broker.group(group, name)[0] == (3 if point == "run: decided" else 2)
    broker.group_delete(group)
    return path


@test
def a_row_tells_when_the_marker_is_gone(p):
    broker = p.kafka()
    for name, point, fate in (("shown", "run: decided", b"committed; the job goes on from checkpoint 3"),
                              ("aborted", "run: pending was published", b"not committed; the job goes on from checkpoint 2")):
        path = pending(p, broker, name, point)
        done = ok(p.run("run", path, "--continue", "--log-level", "INFO"))
        assert b"was pending: its transaction was " + fate in done.stderr, done.stderr
        assert numbers(broker, name) == list(range(ROWS)), name


@test
def a_transaction_without_rows_needs_nobody_to_tell(p):
    """Its job watches an empty file: rows come behind the restart only."""
    broker = p.kafka()
    watches = ["-D", "sources.events.source.monitor-interval=20ms"]
    path = pending(p, broker, "rowless", "run: decided", *watches, rows=0,
                   before=lambda: broker.put("rowless", [{"value": "-1", "partition": 0}]))
    p.write("rowless.csv", "0\n1\n")
    done = ok(p.run("run", path, "--continue", "--log-level", "INFO"))
    assert b"was pending: its transaction was without a row; the job goes on from checkpoint 2" in done.stderr, done.stderr
    assert numbers(broker, "rowless") == [-1, 0, 1]


@test
def what_cannot_be_told_now_is_waited_for(p):
    """Another producer's open transaction hides whether the pending one was committed."""
    broker = p.kafka()
    foreign = "transactional.id=foreign-to-hidden"
    path = pending(p, broker, "hidden", "run: decided", before=lambda: broker.put(
        "hidden", [{"value": "-1", "partition": 0}, {"transaction": "leave"}], foreign, "transaction.timeout.ms=600000"))
    said = open(p.dir / "said", "wb")
    child = p.start("run", path, "--continue", stderr=said)
    wait_for("it is said", lambda: b"another producer may be open before it" in (p.dir / "said").read_bytes())
    broker.put("hidden", [], foreign)  # whoever comes with that id ends it
    assert child.wait(60) == 0, (p.dir / "said").read_bytes()
    said.close()
    assert numbers(broker, "hidden") == list(range(ROWS))


@test
def when_nothing_tells_the_job_asks(p):
    broker = p.kafka()
    path = pending(p, broker, "asks", "run: decided")
    seen = numbers(broker, "asks")
    broker.forget("asks", 0, broker.ends("asks")[0][1])
    refused = ok(p.run("run", path, "--continue"), 4).stderr
    assert b"--continue --pending complete" in refused, refused
    ok(p.run("run", path, "--continue", "--pending", "maybe"), 2)
    ok(p.run("run", path, "--pending", "drop"), 2)
    ok(p.run("run", path, "--continue", "--pending", "complete"))
    assert seen + numbers(broker, "asks") == list(range(ROWS))


@test
def status_shows_what_is_pending_while_the_broker_is_away(p):
    broker = p.kafka({"log.retention.hours": "1"})
    broker.create("decided-away", 1)
    path = job(p, broker, "decided-away", rate=2000)
    child = p.start("run", path, env={"STREAMRUN_REHEARSE": "run: pending was published:3:stop"})
    wait_for("the third checkpoint", lambda: b"pending" in p.run("checkpoints", "list", "ck-decided-away").stdout)
    wait_for("it stands still", lambda: "T" in pathlib.Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()[0])
    broker.pause()
    child.send_signal(SIGCONT)
    wait_for("it is told", lambda: b"3 is pending: for " in p.run("status", "decided-away").stdout)
    broker.resume()
    _, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert numbers(broker, "decided-away") == list(range(ROWS)), err


@test
def a_marker_that_others_wrote_over_is_told_and_without_it_the_rows_tell(p):
    broker = p.kafka()
    broker.create("overwritten", 1)
    path = job(p, broker, "overwritten", rate=3000)
    ok(p.run("run", path, env={"STREAMRUN_REHEARSE": "run: decided:2"}), -SIGKILL)
    group = next(name for name in broker.groups() if name.startswith("overwritten-"))
    broker.group_alter(group, "overwritten", 0, 7)
    refused = ok(p.run("run", path, "--continue"), 4).stderr
    assert b"somebody reset it, or consumes by it" in refused and b"delete it" in refused, refused
    broker.group_delete(group)
    ok(p.run("run", path, "--continue"))
    assert numbers(broker, "overwritten") == list(range(ROWS))


@test
def a_commit_that_comes_late_is_of_no_later_transaction(p):
    """Its request is held in the network until rows of the next transaction of that id are there: the broker refuses it."""
    proxy = kafka_proxy.Proxy()
    broker = p.kafka(proxy=proxy)
    for nth, name in ((1, "late-base"), (2, "late-rows")):
        broker.create(name, 1)
        proxy.late.clear()
        proxy.hold(nth)
        done = ok(p.run("run", job(p, broker, name, rows=1500, rate=1000, bootstrap=proxy.bootstrap)))
        wait_for("the broker's answer", lambda: proxy.late)
        assert proxy.late == [47], (name, proxy.late, done.stderr)
        assert numbers(broker, name) == list(range(1500)), done.stderr
    proxy.close()


@test
def a_transaction_that_brokers_would_end_too_early_is_told_at_once(p):
    broker = p.kafka({"transaction.max.timeout.ms": "60000"})
    broker.create("long", 1)
    path = job(p, broker, "long", top="restart-strategy.type: none")
    done = ok(p.run("run", path), 1)
    for words in (b"properties.transaction.timeout.ms is 900000 unless written", b"transaction.max.timeout.ms (60000)",
                  b"execution.checkpointing.interval (100 ms)", b"execution.checkpointing.timeout (600000 ms)"):
        assert words in done.stderr, done.stderr
    path = job(p, broker, "long", "    exactly-once.method: redo\n    properties.transaction.timeout.ms: 70000", "restart-strategy.type: none")
    done = ok(p.run("run", path), 1)
    assert b"properties.transaction.timeout.ms is 70000, more than the brokers allow by transaction.max.timeout.ms (60000)" in done.stderr, done.stderr
    path = job(p, broker, "long", "    properties.transaction.timeout.ms: 60000")
    done = ok(p.run("validate", path))
    assert b"open for 60000 ms" in done.stdout + done.stderr and b"600000 ms (execution.checkpointing.timeout)" in done.stdout + done.stderr, done
    path = job(p, broker, "long", "    properties.transaction.timeout.ms: 60000", "execution.checkpointing.timeout: 30s")
    assert b"open for" not in ok(p.run("validate", "--strict", path)).stdout
    ok(p.run("run", "--fresh", path))
    assert numbers(broker, "long") == list(range(ROWS))


@test
def a_row_too_large_is_set_aside_before_it_is_in_a_transaction(p):
    broker = p.kafka()
    limit, around = 10000, 72  # of a batch; what it has beside a value of that size
    broker.create("large-once", 1, max_message_bytes=limit)
    sizes = [10, limit - around, limit - around + 1, 20, 50000, limit - around, 1]
    path = job(p, broker, "large-once", "    on-error: dead-letter", "dead-letter: {connector: filesystem, path: dead/, format: json}")
    p.write("large-once.csv", "".join("x" * n + "\n" for n in sizes))
    done = ok(p.run("run", path))
    assert b"written 5 " in done.stderr and b"dead-lettered 2 " in done.stderr, done.stderr
    assert [len(r["value"]) for r in broker.dump("large-once")] == [n for n in sizes if n <= limit - around]
    letters = "".join(f.read_text() for f in p.dir.glob("dead/part-*"))
    assert letters.count("is too large for topic 'large-once'") == 2 and f"a record of {limit + 1} bytes" in letters, letters
    # The broker agrees about the limit: it refuses, afterwards, the same rows of a sink without transactions.
    text = open(path).read().replace("exactly-once", "at-least-once").replace("    sink.transactional-id-prefix: large-once\n", "")
    done = ok(p.run("run", "--fresh", p.write("least.yaml", text)))
    assert b"written 5 " in done.stderr and b"dead-lettered 2 " in done.stderr, done.stderr
    path = job(p, broker, "large-once", "    on-error: skip\n    properties.compression.type: lz4")  # much smaller by lz4
    p.write("large-once.csv", "".join("x" * n + "\n" for n in sizes))
    done = ok(p.run("run", "--fresh", path))
    assert b"written 7 " in done.stderr, done.stderr


@test
def a_transaction_that_a_broker_did_not_end_in_the_topics_is_ended(p):
    """A broker dies with rows and marker written and not committed, and times the transaction out while it starts. It may
    leave out the markers then: aborted rows would come with the next commit, and no marker could be read."""
    proxy = kafka_proxy.Proxy()
    broker = p.kafka({"transaction.abort.timed.out.transaction.cleanup.interval.ms": "20", "broker.session.timeout.ms": "3000",
                      "broker.heartbeat.interval.ms": "1000"}, proxy=proxy)
    jobs = {}
    for method in ("decider", "redo"):
        broker.create(f"unended-{method}", 2)
        jobs[f"unended-{method}"] = job(p, broker, f"unended-{method}", rate=3000, bootstrap=proxy.bootstrap, sink=f"""
    properties.transaction.timeout.ms: 1500
    exactly-once.method: {method}
""")
    proxy.hold(2, is_last=True, of=b"unended-redo")
    children = [p.start("run", path) for path in jobs.values()]
    wait_for("a commit that is held", lambda: proxy.held)
    for child in children:
        child.send_signal(SIGKILL)
        child.communicate()
    proxy.heal()
    broker.kill()
    time.sleep(1)
    broker.start()
    for name, path in jobs.items():
        done = ok(p.run("run", path, "--continue", timeout=60))
        got = numbers(broker, name)
        assert sorted(got) == list(range(ROWS)), (name, len(got), len(set(got)), done.stderr)
    proxy.close()
