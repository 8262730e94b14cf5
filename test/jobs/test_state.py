"""Kills, signals, savepoints, resumes: the state is where it was promised, and the output is right."""
import json
import os
import sqlite3
import subprocess

from harness import SIGKILL, SIGTERM, ended, ok, test, wait_for
from test_jobs import package_log, packages

ENDLESS = """pipeline.name: endless
execution.checkpointing: {interval: 20 ms, dir: "STORE"}
sources:
  events:
    connector: nexmark
    events.num: 0
transforms:
  counts:
    from: events
    where: MOD(auction, 7) = 0
    group-by: [bidder]
    select: [bidder, COUNT(*) AS n]
sinks:
  out: {from: counts, connector: blackhole}
"""

LONG = """pipeline.name: long
execution.checkpointing: {interval: 10 ms, dir: "STORE"}
sources:
  events: {connector: nexmark, events.num: 2000000, rate-limit: 1000000}
transforms:
  some:
    from: events
    where: MOD(auction, 123) = 0
    select: [auction, price]
sinks:
  out: {from: some, connector: filesystem, path: "OUT", format: csv, sink.delivery-guarantee: exactly-once}
"""


def stores(p):
    return [f"sqlite://{p.dir}/store.db", f"file://{p.dir}/store"]


def checkpoints(p, url):
    done = p.run("checkpoints", "list", "--json", url)
    return json.loads(done.stdout) if done.returncode == 0 else []


def output(p):
    return sorted(line for f in (p.dir / "out").glob("part-*") for line in f.read_text().splitlines())


def undisturbed(p):
    job = p.write("plain.yaml", LONG.replace("pipeline.name: long", "pipeline.name: plain")
                  .replace("STORE", f"file://{p.dir}/plain").replace("OUT", f"{p.dir}/plain-out/"))
    ok(p.run("run", job))
    return sorted(line for f in (p.dir / "plain-out").glob("part-*") for line in f.read_text().splitlines())


@test
def a_killed_job_resumes_exactly_once_from_both_stores(p):
    expect = undisturbed(p)
    for url in stores(p):
        subprocess.run(["rm", "-rf", p.dir / "out"], check=True)
        job = p.write("job.yaml", LONG.replace("STORE", url).replace("OUT", f"{p.dir}/out/"))
        child = p.start("run", job)
        wait_for("a checkpoint", lambda: checkpoints(p, url))
        child.kill()
        child.wait()
        done = ok(p.run("run", job), 4)
        assert b"--continue" in done.stderr
        ok(p.run("resume", "--from", url))
        assert output(p) == expect, url
        ok(p.run("checkpoints", "verify", url))


@test
def sigterm_suspends_a_bounded_job_and_continue_finishes_it(p):
    expect = undisturbed(p)
    url = stores(p)[0]
    job = p.write("job.yaml", LONG.replace("STORE", url).replace("OUT", f"{p.dir}/out/"))
    child = p.start("run", job)
    wait_for("a checkpoint", lambda: checkpoints(p, url))
    child.send_signal(SIGTERM)
    ended(child, 9)
    ok(p.run("run", job, "--continue", "-p", 2))
    assert output(p) == expect


@test
def a_running_job_answers_and_stops_with_a_savepoint(p):
    for url in stores(p):
        job = p.write("job.yaml", ENDLESS.replace("STORE", url))
        child = p.start("run", job, "-p", 2)
        wait_for("a shown checkpoint", lambda: (p.status() or {}).get("checkpoints", {}).get("completed", 0) > 0)
        assert b"endless" in ok(p.run("list")).stdout
        ok(p.run("run", job, "--continue"), 5)
        path = ok(p.run("savepoint", "--dir", p.dir / "sp")).stdout.decode().strip()
        assert os.path.exists(path) and child.poll() is None
        ok(p.run("checkpoints", "verify", path))
        ok(p.run("savepoint", "--dir", "/proc/nowhere"), 1)
        assert child.poll() is None
        stopped = ok(p.run("stop", "endless", "--dir", p.dir / "sp")).stdout.decode().strip()
        ended(child, 0)
        child = p.start("resume", "--from", stopped, job, "-p", 3)
        status = wait_for("the resumed job", lambda: p.status("endless"))
        assert status["checkpoints"]["restored"] > 0
        ok(p.run("cancel"))
        ended(child, 0)


@test
def a_damaged_checkpoint_is_refused(p):
    expect_code = 4
    for url in stores(p):
        job = p.write("job.yaml", LONG.replace("STORE", url).replace("OUT", f"{p.dir}/out/"))
        child = p.start("run", job, "--fresh")
        wait_for("a checkpoint", lambda: checkpoints(p, url))
        child.kill()
        child.wait()
        if url.startswith("sqlite"):
            db = sqlite3.connect(p.dir / "store.db")
            names = [r[0] for r in db.execute("select name from sqlite_master where type='table'")]
            assert names
            with db:
                for name in names:
                    for column in [r[1] for r in db.execute(f"pragma table_info({name})") if r[2].upper() == "BLOB"]:
                        db.execute(f"update {name} set {column} = x'00' || substr({column}, 2) where length({column}) > 8")
            db.close()
        else:
            newest = max((p.dir / "store").glob("*/chk-*/_metadata"), key=lambda f: int(f.parent.name[4:]))
            data = bytearray(newest.read_bytes())
            data[len(data) // 2] ^= 1
            newest.write_bytes(data)
        done = ok(p.run("resume", "--from", url), expect_code)
        assert done.stderr, url


@test
def a_job_without_checkpointing_ends_at_sigterm(p):
    text = "\n".join(line for line in ENDLESS.splitlines() if "checkpointing" not in line)
    child = p.start("run", p.write("job.yaml", text))
    wait_for("the job", lambda: (p.status() or {}).get("state") == "RUNNING")
    child.send_signal(SIGTERM)
    ended(child, 0)


@test
def a_detached_job_runs_on_and_prints_its_id(p):
    url = stores(p)[1]
    job = p.write("job.yaml", ENDLESS.replace("STORE", url))
    job_id = ok(p.run("run", "-d", job)).stdout.decode().strip()
    assert len(job_id) == 32
    assert p.status(job_id)["jid"] == job_id
    for end in (["cancel"], ["stop", "--dir", p.dir / "sp"]):  # they return when the store is free
        ok(p.run(*end))
        assert p.status() is None
        ok(p.run("run", "-d", "--continue", job))
    ok(p.run("cancel", job_id))
    bad = p.write("bad.yaml", ENDLESS.replace("STORE", url).replace("nexmark", "nexmrk"))
    done = ok(p.run("run", "-d", bad), 3)
    assert b"nexmark" in done.stderr


@test
def stdout_closed_ends_quietly(p):
    text = ENDLESS.replace("STORE", stores(p)[1]).replace("connector: blackhole", "connector: print")
    child = p.start("run", p.write("job.yaml", text))
    child.stdout.readline()
    child.stdout.close()
    child.stdout = None
    ended(child, 141)


@test
def a_poor_exit_leaves_nothing_behind_that_resume_would_not_remove(p):
    expect = package_log(p)
    job = p.job("package-log.yaml")
    for _ in range(3):
        child = p.start("run", job, "--continue")
        wait_for("a start", lambda: child.poll() is not None or (p.dir / "checkpoints.db").exists())
        child.send_signal(SIGKILL)
        child.wait()
    ok(p.run("run", job, "--continue"))
    assert sorted(packages(p.dir / "packages.sqlite")) == sorted(expect)
    left = [f for f in p.dir.iterdir() if "redo" in f.name and f.is_dir() and any(f.iterdir())]
    assert not left, left


@test
def a_running_job_is_busy_not_unfinished(p):
    """Plain `run` beside a run of the same job says who runs, not how to take its state over."""
    text = LONG.replace("STORE", f"{p.dir}/store.db").replace("OUT", f"{p.dir}/out/").replace("events.num: 2000000", "events.num: 0")
    job = p.write("job.yaml", text.replace("rate-limit: 2000000", "rate-limit: 1000"))
    child = p.start("run", job)
    wait_for("a checkpoint", lambda: (p.status() or {}).get("checkpoints", {}).get("completed", 0) > 0)
    assert b"already running" in ok(p.run("run", job), 5).stderr
    assert p.status(job)["name"] == "long", "found by the path of its file"
    child.kill()
    child.wait()
    assert b"--continue" in ok(p.run("run", job), 4).stderr


@test
def resume_lists_the_jobs_where_there_are_several(p):
    for name in ("one", "two"):
        ok(p.run("run", p.write(f"{name}.yaml", f"execution.checkpointing.dir: {p.dir}/all\n"
                                "sources: {e: {connector: nexmark, events.num: 10}}\n"
                                "sinks: {o: {from: e, connector: blackhole}}\n")))
    done = ok(p.run("resume", "--from", p.dir / "all"), 4)
    assert b"/chk-1 (one)" in done.stderr and b"/chk-1 (two)" in done.stderr, done.stderr


@test
def a_bounded_job_that_keeps_nothing_says_so_at_sigterm(p):
    child = p.start("run", p.write("job.yaml", "sources: {e: {connector: nexmark, events.num: 1000000, rate-limit: 1000}}\n"
                                   "sinks: {o: {from: e, connector: blackhole}}\n"))
    wait_for("the job", lambda: (p.status() or {}).get("state") == "RUNNING")
    child.send_signal(SIGTERM)
    done = ended(child, 7)
    assert b"no state was kept" in done.stderr and b"saving" not in done.stderr, done.stderr


@test
def the_log_of_a_detached_job_lies_beside_its_state(p):
    for place, log in (("store.db", ""), ("states", "states/")):
        job = p.write("job.yaml", ENDLESS.replace('"STORE"', f"{p.dir}/{place}"))
        job_id = ok(p.run("run", "-d", "--fresh", job)).stdout.decode().strip()
        assert (p.dir / f"{log}{job_id}.log").exists(), place
        ok(p.run("cancel"))
        wait_for("its end", lambda: p.status() is None)
    done = ok(p.run("run", "-d", "--fresh", job, "-D", "log.file=/nowhere/x.log"), 1)
    assert b"/nowhere/x.log" in done.stderr and not done.stdout


@test
def resume_takes_every_form_of_a_path(p):
    expect = undisturbed(p)
    for url in stores(p):
        job = p.write("job.yaml", LONG.replace("STORE", url).replace("OUT", f"{p.dir}/out/"))
        child = p.start("run", job, "--fresh")
        wait_for("three checkpoints", lambda: len(checkpoints(p, url)) and checkpoints(p, url)[-1]["id"] >= 3)
        child.kill()
        child.wait()
        newest = checkpoints(p, url)[-1]
        keep = p.dir / "keep"
        for path in [newest["path"], url, url.split("://")[1], *([os.path.dirname(newest["path"])] if "file" in url else [])]:
            subprocess.run(f"rm -rf {keep} && mkdir {keep} && cp -a {p.dir}/store* {p.dir}/out {keep}", shell=True, check=True)
            ok(p.run("resume", "--from", path, "-q"))
            assert output(p) == expect, path
            subprocess.run(f"rm -rf {p.dir}/store* {p.dir}/out && cp -a {keep}/. {p.dir}", shell=True, check=True)
        subprocess.run(f"rm -rf {p.dir}/store* {p.dir}/out", shell=True, check=True)


@test
def going_back_to_an_older_checkpoint_is_said_and_is_a_new_lineage(p):
    url = stores(p)[0]
    job = p.write("job.yaml", LONG.replace("STORE", url).replace("OUT", f"{p.dir}/out/"))
    child = p.start("run", job)
    wait_for("three checkpoints", lambda: len(checkpoints(p, url)) and checkpoints(p, url)[-1]["id"] >= 3)
    child.kill()
    child.wait()
    db = f"{p.dir}/store.db"
    newest = checkpoints(p, url)[-1]["id"]
    ok(p.run("run", job, "--continue", "-D", "execution.checkpointing.num-retained=5", "-q"))
    older = [c["id"] for c in checkpoints(p, url)]
    assert min(older) < max(older), older  # else there is nothing to go back to, and nothing is tested
    done = ok(p.run("resume", "--from", f"{db}#chk-{min(older)}"))
    assert b"written again" in done.stderr, done.stderr
    assert checkpoints(p, url)[-1]["id"] > max(older) >= newest


@test
def restarts_follow_the_strategy_and_the_first_cause_stays(p):
    p.write("in.csv", "1\nx\n3\n")
    job = p.write("job.yaml", """pipeline.name: restarts
restart-strategy: {type: fixed-delay, fixed-delay: {attempts: 2, delay: 10 ms}}
sources:
  events: {connector: filesystem, path: in.csv, format: csv, schema: {id: BIGINT}}
sinks:
  out: {from: events, connector: filesystem, path: out.csv, format: csv}
""")
    done = ok(p.run("run", job), 1)
    text = done.stderr.decode()
    assert text.count("restart in 10 ms") == 2 and "in.csv" in text, text
    assert not (p.dir / "out.csv").exists()
    done = ok(p.run("run", job, "-D", "poison.max-failures=0"), 1)
    assert b"no restart follows: fixed-delay allows 2 restarts" in done.stderr, done.stderr
    done = ok(p.run("run", job, "-D", "restart-strategy=failurerate", "-D", "poison.max-failures=0",
                    "-D", "restart-strategy.failure-rate.max-failures-per-interval=3",
                    "-D", "restart-strategy.failure-rate.delay=11 ms"), 1)
    text = done.stderr.decode()
    assert text.count("restart in 11 ms") == 3 and "failure-rate allows 3 restarts within 60000 ms" in text, text
    done = ok(p.run("validate", job, "-D", "restart-strategy.exponential-delay.initial-backoff=2 min"), 3)
    assert b"is above max-backoff (60000 ms)" in done.stderr, done.stderr


@test
def another_parallelism_moves_keyed_state(p):
    words = [f"w{i % 97}" for i in range(60000)]
    p.write("in/a.txt", "\n".join(words) + "\n")
    more = ["-D", f"execution.checkpointing.dir=sqlite://{p.dir}/store.db", "-D", "execution.checkpointing.interval=10 ms",
            "-D", "sources.events.rate-limit=60000", "-q"]
    job = p.job("count-words.yaml")
    url = f"sqlite://{p.dir}/store.db"
    for i, parallelism in enumerate((1, 3, 2)):
        child = p.start("run", job, "--continue", "-p", parallelism, *more)
        before = checkpoints(p, url)[-1]["id"] if i else 0
        wait_for("a checkpoint", lambda: child.poll() is not None or (checkpoints(p, url) or [{"id": 0}])[-1]["id"] > before)
        child.kill()
        child.wait()
    ok(p.run("run", job, "--continue", "-p", 4, *more[:-3]))
    with sqlite3.connect(p.dir / "words.sqlite") as db:
        got = dict(db.execute("select word, n from words"))
    assert got == {f"w{k}": sum(1 for w in words if w == f"w{k}") for k in range(97)}
