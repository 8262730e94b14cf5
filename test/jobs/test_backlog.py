"""Checkpoints while a source works off what was there when it began."""
import json

from harness import ok, test, wait_for

JOB = """pipeline.name: backlog
execution.checkpointing: {interval: 10 ms, interval-during-backlog: 0, num-retained: 100000, dir: DIR/chk}
sources:
  events: {connector: filesystem, path: DIR/in, source.monitor-interval: 20 ms, format: csv, schema: {n: BIGINT, t: STRING}}
transforms:
  some: {from: events, group-by: [t], select: [t, COUNT(*) AS c]}
sinks:
  out: {from: some, connector: blackhole}
"""
ROWS = 300_000


@test
def no_checkpoint_is_taken_during_a_backlog(p):
    """The first one comes when all that was there has been read, and then they come as ever."""
    p.write("in/a.csv", "".join(f"{i},{i % 100}\n" for i in range(ROWS)))
    child = p.start("run", p.write("backlog.yaml", JOB.replace("DIR", str(p.dir))))
    wait_for("checkpoints", lambda: (p.status("backlog") or {}).get("checkpoints", {}).get("completed", 0) >= 3)
    child.kill()
    child.wait()
    first = min(json.loads(ok(p.run("checkpoints", "list", "--json", p.dir / "chk")).stdout), key=lambda c: c["id"])
    assert first["id"] == 1, first
    shown = json.loads(ok(p.run("checkpoints", "show", "--json", first["path"])).stdout)
    assert shown["counters"]["events.in"] == ROWS, shown["counters"]


@test
def status_tells_that_a_backlog_is_worked_off(p):
    """As long as what was there is not read; and not any more behind that."""
    p.write("in/a.csv", "".join(f"{i},{i % 100}\n" for i in range(300)))
    text = JOB.replace("DIR", str(p.dir))
    for is_slow in (True, False):
        job = p.write("backlog.yaml", text.replace("format: csv,", "format: csv, rate-limit: 1,") if is_slow else text)
        child = p.start("run", job, "--fresh")
        told = lambda: (p.status("backlog") or {}).get("checkpoints", {}).get("is-processing-backlog")
        wait_for("the word of it", lambda: told() is is_slow)
        words = ok(p.run("status", "backlog")).stdout
        assert (b"; a backlog is worked off, with the interval for that" in words) == is_slow, words
        child.kill()
        child.wait()


@test
def an_interval_during_backlog_is_checked(p):
    text = JOB.replace("DIR", str(p.dir))
    bad = ok(p.run("validate", p.write("bad.yaml", text.replace("during-backlog: 0", "during-backlog: 5 ms"))), 3).stderr
    assert b"interval-during-backlog (5 ms) is below execution.checkpointing.interval (10 ms)" in bad, bad
    ok(p.run("validate", p.write("more.yaml", text.replace("during-backlog: 0", "during-backlog: 1 min"))))
    none = ok(p.run("validate", p.write("none.yaml", text.replace("source.monitor-interval: 20 ms, ", ""))))
    assert b"has no effect: no source of this job can tell that it works off a backlog" in none.stderr, none.stderr
