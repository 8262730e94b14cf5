"""Files and directories that may not be read: the job fails and names them, and goes on where it was once they may."""
import os
import subprocess

from harness import ok, test

NOBODY = 65534


def run(p, *args):
    """As somebody whom modes of files bind, root or not."""
    more = {"user": NOBODY} if os.geteuid() == 0 else {}
    return subprocess.run([p.binary, *map(str, args)], cwd=p.dir, env=p.env, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, **more)


def job(p, path, more=""):
    return p.write("job.yaml", f"""execution.checkpointing: {{interval: 1h, dir: ckpt}}
restart-strategy.type: none
sources: {{e: {{connector: filesystem, path: "{path}", format: csv, schema: {{n: INT}}}}}}
sinks: {{o: {{from: e, connector: filesystem, path: out/, format: csv}}}}
{more}""")


def filled(p):
    os.chmod(p.dir, 0o777)
    for i, name in enumerate(("a.csv", "b.csv", "sub/c.csv")):
        p.write(f"in/{name}", f"{i}\n")


def rows(p):
    return sorted(line for f in (p.dir / "out").glob("part-*") for line in f.read_text().splitlines())


@test
def what_may_not_be_read_is_named(p):
    filled(p)
    for closed, path, named in (("in/b.csv", "in/", "open {}/in/b.csv"), ("in/b.csv", "in/*.csv", "open {}/in/b.csv"),
                                ("in/sub", "in/", "list {}/in/sub"), ("in/sub", "in/**/*.csv", "list {}/in/sub"), ("in", "in/", "list {}/in")):
        os.chmod(p.dir / closed, 0)
        done = run(p, "run", job(p, path), "--fresh")
        os.chmod(p.dir / closed, 0o755)
        assert done.returncode == 1, (closed, path, done)
        assert f"source 'e': {named.format(p.dir)}: Permission denied".encode() in done.stderr, (closed, path, done.stderr)
        assert not rows(p), "nothing is shown of a run that failed"


@test
def a_directory_that_no_pattern_enters_may_be_closed(p):
    filled(p)
    os.chmod(p.dir / "in" / "sub", 0)
    ok(run(p, "run", job(p, "in/*.csv")))
    os.chmod(p.dir / "in" / "sub", 0o755)
    assert rows(p) == ["0", "1"], rows(p)


@test
def a_file_that_may_be_read_again_is_read_once(p):
    filled(p)
    path = job(p, "in/")
    os.chmod(p.dir / "in" / "sub" / "c.csv", 0)
    ok(run(p, "run", path, "--continue"), 1)
    os.chmod(p.dir / "in" / "sub" / "c.csv", 0o644)
    ok(run(p, "run", path, "--continue"))
    assert rows(p) == ["0", "1", "2"], rows(p)


@test
def a_sink_that_may_not_write_is_named(p):
    filled(p)
    (p.dir / "out").mkdir()
    os.chmod(p.dir / "out", 0o555)
    done = run(p, "run", job(p, "in/"))
    assert done.returncode == 1 and b"sink 'o'" in done.stderr and b"Permission denied" in done.stderr and b"out/" in done.stderr, done.stderr
