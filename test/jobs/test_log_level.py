"""What a running job writes to its log, looked at and changed while it runs."""
import json

from harness import ended, ok, test, wait_for

JOB = """pipeline.name: talks
log.level: ERROR
sources:
  events: {connector: datagen, rows-per-second: 10, schema: {n: INT}}
sinks:
  out: {from: events, connector: blackhole}
"""


def levels(p, *job):
    return json.loads(ok(p.run("log-level", *job, "--json")).stdout)


@test
def log_level_shows_and_changes_what_is_logged(p):
    job = p.write("talks.yaml", JOB)
    child = p.start("run", job)
    wait_for("a running job", lambda: p.status("talks"))
    assert levels(p) == levels(p, "talks") == {"all": "ERROR"}
    assert json.loads(ok(p.run("log-level", "talks", "state", "debug", "--json")).stdout) == {"all": "ERROR", "state": "DEBUG"}
    ok(p.run("log-level", "out", "WARN"))
    assert ok(p.run("log-level", "talks")).stdout.decode().split() == ["all", "ERROR", "state", "DEBUG", "out", "WARN"]
    assert ok(p.run("log-level", "all", "INFO")).stdout == b""
    assert levels(p) == {"all": "INFO"}
    ok(p.run("log-level", "job", "WARN"))
    ok(p.run("log-level", "out", "DEBUG"))
    child.terminate()
    text = ended(child).stderr.decode()
    assert "INFO  job: log-level: all is INFO from now on" in text
    assert "out is" not in text, "neither before INFO was let through, nor behind it"


@test
def log_level_says_what_there_is(p):
    two = JOB.replace("{n: INT}", "{n: INT, ts: TIMESTAMP(3)}, watermark: ts AS ts")  # which is a second operator of the step
    child = p.start("run", p.write("talks.yaml", two), "--log-level", "info")
    wait_for("a running job", lambda: p.status("talks"))
    assert levels(p) == {"all": "INFO"}
    unknown = ok(p.run("log-level", "sout", "INFO"), 2).stderr
    assert b"there is no component 'sout'; these are: all, checkpoints, ckpt, " in unknown and b", events, out" in unknown
    assert unknown.count(b"events") == 1, unknown
    assert b"DEBUG, INFO, WARN or ERROR" in ok(p.run("log-level", "all", "LOUD"), 2).stderr
    child.terminate()
    ended(child)
    assert b"DEBUG, INFO, WARN or ERROR, not 'loud'" in ok(p.run("run", "talks.yaml", "--log-level", "loud"), 2).stderr
    assert b"log.level" in ok(p.run("run", p.write("bad.yaml", JOB.replace("ERROR", "LOUD"))), 3).stderr
    ok(p.run("log-level", "talks"), 8)
