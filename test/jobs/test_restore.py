"""A job that changed goes on from the state of the one before, or is told why it cannot."""
import os
import re
import shutil
import sqlite3

from harness import ended, ok, test, wait_for
from test_checkpoints import completed
from test_state import LONG, checkpoints, output, stores, undisturbed

# Rows 1 to 400, of 7 keys: the first run ends at its end, the next ones read what was added.
JOB = """pipeline.name: changing
execution.checkpointing: {dir: "STORE", savepoint-dir: "DIR/sp"}
sources:
  s: {connector: filesystem, path: "DIR/in/*.csv", format: csv, schema: {k: INT, v: INT}}
transforms:
  sums:
    from: s
    group-by: [k]
    select: [k, SUM(v) AS s]
sinks:
  out: {from: sums, connector: sqlite, path: "DIR/out.db", table-name: t, primary-key: [k]}
"""


def rows(p, name, first, count):
    p.write(f"in/{name}.csv", "".join(f"{i % 7},{i}\n" for i in range(first, first + count)))


def table(p, what="k, s", where="out.db"):
    db = sqlite3.connect(p.dir / where)
    got = db.execute(f"SELECT {what} FROM t ORDER BY 1").fetchall()
    db.close()
    return got


def sums(upto):
    return [(k, sum(i for i in range(upto) if i % 7 == k)) for k in range(7)]


def begin(p, url):
    """The first 200 rows are read; what is at the end waits in the state."""
    for name in ("in", "sp"):
        shutil.rmtree(p.dir / name, ignore_errors=True)
    for name in os.listdir(p.dir):
        if name.startswith(("out", "store")):
            path = p.dir / name
            shutil.rmtree(path) if path.is_dir() else os.remove(path)
    text = JOB.replace("STORE", url).replace("DIR", str(p.dir))
    rows(p, "a", 0, 200)
    ok(p.run("run", p.write("job.yaml", text), "--continue", "-q"))
    assert table(p) == sums(200)
    rows(p, "b", 200, 200)
    return text


def go_on(p, text, *more, code=0):
    return ok(p.run("run", p.write("job.yaml", text), "--continue", *more), code)


@test
def another_parallelism_goes_on_both_ways(p):
    for url in stores(p):
        text = begin(p, url)
        go_on(p, text, "-p", 3)
        assert table(p) == sums(400)
        for i in range(4):
            rows(p, f"c{i}", 400 + 100 * i, 100)
        go_on(p, text, "-p", 1)
        assert table(p) == sums(800)


@test
def a_step_that_was_added_begins_empty(p):
    text = begin(p, stores(p)[0])
    more = text.replace("sinks:", "  counts:\n    from: s\n    group-by: [k]\n    select: [k, COUNT(*) AS n]\nsinks:\n"
                        f"  more: {{from: counts, connector: sqlite, path: \"{p.dir}/more.db\", table-name: t, primary-key: [k]}}")
    go_on(p, more)
    assert table(p) == sums(400)
    assert sum(n for _, n in table(p, "k, n", "more.db")) == 200  # of what came since


@test
def state_of_a_step_that_is_gone_is_dropped_only_when_that_was_said(p):
    for url in stores(p):
        text = begin(p, url)
        gone = text.replace("  sums:\n    from: s\n    group-by: [k]\n    select: [k, SUM(v) AS s]\n",
                            "  other:\n    from: s\n    group-by: [k]\n    select: [k, SUM(v) AS s]\n").replace("from: sums", "from: other")
        done = go_on(p, gone, code=4)
        assert b"'sums'" in done.stderr and b"--allow-non-restored-state" in done.stderr, done.stderr
        assert table(p) == sums(200)
        go_on(p, gone, "-n")
        assert table(p, "k, s") == [(k, dict(sums(400))[k] - dict(sums(200))[k]) for k in range(7)]


@test
def a_renamed_step_keeps_its_state_by_its_uid(p):
    text = begin(p, stores(p)[1])
    renamed = text.replace("  sums:\n    from: s\n", "  totals:\n    uid: sums\n    from: s\n").replace("from: sums", "from: totals")
    go_on(p, renamed)
    assert table(p) == sums(400)


@test
def a_changed_key_or_type_is_refused_naming_both(p):
    for change in (("group-by: [k]\n    select: [k, SUM(v) AS s]", "group-by: [v]\n    select: [v AS k, SUM(k) AS s]"),
                   ("schema: {k: INT, v: INT}", "schema: {k: INT, v: BIGINT}"),
                   ("SUM(v) AS s", "MAX(v) AS s")):
        text = begin(p, stores(p)[0])
        done = go_on(p, text.replace(*change), code=4)
        assert b"state 'groups' was saved as value map: keys (k INT), values (rows BIGINT, sum_1" in done.stderr, done.stderr
        assert b"; the job has value map: keys (" in done.stderr, done.stderr
        assert table(p) == sums(200)
        go_on(p, text)
        assert table(p) == sums(400)


@test
def an_aggregate_at_the_end_is_taken_on_and_said(p):
    text = begin(p, stores(p)[0])
    db = sqlite3.connect(p.dir / "out.db")
    for column in ("n BIGINT", "m INT", "a INT"):
        db.execute(f"ALTER TABLE t ADD COLUMN {column}")
    db.commit()
    db.close()
    grown = text.replace("SUM(v) AS s]", "SUM(v) AS s, COUNT(*) AS n, MAX(v) AS m, AVG(v) AS a]")
    done = go_on(p, grown)
    assert b"count_2 (begins at 0), max_3 (begins at NULL), avg_4" in done.stderr, done.stderr
    late = {k: [i for i in range(200, 400) if i % 7 == k] for k in range(7)}
    assert table(p, "k, s, n, m, a") == [(k, dict(sums(400))[k], len(late[k]), max(late[k]), sum(late[k]) // len(late[k])) for k in range(7)]
    rows(p, "c", 400, 100)
    done = go_on(p, grown)
    assert b"begins at" not in done.stderr
    assert [row[:2] for row in table(p, "k, s, n, m, a")] == sums(500)
    go_on(p, text, code=4)  # what is kept is not thrown away unasked


@test
def every_retained_checkpoint_gives_the_same_end(p):
    expect = undisturbed(p)
    url = stores(p)[1]
    job = p.write("job.yaml", LONG.replace("STORE", url).replace("OUT", f"{p.dir}/out/").replace(
        "interval: 10 ms", "interval: 10 ms, num-retained: 5"))
    child = p.start("run", job)
    wait_for("five checkpoints", lambda: len(checkpoints(p, url)) >= 5)
    savepoint = ok(p.run("savepoint", "--dir", p.dir / "sp")).stdout.decode().strip()
    child.kill()
    child.wait()
    keep = p.dir / "keep"
    for name in ("store", "out"):
        shutil.copytree(p.dir / name, keep / name)
    for path in [c["path"] for c in checkpoints(p, url)][-5:] + [savepoint]:
        for name in ("store", "out"):
            shutil.rmtree(p.dir / name)
            shutil.copytree(keep / name, p.dir / name)
        ok(p.run("resume", "--from", path, "-q"))
        assert set(output(p)) == set(expect), path  # going back, some come twice


@test
def a_savepoint_may_be_moved_and_deleted_behind_the_first_own_checkpoint(p):
    for url in stores(p):
        text = begin(p, url).replace("STORE", url)
        job = p.write("job.yaml", text + "\n")
        child = p.start("run", job, "--continue", "-D", "sources.s.source.monitor-interval=20ms", "-D", "execution.checkpointing.interval=20ms")
        completed(p, "changing")
        path = ok(p.run("stop", "--dir", p.dir / "sp")).stdout.decode().strip()
        ended(child, 0)
        moved = str(p.dir / "elsewhere" / os.path.basename(path))
        os.makedirs(os.path.dirname(moved), exist_ok=True)
        shutil.move(path, moved)
        child = p.start("resume", "--from", moved)
        completed(p, "changing")
        shutil.rmtree(moved) if os.path.isdir(moved) else os.remove(moved)
        rows(p, "z", 400, 10)
        wait_for("rows", lambda: table(p) == sums(410))
        child.kill()
        child.wait()
        rows(p, "zz", 410, 10)
        child = p.start("run", job, "--continue", "-D", "sources.s.source.monitor-interval=20ms", "-D", "execution.checkpointing.interval=20ms")
        wait_for("all rows", lambda: table(p) == sums(420))
        ok(p.run("cancel"))
        ended(child, 0)


@test
def a_run_that_went_back_and_was_killed_before_its_first_checkpoint_goes_back_again(p):
    """What lies in the store is newer than where it began, and of a run that was left."""
    for url in stores(p):
        begin(p, url)
        text = JOB.replace("STORE", url).replace("DIR", str(p.dir))
        job = p.write("job.yaml", text)
        old = checkpoints(p, url)[-1]["path"]
        kept = "execution.checkpointing.num-retained=9"
        rows(p, "later", 400, 10)
        ok(p.run("run", job, "--continue", "--drain", "-D", kept))
        assert table(p) == sums(410)
        count = len(checkpoints(p, url))
        follow = ["-D", "sources.s.source.monitor-interval=20ms", "-D", "execution.checkpointing.interval=1h", "-D", kept]
        for again in (["--from", old], ["--continue"]):
            child = p.start("run", job, *again, *follow)
            wait_for("the job", lambda: (p.status("changing") or {}).get("state") == "RUNNING")
            assert p.status("changing")["checkpoints"]["restored"] == int(re.search(r"chk-(\d+)$", old)[1]), again
            child.kill()
            child.wait()
            assert len(checkpoints(p, url)) == count
        changed = p.write("changed.yaml", text.replace("SUM(v) AS s", "MAX(v) AS s"))
        ok(p.run("run", changed, "--from", old, "-D", kept), 4)  # what fails is not gone on with
        child = p.start("run", job, "--continue", *follow)
        wait_for("the job", lambda: (p.status("changing") or {}).get("state") == "RUNNING")
        assert p.status("changing")["checkpoints"]["restored"] > int(re.search(r"chk-(\d+)$", old)[1])
        child.kill()
        child.wait()
        child = p.start("run", job, "--from", old, *follow)
        wait_for("the job", lambda: (p.status("changing") or {}).get("state") == "RUNNING")
        child.kill()
        child.wait()
        ok(p.run("run", job, "--continue", "--drain", "-D", kept))  # the rows that were left are read again
        assert table(p) == sums(410)
        newest = checkpoints(p, url)[-1]["id"]
        done = ok(p.run("run", job, "--continue", "--drain", "-D", kept))  # and now it has one of its own
        assert f"{newest}".encode() in done.stderr, (newest, done.stderr)


@test
def a_run_that_was_killed_before_its_first_checkpoint_goes_on_from_where_it_began(p):
    for url in stores(p):
        begin(p, url)
        path = checkpoints(p, url)[-1]["path"]
        fresh = url.replace("store", "store-of-its-own")
        text = JOB.replace("STORE", fresh).replace("DIR", str(p.dir))
        follow = ["-D", "sources.s.source.monitor-interval=20ms", "-D", "execution.checkpointing.interval=1h"]
        child = p.start("run", p.write("job.yaml", text), "--from", path, *follow)
        wait_for("the job", lambda: (p.status("changing") or {}).get("state") == "RUNNING")
        child.kill()
        child.wait()
        assert not checkpoints(p, fresh)
        noted = list(p.dir.glob("store-of-its-own*claimed")) + list((p.dir / "store-of-its-own").glob("*/claimed"))
        assert len(noted) == 1, noted
        go_on(p, text)
        assert not noted[0].exists()
        assert table(p) == sums(400)
        assert checkpoints(p, url)[-1]["path"] == path
        rows(p, "more", 400, 10)
        go_on(p, text)
        assert table(p) == sums(410)
