"""Looking at jobs: what became of them, and waiting until they have come so far."""
import json
import os
import pathlib
import re
import time
import urllib.error
import urllib.request

from harness import SIGKILL, SIGTERM, ended, ok, test, wait_for

JOB = """pipeline.name: NAME
execution.checkpointing: {interval: 50 ms, dir: "file://DIR/store"}
restart-strategy.type: none
sources:
  events: {connector: filesystem, path: in, format: csv, schema: {id: BIGINT}, MORE}
sinks:
  out: {from: events, connector: filesystem, path: out-NAME/, format: csv}
"""
ENDLESS = "source.monitor-interval: 20 ms"


def write_job(p, name, more="rate-limit: 100000", **lines):
    p.write("in/a.csv", "".join(f"{i}\n" for i in range(1000)))
    return p.write(f"{name}.yaml", JOB.replace("NAME", name).replace("DIR", str(p.dir)).replace("MORE", more))


def listed(p):
    return {j["name"]: j for j in json.loads(ok(p.run("list", "--all", "--json")).stdout)}


@test
def list_all_knows_what_became_of_jobs(p):
    assert b"nothing has run lately" in ok(p.run("list", "--all")).stderr
    ok(p.run("run", write_job(p, "done")))
    bad = write_job(p, "bad")
    text = pathlib.Path(bad).read_text().replace("id: BIGINT", "id: DATE")
    ok(p.run("run", p.write("bad.yaml", text)), 1)
    for name, command in (("canceled", "cancel"), ("stopped", "stop"), ("saved", "cancel")):
        ok(p.run("run", "-d", write_job(p, name, ENDLESS)))
        more = ["--dir", "sp"] if name == "stopped" else ["--with-savepoint", "--dir", "sp"] if name == "saved" else []
        path = ok(p.run(command, name, *more)).stdout.decode().strip()
        assert not more or os.path.exists(path + "/_metadata"), path
    child = p.start("run", write_job(p, "suspended", ENDLESS))
    wait_for("it runs", lambda: p.status("suspended"))
    child.send_signal(SIGTERM)
    ended(child)
    child = p.start("run", write_job(p, "killed", ENDLESS))
    wait_for("it runs", lambda: p.status("killed"))
    child.kill()
    child.wait()
    ok(p.run("run", "-d", write_job(p, "running", ENDLESS)))
    jobs = listed(p)
    states = {name: (j["state"], j.get("exit-code")) for name, j in jobs.items()}
    assert states == {"done": ("FINISHED", 0), "bad": ("FAILED", 1), "canceled": ("CANCELED", 0), "stopped": ("FINISHED", 0),
                      "saved": ("CANCELED", 0), "suspended": ("SUSPENDED", 0), "killed": ("FAILED", None), "running": ("RUNNING", None)}, states
    assert "DATE" in jobs["bad"]["root-exception"] and "was killed" in jobs["killed"]["root-exception"], jobs
    assert jobs["done"]["checkpoint"] >= 1 and jobs["done"]["end-time"] >= jobs["done"]["start-time"]
    shown = ok(p.run("list", "--all")).stdout.decode()
    assert shown.startswith("id ") and "FAILED" in shown and "SUSPENDED" in shown, shown
    ok(p.run("cancel", "running"))
    ok(p.run("run", "--fresh", write_job(p, "brief"), "-D", "jobstore.expiration-time=1 ms"))
    wait_for("it is forgotten", lambda: "brief" not in listed(p))


@test
def wait_returns_when_a_job_has_come_so_far(p):
    job = write_job(p, "w", ENDLESS)
    ok(p.run("wait", "w", "--finished"), 8)
    ok(p.run("wait", "w"), 2)
    ok(p.run("run", "-d", job))
    ok(p.run("wait", "w", "--caught-up", "--timeout", "20 s"))
    assert p.status("w")["vertices"][0]["read-records"] == 1000
    before = p.status("w")["checkpoints"]["newest"]
    ok(p.run("wait", "--checkpoint", "--timeout", "20 s"))
    assert p.status("w")["checkpoints"]["latest"] > before
    assert len([x for f in (p.dir / "out-w").glob("part-*") for x in f.read_text().splitlines()]) == 1000
    assert b"the time is over" in ok(p.run("wait", "w", "--finished", "--timeout", "50 ms"), 124).stderr
    waiting = p.start("wait", "w", "--finished")
    other = p.start("wait", "w", "--checkpoint", "--timeout", "20 s")
    ended(other)
    ok(p.run("cancel", "w"))
    ended(waiting)
    ok(p.run("wait", "w", "--finished"))  # it is known how it ended
    ok(p.run("wait", "w", "--checkpoint"), 8)


@test
def wait_tells_how_a_job_ended(p):
    bad = pathlib.Path(write_job(p, "bad")).read_text().replace("id: BIGINT", "id: BIGINT, d: 'DECIMAL(3, 1)'")
    p.write("in/a.csv", "".join(f"{i},{'x' if i == 900 else 1}\n" for i in range(1000)))
    child = p.start("run", p.write("bad.yaml", bad.replace("100000", "3000")))
    wait_for("it runs", lambda: p.status("bad"))
    assert b"FAILED" in ok(p.run("wait", "bad", "--finished"), 1).stderr
    ended(child, 1)
    child = p.start("run", write_job(p, "slow", "rate-limit: 500"))
    wait_for("it runs", lambda: p.status("slow"))
    child.send_signal(SIGTERM)
    ended(child, 9)
    ok(p.run("wait", "slow", "--finished"), 9)


@test
def wait_waits_over_a_crash(p):
    job = write_job(p, "crashed", "rate-limit: 500")
    ok(p.run("run", "-d", job, "-D", "restart-strategy.type=fixed-delay", "-D", "restart-strategy.fixed-delay.delay=100 ms"))
    engine = wait_for("it runs", lambda: p.status("crashed"))["pid"]
    waiting = p.start("wait", "crashed", "--finished")
    time.sleep(0.1)
    os.kill(engine, SIGKILL)
    ended(waiting)
    assert listed(p)["crashed"]["state"] == "FINISHED" and "SIGKILL" in listed(p)["crashed"]["root-exception"]


@test
def who_asks_a_job_that_has_ended_hears_what_became_of_it(p):
    ok(p.run("run", "-q", write_job(p, "done", more="on-error: fail")))
    done = ok(p.run("status", "done"), 8)
    assert b"no job 'done' is running" in done.stderr and b"its last run: FINISHED at 20" in done.stderr, done.stderr
    assert b"its last run" not in ok(p.run("status", "never"), 8).stderr


def answers(url):
    try:
        return urllib.request.urlopen(url).status == 200
    except urllib.error.HTTPError:
        return False


@test
def status_shows_what_was_set_aside_and_ports_as_they_are_written(p):
    job = p.write("hook.yaml", """execution.checkpointing: {interval: 50 ms, dir: state}
sources:
  hook: {connector: http, listen: "127.0.0.1:0", journal: j, format: json, schema: {id: INT}, on-error: dead-letter}
sinks:
  out: {from: hook, connector: filesystem, path: out/, format: csv}
dead-letter: {connector: filesystem, path: dead/}
""")
    ok(p.run("run", "-d", job))
    port = p.status("hook")["vertices"][0]["counters"]["port"]
    wait_for("the server", lambda: answers(f"http://127.0.0.1:{port}/health"))
    urllib.request.urlopen(f"http://127.0.0.1:{port}/", b'{"id": 1}\n{"id": 2}\nbad\n').read()
    wait_for("rows", lambda: p.status("hook")["vertices"][0]["read-records"] == 3)
    shown = ok(p.run("status")).stdout.decode()
    head, source = (re.split("  +", line) for line in shown.splitlines()[2:4])
    told = dict(zip(head, source))
    assert [told[k] for k in ("read", "passed on", "filtered", "dead-lettered", "skipped")] == ["3", "2", "0", "1", "0"], shown
    assert f"hook: source http: port {port}, requests " in shown, shown
    ok(p.run("cancel"))


@test
def a_checkpoint_is_shown_to_people_and_as_json(p):
    ok(p.run("run", "-q", write_job(p, "seen", more="on-error: skip")))
    (one,) = json.loads(ok(p.run("checkpoints", "list", "store", "--json")).stdout)
    shown = ok(p.run("checkpoints", "show", one["path"])).stdout.decode()
    assert shown.startswith(f"checkpoint {one['id']} of job seen ("), shown
    assert "its run    attempt 1, finished" in shown and "\n  pipeline.name: \"seen\"\n" in shown, shown
    assert "events    splits          1 " in shown, shown
    assert json.loads(ok(p.run("checkpoints", "show", one["path"], "--json")).stdout)["job-name"] == "seen"
