"""Whose a checkpoint is, when it is deleted, and what the checkpoint keys of a job do."""
import json
import os
import re
import sqlite3

from harness import SIGTERM, ended, ok, test, wait_for
from test_state import ENDLESS, LONG, checkpoints, output, stores, undisturbed

BOUNDED = """pipeline.name: bounded
execution.checkpointing: {dir: "STORE", externalized-checkpoint-retention: KEEP}
sources:
  s: {connector: datagen, number-of-rows: 100, schema: {a: INT}, fields.a.kind: sequence, fields.a.start: 1, fields.a.end: 100}
sinks:
  out: {from: s, connector: blackhole}
"""


def completed(p, name, count=1):
    """Waits until the running job has completed some more checkpoints."""
    def done():
        return ((p.status(name) or {}).get("checkpoints", {}).get("completed", 0))
    wait_for("a running job", lambda: p.status(name))
    start = done()
    wait_for("a checkpoint", lambda: done() >= start + count)


def numbers(p, url):
    return [c["id"] for c in checkpoints(p, url) if c["kind"] == "checkpoint"]


def keep(text, url, how):
    text = text.replace("STORE", url)
    return text.replace("KEEP", how) if "KEEP" in text else text.replace(
        "execution.checkpointing: {", "execution.checkpointing: {externalized-checkpoint-retention: %s, " % how)


@test
def checkpoints_are_deleted_at_the_end_as_the_matrix_says(p):
    matrix = {"NO_EXTERNALIZED_CHECKPOINTS": (0, 0, 0, 1), "DELETE_ON_CANCELLATION": (0, 0, 1, 1),
              "RETAIN_ON_CANCELLATION": (0, 1, 1, 1)}
    for at, (how, (finished, canceled, failed, suspended)) in enumerate(matrix.items()):
        url = stores(p)[at % 2].replace("store", f"store{at}")
        ok(p.run("run", p.write("job.yaml", keep(BOUNDED, url, how)), "-q"))
        assert bool(numbers(p, url)) == bool(finished), (how, "finished")
        job = p.write("job.yaml", keep(ENDLESS, url.replace("store", "endless"), how))
        url = url.replace("store", "endless")
        child = p.start("run", job)
        completed(p, "endless")
        child.send_signal(SIGTERM)
        ended(child, 0)
        assert numbers(p, url) and suspended, how
        child = p.start("run", job, "--continue")
        completed(p, "endless")
        ok(p.run("cancel"))
        ended(child, 0)
        assert bool(numbers(p, url)) == bool(canceled), (how, "canceled")
        bad = keep(BOUNDED, url.replace("endless", "bad"), how).replace("from: s,", "from: t,").replace(
            "dir:", "interval: 10 ms, dir:").replace("sinks:", "transforms:\n  t: {from: s, select: [a / (a - 100) AS b]}\nsinks:").replace(
            "number-of-rows: 100", "number-of-rows: 100, rows-per-second: 300")
        ok(p.run("run", p.write("bad.yaml", bad), "-D", "restart-strategy.type=none"), 1)
        assert bool(numbers(p, url.replace("endless", "bad"))) == bool(failed), (how, "failed")


@test
def nothing_is_deleted_at_the_end_when_the_key_is_not_written(p):
    url = stores(p)[0]
    job = p.write("job.yaml", BOUNDED.replace("STORE", url).replace(", externalized-checkpoint-retention: KEEP", ""))
    ok(p.run("run", job, "-q"))
    assert numbers(p, url) == [1]


@test
def what_an_older_run_left_is_not_the_newest_when_a_newer_one_was_deleted(p):
    for url in stores(p):
        job = p.write("job.yaml", LONG.replace("STORE", url).replace("OUT", f"{p.dir}/out/"))
        child = p.start("run", job, "--fresh")
        wait_for("a checkpoint", lambda: checkpoints(p, url))
        child.kill()
        child.wait()
        left = numbers(p, url)
        fresh = ok(p.run("run", job, "--fresh", "-D",
                 "execution.checkpointing.externalized-checkpoint-retention=RETAIN_ON_CANCELLATION"))
        assert numbers(p, url) == left
        done = ok(p.run("run", job, "--continue"))  # afresh, and numbers go on
        read = re.search(rb"read ([0-9,]+) ", fresh.stderr)[0]
        assert read in done.stderr, done.stderr
        assert numbers(p, url)[-1] > left[-1] + 1


@test
def claim_modes_decide_who_deletes_what_was_restored_from(p):
    for url in stores(p):
        job = p.write("job.yaml", ENDLESS.replace("STORE", url))
        child = p.start("run", job, "--fresh")
        completed(p, "endless")
        savepoint = ok(p.run("savepoint", "--dir", p.dir / "sp")).stdout.decode().strip()
        child.kill()
        child.wait()
        for mode in ("NO_CLAIM", "LEGACY", "claim"):
            newest = checkpoints(p, url)[-1]["path"]
            child = p.start("resume", "--from", newest, "--claim-mode", mode)
            completed(p, "endless", 2)
            child.kill()
            child.wait()
            assert (newest in [c["path"] for c in checkpoints(p, url)]) == (mode != "claim"), (mode, url)
        child = p.start("run", job, "-s", savepoint, "-D", "execution.state-recovery.claim-mode=CLAIM", "-D",
                        "execution.checkpointing.num-retained=100000")
        completed(p, "endless", 1)
        child.kill()
        child.wait()
        claimed = p.dir / "store.db.claimed" if "sqlite" in url else next((p.dir / "store").glob("*/claimed"))
        assert claimed.exists() and os.path.exists(savepoint)
        child = p.start("run", job, "--continue")  # a later run deletes what an earlier one claimed
        wait_for("the savepoint is deleted", lambda: not os.path.exists(savepoint))
        wait_for("the claim is forgotten", lambda: not claimed.exists())
        child.kill()
        child.wait()
    ok(p.run("run", job, "--fresh", "--claim-mode", "perhaps"), 3)


def is_whole(p, path):
    """What a run may be started from: there, with every digest."""
    return p.run("checkpoints", "verify", path).returncode == 0


def origin_of(p, what, url):
    """A checkpoint that a killed job has left, or its savepoint, beside a store of its own."""
    job = p.write("job.yaml", ENDLESS.replace("STORE", url))
    child = p.start("run", job, "--fresh")
    completed(p, "endless")
    made = ok(p.run("savepoint", "--dir", p.dir / "sp")).stdout.decode().strip() if what == "savepoint" else None
    child.kill()
    child.wait()
    return made or checkpoints(p, url)[-1]["path"]


@test
def the_matrix_of_claim_modes(p):
    """Mode by what is restored by form: who deletes it, and when. Whole at the start; of the job with CLAIM only, and
    then with the second checkpoint of two that are kept, or with the job's own when its end deletes them."""
    keys = ["-D", "execution.checkpointing.num-retained=2", "-D",
            "execution.checkpointing.externalized-checkpoint-retention=DELETE_ON_CANCELLATION"]
    rare = ["-D", "execution.checkpointing.interval=1h"]
    for k, what in enumerate(("savepoint", "checkpoint")):
        for n, url in enumerate(stores(p)):
            origin = origin_of(p, what, url.replace("store", f"origin{k}"))
            for i, mode in enumerate(("NO_CLAIM", "LEGACY", "CLAIM")):
                where = f"{mode}, {what}, {url}"
                own = stores(p)[(n + i) % 2].replace("store", f"own{i}{k}{n}")  # in its own form, and in the other
                job = p.write("job.yaml", ENDLESS.replace("STORE", own))
                child = p.start("run", job, "--from", origin, "--claim-mode", mode, *keys, *rare)
                wait_for("the job", lambda: (p.status("endless") or {}).get("state") == "RUNNING")
                child.kill()
                child.wait()
                assert is_whole(p, origin) and not numbers(p, own), (where, "before the first checkpoint")
                ends_early = (i + k + n) % 2 == 1  # before it has two of its own
                child = p.start("run", job, "--continue", *keys, *(rare if ends_early else []))
                if ends_early:
                    wait_for("the job", lambda: (p.status("endless") or {}).get("state") == "RUNNING")
                else:
                    completed(p, "endless", 3)
                    wait_for(f"the deletion: {where}", lambda: is_whole(p, origin) == (mode != "CLAIM"))
                ok(p.run("cancel"))
                ended(child, 0)
                assert not numbers(p, own), (where, "its own behind cancel")
                assert is_whole(p, origin) == (mode != "CLAIM"), (where, "behind cancel")


@test
def a_checkpoint_is_deleted_by_its_path_but_not_under_a_job(p):
    for url in stores(p):
        job = p.write("job.yaml", ENDLESS.replace("STORE", url))
        child = p.start("run", job, "--fresh", "-D", "execution.checkpointing.num-retained=3")
        completed(p, "endless", 3)
        savepoint = ok(p.run("savepoint", "--dir", p.dir / "sp")).stdout.decode().strip()
        path = wait_for("a list", lambda: checkpoints(p, url))[0]["path"]
        done = p.run("checkpoints", "delete", path, "--force")
        assert done.returncode in (4, 5), done.stderr  # 4: it was retired meanwhile
        child.kill()
        child.wait()
        before = checkpoints(p, url)
        assert len(before) >= 3
        done = ok(p.run("checkpoints", "delete", url), 2)
        assert before[0]["path"].encode() in done.stderr
        ok(p.run("checkpoints", "delete", before[0]["path"]))
        assert numbers(p, url) == [c["id"] for c in before[1:]]
        done = ok(p.run("checkpoints", "delete", before[-1]["path"]), 4)
        assert b"--force" in done.stderr
        assert json.loads(ok(p.run("checkpoints", "delete", before[-1]["path"], "--force", "--json")).stdout)["deleted"]
        assert [c["is_retired"] for c in checkpoints(p, url)] == [True] * (len(before) - 2)
        ok(p.run("checkpoints", "delete", savepoint))
        assert not os.path.exists(savepoint)
        ok(p.run("checkpoints", "delete", savepoint), 4)


@test
def a_damaged_newest_checkpoint_is_passed_over_only_when_that_was_said(p):
    expect = undisturbed(p)
    url = stores(p)[1]
    job = p.write("job.yaml", LONG.replace("STORE", url).replace("OUT", f"{p.dir}/out/").replace(
        "interval: 10 ms", "interval: 10 ms, num-retained: 3"))
    child = p.start("run", job)
    wait_for("three checkpoints", lambda: len(checkpoints(p, url)) >= 3)
    child.kill()
    child.wait()
    found = checkpoints(p, url)
    state = os.path.join(found[-1]["path"], "state")
    with open(state, "r+b") as f:
        f.seek(3)
        byte = f.read(1)[0]
        f.seek(3)
        f.write(bytes([byte ^ 1]))
    for how in (["run", job, "--continue"], ["resume", "--from", url]):
        done = ok(p.run(*how), 4)
        assert b"chk-%d" % found[-1]["id"] in done.stderr, done.stderr
    done = ok(p.run("run", job, "--continue", "--allow-fallback"))
    assert b"going back to" in done.stderr and found[-2]["path"].encode() in done.stderr, done.stderr
    assert set(output(p)) == set(expect)


@test
def a_job_may_have_the_checkpoint_directory_for_itself(p):
    url = f"file://{p.dir}/flat"
    text = BOUNDED.replace("STORE", url).replace("externalized-checkpoint-retention: KEEP", "create-subdir: false")
    ok(p.run("run", p.write("job.yaml", text), "-q"))
    assert (p.dir / "flat" / "chk-1" / "_metadata").exists()
    assert numbers(p, url) == [1]
    ok(p.run("resume", "--from", url, "-q"))
    done = ok(p.run("run", p.write("other.yaml", text.replace("bounded", "other"))), 4)
    assert b"job 'bounded'" in done.stderr, done.stderr


@test
def several_checkpoints_at_once_and_at_least_once_run_through(p):
    expect = undisturbed(p)
    for at, more in enumerate(("max-concurrent-checkpoints: 4", "max-concurrent-checkpoints: 4, mode: AT_LEAST_ONCE",
                               "min-pause: 5 ms, max-concurrent-checkpoints: 2", "checkpoints-after-tasks-finish: false")):
        url = f"file://{p.dir}/several{at}"
        text = LONG.replace("STORE", url).replace("OUT", f"{p.dir}/several-out{at}/").replace("interval: 10 ms", f"interval: 10 ms, {more}")
        done = p.run("run", p.write("job.yaml", text), "-p", 2)
        if "AT_LEAST" in more and done.returncode == 3:
            assert b"exactly-once" in done.stderr  # a sink may not promise more than the job keeps
            continue
        ok(done)
        rows = sorted(line for f in (p.dir / f"several-out{at}").glob("part-*") for line in f.read_text().splitlines())
        assert rows == expect, more


@test
def lists_have_the_names_of_flinks_rest_api(p):
    url = stores(p)[0]
    ok(p.run("run", p.write("job.yaml", BOUNDED.replace("STORE", url).replace(", externalized-checkpoint-retention: KEEP", "")), "-q"))
    entry = checkpoints(p, url)[0]
    shown = json.loads(ok(p.run("checkpoints", "show", url, "--json")).stdout)
    assert all(shown[name] == entry[name] for name in ("id", "status", "is_savepoint", "trigger_timestamp", "state_size"))
    whole = json.loads(ok(p.run("checkpoints", "verify", "--json", url)).stdout)[0]
    assert whole["id"] == entry["id"] and whole["external_path"] == entry["external_path"]
    for name in ("id", "status", "is_savepoint", "trigger_timestamp", "latest_ack_timestamp", "checkpointed_size",
                 "state_size", "end_to_end_duration", "external_path"):
        assert name in entry, name
    assert entry["status"] == "COMPLETED" and re.fullmatch(r".*#chk-1", entry["external_path"])


TABLES = """pipeline.name: tables
execution.checkpointing: {interval: 20 ms, dir: "STORE"}
sources:
  events: {connector: nexmark, events.num: 0, rate-limit: 20000, watermark: "dateTime AS dateTime - INTERVAL '4' SECOND"}
transforms:
  counts:
    from: events
    group-by: [bidder]
    select: [bidder, COUNT(*) AS n, SUM(price) AS s, MAX(channel) AS c, AVG(CAST(price AS DOUBLE)) AS a]
  windows:
    from: events
    window: TUMBLE(dateTime, INTERVAL '10' SECOND)
    group-by: [channel]
    select: [channel, COUNT(*) AS n]
sinks:
  out: {from: counts, connector: blackhole}
  w: {from: windows, connector: blackhole}
"""


@test
def a_savepoint_in_an_sqlite_file_can_be_queried(p):
    url = stores(p)[0]
    job = p.write("job.yaml", TABLES.replace("STORE", url))
    child = p.start("run", job, "-p", 2)
    completed(p, "tables", 3)
    path = ok(p.run("stop", "--dir", p.dir / "sp")).stdout.decode().strip()
    ended(child, 0)
    db = sqlite3.connect(path)
    tables = {row[0]: row for row in db.execute("SELECT table_name, operator, name, entries, columns FROM state")}
    assert set(tables) == {"state_counts_groups", "state_windows_groups"}, tables
    assert "keys (bidder BIGINT)" in tables["state_counts_groups"][4]
    rows, counted, keys = db.execute("SELECT sum(rows), sum(count_1), count(DISTINCT bidder) FROM state_counts_groups").fetchone()
    assert rows == counted > 0 and keys == tables["state_counts_groups"][3]
    assert db.execute("SELECT count(*) FROM state_counts_groups WHERE typeof(max_3) = 'text' AND typeof(avg_4) = 'real'"
                      " AND avg_4 = CAST(sum_2 AS REAL)/sum_2_count").fetchone()[0] > 0
    assert db.execute("SELECT count(*) FROM state_windows_groups WHERE namespace % 1000 = 0 AND namespace > 0").fetchone()[0] > 0
    db.close()
    ok(p.run("checkpoints", "verify", path))
    child = p.start("resume", "--from", path, "-p", 3)  # what counts is beside the tables
    completed(p, "tables")
    later = ok(p.run("savepoint", "--dir", p.dir / "sp")).stdout.decode().strip()
    ok(p.run("cancel"))
    ended(child, 0)
    db = sqlite3.connect(later)
    assert db.execute("SELECT sum(count_1) FROM state_counts_groups").fetchone()[0] > counted
    db.execute("UPDATE state_counts_groups SET count_1 = count_1 + 1 WHERE rowid = 7")
    db.commit()
    db.close()
    done = ok(p.run("checkpoints", "verify", later), 4)
    assert b"state_counts_groups" in done.stderr, done.stderr
    child = p.start("resume", "--from", path, "-D", "savepoint.tables.max-state-size=0")
    completed(p, "tables")
    plain = ok(p.run("stop", "--dir", p.dir / "sp")).stdout.decode().strip()
    ended(child, 0)
    db = sqlite3.connect(plain)
    assert db.execute("SELECT count(*) FROM state").fetchone()[0] == 0
    db.close()


@test
def two_checkpoints_are_compared(p):
    for url in stores(p):
        job = p.write("job.yaml", TABLES.replace("STORE", url).replace("interval: 20 ms", "interval: 20 ms, num-retained: 100"))
        child = p.start("run", job, "--fresh")
        completed(p, "tables", 4)
        path = ok(p.run("stop", "--dir", p.dir / "sp")).stdout.decode().strip()
        ended(child, 0)
        for first in [c["path"] for c in checkpoints(p, url)]:  # the first ones may hold nothing yet
            diff = json.loads(ok(p.run("checkpoints", "diff", first, path, "--json")).stdout)
            counts = next(s for s in diff["states"] if s["operator"] == "counts")
            if counts["before"]["entries"] > 0:
                break
        for s in diff["states"]:
            assert s["before"]["entries"] + s["added"]["entries"] - s["removed"]["entries"] == s["after"]["entries"], s
        assert counts["added"]["entries"] > 0 and counts["changed"]["entries"] > 0 and counts["removed"]["entries"] == 0
        assert [s["moved"] for s in diff["splits"]] == [True] and diff["splits"][0]["after"] > diff["splits"][0]["before"]
        back = json.loads(ok(p.run("checkpoints", "diff", path, first, "--json")).stdout)
        turned = next(s for s in back["states"] if s["operator"] == "counts")
        assert turned["removed"]["entries"] == counts["added"]["entries"]
        same = json.loads(ok(p.run("checkpoints", "diff", path, path, "--json")).stdout)
        assert all(s["changed"]["entries"] == s["added"]["entries"] == 0 for s in same["states"])
        assert b"counts" in ok(p.run("checkpoints", "diff", first, path)).stdout
    ok(p.run("checkpoints", "diff", path), 2)
    ok(p.run("checkpoints", "diff", path, "nowhere"), 4)
