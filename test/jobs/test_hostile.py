"""What the world does to a process: closed descriptors, limits, stopped processes, odd files."""
import os
import resource
import signal
import socket
import subprocess
import time

from harness import SIGTERM, ended, ok, test, wait_for
from test_state import ENDLESS

LINES = """sources:
  events: {connector: filesystem, path: in, format: raw, schema: {line: STRING}, on-error: skip}
sinks:
  out: {from: events, connector: filesystem, path: out, format: raw}
"""
PIPED = """sources:
  events: {connector: stdin, format: raw, schema: {line: STRING}}
sinks:
  out: {from: events, connector: stdout, format: raw}
"""


def shell(p, words):
    """The binary through a shell, with its redirections."""
    return subprocess.run(["sh", "-c", f'exec "{p.binary}" {words}'], cwd=p.dir, env=p.env, capture_output=True,
                          timeout=60)


@test
def a_closed_descriptor_is_said_and_no_other_file_takes_its_place(p):
    p.write("job.yaml", PIPED)
    for redirection, word in ((">&-", b"stdout"), ("<&-", b"stdin"), ("1</dev/null </dev/null", b"stdout"),
                              ("</dev/null >/dev/full", b"")):
        done = ok(shell(p, f"run job.yaml {redirection}"), 0 if not word else 1)
        assert word in done.stderr, done.stderr
    ok(shell(p, "run job.yaml <&- >&- 2>&-"), 1)
    p.write("out.yaml", "sources: {events: {connector: nexmark, events.num: 100}}\n"
                        "sinks: {out: {from: events, connector: print}}\n")
    ok(shell(p, "run out.yaml -D execution.checkpointing.dir=store.db >&- -D restart-strategy.type=none"), 1)
    assert b"+I[" not in (p.dir / "store.db").read_bytes()


@test
def a_full_output_fails_even_if_only_the_last_row_meets_it(p):
    p.write("job.yaml", PIPED)
    done = subprocess.run(["sh", "-c", f'echo one | "{p.binary}" run job.yaml > /dev/full'], cwd=p.dir, env=p.env,
                          capture_output=True, timeout=60)
    assert done.returncode == 1 and b"No space left" in done.stderr, done.stderr


@test
def a_job_may_come_from_a_pipe(p):
    p.write("in", "a\n")
    ok(p.run("run", "/dev/stdin", "-D", f"sources.events.path={p.dir}/in", "-D", f"sinks.out.path={p.dir}/out.txt",
             stdin=LINES.encode()))
    assert (p.dir / "out.txt").read_text() == "a\n"


@test
def a_file_larger_than_allowed_is_an_error_with_words(p):
    p.write("in", "0123456789\n" * 2000)
    job = p.write("job.yaml", LINES.replace("path: out", "path: out.txt"))
    done = subprocess.run([p.binary, "run", job], cwd=p.dir, env=p.env, capture_output=True, timeout=60,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000)))
    assert done.returncode == 1 and b"File too large" in done.stderr, (done.returncode, done.stderr)
    assert not (p.dir / "out.txt").exists()


@test
def few_descriptors_are_enough_for_many_files(p):
    for i in range(500):
        p.write(f"in/{i}", f"{i}\n")
    job = p.write("job.yaml", LINES.replace("path: out", "path: out.txt"))
    done = subprocess.run([p.binary, "run", job], cwd=p.dir, env=p.env, capture_output=True, timeout=60,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
    ok(done)
    assert sorted(map(int, (p.dir / "out.txt").read_text().split())) == list(range(500))


@test
def a_record_over_the_limit_is_skipped_and_its_neighbours_are_read(p):
    p.write("in", b"a\n" + b"x" * 70_000_000 + b"\nb\n")
    job = p.write("job.yaml", LINES.replace("path: out", "path: out.txt"))
    done = ok(p.run("run", job))
    assert (p.dir / "out.txt").read_text() == "a\nb\n" and b"skipped 1" in done.stderr
    done = ok(p.run("run", job, "-D", "sources.events.on-error=fail"), 1)
    assert b"source.max-record-size" in done.stderr and b"byte 2 " in done.stderr, done.stderr


@test
def a_stopped_process_is_not_taken_for_an_ended_one(p):
    job = p.write("job.yaml", ENDLESS.replace("STORE", f"file://{p.dir}/store"))
    child = p.start("run", job)
    wait_for("the job", lambda: p.status())
    child.send_signal(signal.SIGSTOP)
    try:
        done = ok(p.run("status"), 1)
        assert b"does not answer" in done.stderr
        ok(p.run("run", job, "--continue"), 5)
    finally:
        child.send_signal(signal.SIGCONT)
    assert wait_for("its answer", lambda: p.status())
    child.send_signal(SIGTERM)
    ended(child, 0)


@test
def a_signal_that_comes_twice_at_once_is_one_wish(p):
    """timeout(1) signals a process and then its group; a second wish, later on, ends the process at once."""
    job = p.write("job.yaml", ENDLESS.replace("STORE", f"file://{p.dir}/store"))
    child = p.start("run", job)
    wait_for("the job", lambda: p.status())
    child.send_signal(signal.SIGSTOP)
    child.send_signal(SIGTERM)
    child.send_signal(signal.SIGINT)
    child.send_signal(signal.SIGCONT)
    ended(child, 0)
    stuck = p.start("run", p.write("stuck.yaml", """execution.checkpointing: {interval: 1 h, dir: stuck}
sources: {n: {connector: datagen, schema: {a: STRING}}}
sinks: {out: {from: n, connector: print}}
"""))  # nobody reads what it prints, so no last checkpoint is taken
    wait_for("a full pipe", lambda: max([v["read-records"] for v in (p.status() or {}).get("vertices", [])], default=0) >= 1024)

    def again():
        stuck.send_signal(SIGTERM)
        time.sleep(0.1)
        return stuck.poll() is not None
    wait_for("the end", again)
    ended(stuck, 143)


@test
def silent_clients_are_let_go_and_no_one_is_told_that_no_job_runs(p):
    job = p.write("job.yaml", ENDLESS.replace("STORE", f"file://{p.dir}/store"))
    child = p.start("run", job)
    wait_for("the job", lambda: p.status())
    at = next((p.dir / "run").glob("*.sock"))
    clients = []
    for _ in range(40):
        s = socket.socket(socket.AF_UNIX)
        s.setblocking(False)
        try:
            s.connect(str(at))
        except OSError:
            break
        clients.append(s)
    done = p.run("status")
    assert done.returncode in (0, 1) and (done.returncode == 0 or b"does not answer" in done.stderr), done.stderr
    for s in clients:
        s.close()
    assert wait_for("its answer", lambda: p.status())
    child.send_signal(SIGTERM)
    ended(child, 0)


@test
def what_is_no_store_is_named_as_that(p):
    p.write("other.db", b"hello" * 1000)
    p.write("empty.db", b"")
    os.mkfifo(p.dir / "pipe.db")
    p.write("job.yaml", "sources: {events: {connector: nexmark, events.num: 100}}\n"
                        "sinks: {out: {from: events, connector: blackhole}}\n")
    for name in ("other.db", "empty.db", "pipe.db"):
        for how in ((), ("--fresh",)):
            done = p.run("run", "job.yaml", "-D", f"execution.checkpointing.dir=sqlite://{p.dir}/{name}", *how,
                         timeout=20)
            assert done.returncode in (1, 4) and name.encode() in done.stderr, (name, done.stderr)
            assert b"unfinished" not in done.stderr
    assert (p.dir / "other.db").read_bytes() == b"hello" * 1000


@test
def an_option_without_a_value_is_wrong_usage(p):
    ok(p.run("savepoint", "--dir", ""), 2)
    ok(p.run("run", "job.yaml", "--from", ""), 2)


@test
def a_full_disk_fails_checkpoints_and_not_the_job(p):
    """On a small file system of its own: the checkpoint fails and counts, the next one after space is freed succeeds."""
    disk = p.dir / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)], capture_output=True)
    assert mounted.returncode == 0, f"this test needs root and tmpfs: {mounted.stderr}"
    try:
        for url in (f"file://{disk}/store", f"sqlite://{disk}/store.db"):
            job = p.write("job.yaml", ENDLESS.replace("STORE", url))
            child = p.start("run", job, "-D", "execution.checkpointing.tolerable-failed-checkpoints=1000000", "-D",
                            "sources.events.rate-limit=20000")
            count = lambda what: ((p.status() or {}).get("checkpoints") or {}).get(what, 0)
            wait_for("a checkpoint", lambda: count("completed") > 0)
            with open(disk / "full", "wb", buffering=0) as f:
                try:
                    while f.write(b"x" * 4096):
                        pass
                except OSError:
                    pass
            failed = count("failed")
            wait_for("a failed checkpoint", lambda: count("failed") > failed)
            words = p.status()["checkpoint-failure"]
            assert "space" in words or "full" in words, words
            (disk / "full").unlink()
            done = count("completed")
            wait_for("a checkpoint in freed space", lambda: count("completed") > done + 1)
            child.send_signal(SIGTERM)
            ended(child, 0)
            ok(p.run("checkpoints", "verify", url))
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
