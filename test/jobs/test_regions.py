"""Regions: of a job with steps that nothing connects, only those restart that are connected with what failed."""
import json

from harness import ok, test, wait_for

# Two pipelines: `bad` fails at its record 'x', `good` goes on.
TWO = """pipeline.name: two
execution.checkpointing: {{interval: 50 ms, dir: {dir}/ck}}
restart-strategy: {{type: fixed-delay, fixed-delay: {{attempts: 1000, delay: 100 ms}}}}
poison.max-failures: 0
sources:
  bad:
    connector: filesystem
    path: bad/
    format: csv
    source.monitor-interval: 20 ms
    schema: {{id: BIGINT}}
  good:
    connector: filesystem
    path: good/
    format: csv
    source.monitor-interval: 20 ms
    schema: {{id: BIGINT}}
sinks:
  bad-out: {{from: bad, connector: filesystem, path: bad-out/, format: csv}}
  good-out: {{from: good, connector: filesystem, path: good-out/, format: csv}}
"""


def rows(p, name):
    return sorted(int(line) for f in (p.dir / name).glob("[!.]*") for line in f.read_text().split())


def status(p):
    return json.loads(ok(p.run("status", "--json")).stdout)


def begin(p, *more):
    for name in ("bad", "good"):
        p.write(f"{name}/1.csv", "1\n2\n")
    job = p.write("two.yaml", TWO.format(dir=p.dir))
    child = p.start("run", job, *more)
    wait_for("rows of both", lambda: rows(p, "bad-out") == rows(p, "good-out") == [1, 2])
    return child


def mend(p):
    with open(p.dir / "bad" / "2.csv", "r+b") as f:
        f.seek(2)
        f.write(b"4")


@test
def only_the_region_that_failed_restarts(p):
    child = begin(p)
    p.write("bad/2.csv", "3\nx\n5\n")
    wait_for("restarts", lambda: status(p)["restarts"] >= 2)
    p.write("good/2.csv", "3\n4\n")
    now = status(p)
    assert now["state"] == "RUNNING", now
    bad, good = now["regions"]
    assert "bad" in bad["name"] and "2.csv:2" in bad["root-exception"] and bad["restarts"] >= 2, now
    assert good["restarts"] == 0 and good["state"] == "RUNNING" and "root-exception" not in good, now
    text = ok(p.run("status")).stdout.decode()
    assert "first cause" in text and "bad" in text, text
    # The bad record is mended: that region goes on where it was, and the other one was never interrupted.
    mend(p)
    wait_for("the rest", lambda: rows(p, "bad-out") == [1, 2, 3, 4, 5] and rows(p, "good-out") == [1, 2, 3, 4])
    assert status(p)["regions"][1]["restarts"] == 0
    child.terminate()
    assert child.wait(20) == 0, child.stderr.read()
    assert rows(p, "bad-out") == [1, 2, 3, 4, 5] and rows(p, "good-out") == [1, 2, 3, 4]


@test
def with_failover_strategy_full_everything_restarts(p):
    child = begin(p, "-D", "jobmanager.execution.failover-strategy=full")
    p.write("bad/2.csv", "3\nx\n5\n")
    wait_for("restarts", lambda: status(p)["restarts"] >= 2)
    assert "regions" not in status(p)
    mend(p)
    wait_for("the rest", lambda: rows(p, "bad-out") == [1, 2, 3, 4, 5])
    ok(p.run("stop", "--dir", "saves"))
    assert child.wait(20) == 0
    assert rows(p, "good-out") == [1, 2]


@test
def a_region_that_waits_is_in_the_last_checkpoint(p):
    child = begin(p, "-D", "restart-strategy.fixed-delay.delay=10 min")
    p.write("bad/2.csv", "3\nx\n5\n")
    wait_for("a failure", lambda: status(p)["regions"][0]["state"] == "RESTARTING")
    p.write("good/2.csv", "3\n4\n")
    mend(p)
    child.terminate()
    assert child.wait(20) == 0, child.stderr.read()
    done = p.start("run", p.dir / "two.yaml", "--continue")
    wait_for("the rest", lambda: rows(p, "bad-out") == [1, 2, 3, 4, 5] and rows(p, "good-out") == [1, 2, 3, 4])
    wait_for("the job", lambda: p.status())
    ok(p.run("cancel"))
    assert done.wait(20) == 0
