"""The guard of a detached job: its process may die of anything, the job goes on by its restart strategy."""
import json
import os
import pathlib
import signal
import subprocess

from harness import SIGINT, SIGKILL, SIGTERM, ended, ok, test, wait_for
from test_bad_rows import build_plugin, letters, raw

ROWS = """pipeline.name: guarded
execution.checkpointing: {interval: 20 ms, dir: "STORE"}
restart-strategy: {type: fixed-delay, fixed-delay: {attempts: ATTEMPTS, delay: DELAY}}
sources:
  events: {connector: filesystem, path: in, format: csv, schema: {id: BIGINT}, rate-limit: RATE}
sinks:
  out: {from: events, connector: filesystem, path: out/, format: csv, sink.delivery-guarantee: exactly-once}
"""


def write_job(p, attempts=100, delay="10 ms", rate=3000, store="file://{}/store"):
    p.write("in/a.csv", "".join(f"{i}\n" for i in range(3000)))
    text = ROWS.replace("STORE", store.format(p.dir)).replace("ATTEMPTS", str(attempts)).replace("DELAY", delay)
    return p.write("job.yaml", text.replace("RATE", str(rate)))


def written(p):
    return sorted(int(line) for f in (p.dir / "out").glob("part-*") for line in f.read_text().splitlines())


def parent(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def is_there(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def running(p):
    status = p.status()
    return status if status and status["state"] == "RUNNING" else None


@test
def a_detached_job_goes_on_when_its_process_is_killed(p):
    for store in ("file://{}/store", "sqlite://{}/store.db"):
        subprocess.run(["rm", "-rf", p.dir / "out"])
        job_id = ok(p.run("run", "-d", write_job(p, store=store))).stdout.decode().strip()
        first = wait_for("the job runs", lambda: running(p))
        guard = parent(first["pid"])
        before = first["pid"]
        for how in (SIGKILL, signal.SIGSEGV, signal.SIGABRT):
            wait_for("a checkpoint", lambda: (running(p) or {"checkpoints": {"completed": 0}})["checkpoints"]["completed"] > 1)
            os.kill(before, how)
            status = wait_for("another process", lambda: (lambda s: s if s and s["pid"] != before else None)(running(p)))
            before = status["pid"]
            assert parent(before) == guard
        assert status["restarts"] == 3 and "killed by SIGKILL" in status["root-exception"], status
        wait_for("its end", lambda: not is_there(guard))
        assert written(p) == list(range(3000)), len(written(p))
        log = next(p.dir.glob("**/" + job_id + ".log")).read_text()
        assert "killed by SIGSEGV" in log and "killed by SIGABRT" in log, log


@test
def a_crash_counts_as_any_other_failure(p):
    ok(p.run("run", "-d", write_job(p, attempts=1, rate=300)))
    first = wait_for("the job runs", lambda: running(p))
    guard = parent(first["pid"])
    os.kill(first["pid"], signal.SIGSEGV)
    second = wait_for("another process", lambda: (lambda s: s if s and s["pid"] != first["pid"] else None)(running(p)))
    os.kill(second["pid"], SIGKILL)
    wait_for("its end", lambda: not is_there(guard))
    log = next(p.dir.glob("store/*.log")).read_text()
    assert "the job failed: the job's process was killed by SIGKILL" in log, log
    assert "its first cause, 1 restarts before: the job's process was killed by SIGSEGV" in log, log
    ok(p.run("status"), 8)
    ok(p.run("run", write_job(p, rate=100000), "--continue"))
    assert written(p) == list(range(3000))


@test
def between_two_processes_the_guard_answers(p):
    job = write_job(p, delay="1 min", rate=300)
    ok(p.run("run", "-d", job))
    first = wait_for("the job runs", lambda: running(p))
    os.kill(first["pid"], SIGKILL)
    status = wait_for("the restart is waited for", lambda: (lambda s: s if s and s["state"] == "RESTARTING" else None)(p.status()))
    assert status["name"] == "guarded" and status["restarts"] == 1, status
    assert b"ask again" in ok(p.run("savepoint", "--dir", p.dir / "sp"), 1).stderr
    ok(p.run("cancel"))
    ok(p.run("status"), 8)
    ok(p.run("run", write_job(p, rate=100000)))  # canceled, so plain run begins anew
    for how in (SIGTERM, SIGINT):
        child = p.start("run", "--supervise", "--fresh", write_job(p, delay="1 min", rate=300))
        os.kill(wait_for("the job runs", lambda: running(p))["pid"], SIGKILL)
        wait_for("the restart is waited for", lambda: (p.status() or {}).get("state") == "RESTARTING")
        child.send_signal(how)
        ended(child, 7)


@test
def signals_and_commands_pass_through_the_guard(p):
    job = write_job(p, rate=300)
    child = p.start("run", "--supervise", job)
    status = wait_for("the job runs", lambda: running(p))
    assert parent(status["pid"]) == child.pid
    child.send_signal(SIGTERM)
    ended(child, 9)
    ok(p.run("run", "-d", "--continue", job))
    guard = parent(wait_for("the job runs", lambda: running(p))["pid"])
    ok(p.run("savepoint", "--dir", p.dir / "sp"))
    ok(p.run("stop", "--dir", p.dir / "sp"))
    assert not is_there(guard)  # stop returns when the last process is gone


@test
def without_its_guard_a_job_suspends(p):
    job = write_job(p, rate=300)
    ok(p.run("run", "-d", job))
    engine = wait_for("the job runs", lambda: running(p))["pid"]
    os.kill(parent(engine), SIGKILL)
    wait_for("its end", lambda: not is_there(engine))
    listed = json.loads(ok(p.run("checkpoints", "list", p.dir / "store", "--json")).stdout)
    assert "suspended" in json.dumps(listed).lower(), listed
    ok(p.run("run", write_job(p, rate=100000), "--continue"))
    assert written(p) == list(range(3000))


@test
def a_job_whose_checkpoints_died_with_it_is_not_started_again(p):
    job = write_job(p, rate=300)
    text = pathlib.Path(job).read_text()
    p.write("job.yaml", "".join(line + "\n" for line in text.splitlines() if "checkpointing" not in line))
    child = p.start("run", "--supervise", job)
    os.kill(wait_for("the job runs", lambda: running(p))["pid"], SIGKILL)
    assert b"a restart could write rows twice" in ended(child, 1).stderr


@test
def a_record_that_kills_the_process_is_set_aside_by_itself(p):
    build_plugin(p, "abort_sink")
    p.write("in.csv", "".join("%s,%d\n" % ("abort" if i == 1500 else "k", i) for i in range(3000)))
    job = p.write("job.yaml", f"""pipeline.name: kill
plugins.dir: plug
execution.checkpointing: {{interval: 20 ms, dir: "file://{p.dir}/store"}}
restart-strategy: {{type: fixed-delay, fixed-delay: {{attempts: 10, delay: 10 ms}}}}
sources:
  events: {{connector: filesystem, path: in.csv, format: csv, schema: {{k: STRING, n: INT}}}}
sinks:
  out: {{from: events, connector: abort_sink}}
dead-letter: {{connector: filesystem, path: dead/}}
""")
    done = ok(p.run("run", "--supervise", job))
    assert b"killed by SIGABRT" in done.stderr and b"'events'" in done.stderr or b"'out'" in done.stderr, done.stderr
    (letter,) = letters(p)
    assert raw(letter) == b"abort,1500", letter
