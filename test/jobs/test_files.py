"""The filesystem source as people use it: which files, what is known of them, what was read already."""
import bz2
import configparser
import gzip
import lzma
import os
import random
import re
import shutil
import subprocess
import time

from harness import ROOT, SIGTERM, ended, ok, test, wait_for

METADATA = """
sources:
  events:
    connector: filesystem
    path: in
    format: csv
    schema: |
      name STRING METADATA FROM 'file.name',
      id BIGINT,
      path STRING METADATA FROM 'file.path' VIRTUAL,
      size INT METADATA FROM 'file.size',
      changed TIMESTAMP_LTZ(3) METADATA FROM 'file.modification-time',
      v STRING,
      twice AS size * 2
transforms:
  some: {from: events, select: [%s]}
sinks:
  out: {connector: print, from: some}
"""


@test
def metadata_tells_of_the_file(place):
    """Path, name, size and time of the file stand beside each row, as declared: cast, and seen by computed columns."""
    for name, text in (("a.csv", "1,x\n2,y\n"), ("b.csv", "3,z\n")):
        os.utime(place.write("in/" + name, text), ns=(0, 1_700_000_000_123_456_789 + ord(name[0])))
    path = place.dir / "in"
    place.write("j.yaml", METADATA % "name, id, path, size, changed, v, twice")
    rows = sorted(ok(place.run("run", "j.yaml")).stdout.decode().splitlines())
    assert rows == [f"+I[a.csv, 1, {path}/a.csv, 8, 2023-11-14T22:13:20.123Z, x, 16]",
                    f"+I[a.csv, 2, {path}/a.csv, 8, 2023-11-14T22:13:20.123Z, y, 16]",
                    f"+I[b.csv, 3, {path}/b.csv, 4, 2023-11-14T22:13:20.123Z, z, 8]"], rows
    place.write("j.yaml", METADATA % "v, id")
    assert sorted(ok(place.run("run", "j.yaml")).stdout.decode().split("\n"))[1:] == ["+I[x, 1]", "+I[y, 2]", "+I[z, 3]"]
    plan = ok(place.run("plan", "j.yaml")).stdout.decode()
    assert "2 of 6 columns: id, v" in plan, plan


@test
def unknown_metadata_is_a_fault(place):
    """A key that the connector does not have is a fault with the nearest and with all of them."""
    place.write("in/a.csv", "1,x\n")
    place.write("j.yaml", METADATA.replace("file.name", "file.nam") % "name")
    words = ok(place.run("run", "j.yaml"), 3).stderr.decode()
    assert "connector 'filesystem' has no metadata 'file.nam'" in words, words
    assert "did you mean 'file.name'? there is: file.path, file.name, file.size, file.modification-time" in words, words
    listed = ok(place.run("connectors", "filesystem")).stdout.decode()
    assert "file.modification-time  TIMESTAMP_LTZ(3) NOT NULL" in listed, listed


LINES = """
sources:
  events: {connector: filesystem, path: in, format: raw, schema: {v: STRING}%s}
sinks:
  out: {connector: stdout, from: events, format: raw}
"""


def lines(done):
    return done.stdout.decode().splitlines()


@test
def compressed_files_are_read_whatever_they_are_called(place):
    """All members of gzip, zstd, lz4, bzip2 and xz files are read; the first bytes decide, not the name (E06)."""
    text = "".join(f"{i},row\n" for i in range(20000)).encode()
    packed = {"a.csv.gz": gzip.compress(text), "b.bin": bz2.compress(text), "c": lzma.compress(text), "plain.gz": text}
    for name, tool in (("d.zst", "zstd"), ("e.txt", "lz4")):
        try:
            packed[name] = subprocess.run([tool, "-c"], input=text, capture_output=True, check=True).stdout
        except FileNotFoundError:
            pass  # the unit tests make these kinds without tools
    for name, data in packed.items():
        place.write("in/" + name, data)
    place.write("j.yaml", LINES % "")
    assert sorted(lines(ok(place.run("run", "j.yaml")))) == sorted(text.decode().splitlines() * len(packed))
    for name in packed:
        os.unlink(place.dir / "in" / name)
    members = b"".join(gzip.compress(b"%d\n" % i, mtime=0) for i in range(1000))
    size = 65536  # of a member that ends where a read does
    edge = next(g for g in (gzip.compress(b"x" * n + b"\n", 0, mtime=0) for n in range(size - 50, size)) if len(g) == size)
    place.write("in/m.gz", gzip.compress(b"a\n") + gzip.compress(b"b\n") + b"\0" * 512)
    place.write("in/n.gz", members)
    assert sorted(lines(ok(place.run("run", "j.yaml")))) == sorted(["a", "b"] + [str(i) for i in range(1000)])
    place.write("in/m.gz", edge + gzip.compress(b"last\n"))
    assert ok(place.run("run", "j.yaml")).stdout.split(b"\n")[-2] in (b"last", b"999")
    assert b"\nlast\n" in place.run("run", "j.yaml").stdout


@test
def damaged_compressed_files_are_no_end(place):
    """Cut short, a wrong CRC, junk behind it: the job fails with the file's name, under any restart strategy (E07)."""
    good = gzip.compress(b"a\n" * 500)
    flipped = bytearray(good)
    flipped[-7] ^= 1
    for extra in ("", "}\nexecution.checkpointing: {interval: 10s, dir: state"):
        place.write("j.yaml", (LINES % "").strip() + ("" if not extra else "\n" + extra[2:] + "}\n"))
        for data, words in ((good[:-6], "unexpected end of its gzip data at byte"), (bytes(flipped), "CRC mismatch"),
                            (good + b"junk", "its gzip data are damaged near byte")):
            path = place.write("in/x.gz", data)
            done = ok(place.run("run", "j.yaml", "--fresh"), 1)
            assert path in done.stderr.decode() and words in done.stderr.decode(), done.stderr
    place.write("in/x.gz", good)
    ok(place.run("run", "j.yaml", "--continue"))


@test
def a_line_of_a_bomb_is_bounded(place):
    """A compressed line over source.max-record-size is a bad row, found without holding it."""
    place.write("in/x.gz", gzip.compress(b"ok\n" + b"0" * 200_000_000 + b"\nok too\n"))
    place.write("j.yaml", LINES % ", on-error: skip, source.max-record-size: 1mb")
    done = ok(place.run("run", "j.yaml"))
    assert lines(done) == ["ok", "ok too"] and "skipped 1" in done.stderr.decode(), done
    place.write("j.yaml", LINES % ", source.max-record-size: 1mb")
    assert "byte 3 is longer than source.max-record-size" in ok(place.run("run", "j.yaml"), 1).stderr.decode()


# --- Runs from cron -------------------------------------------------------------------------------

CRON = """
execution.checkpointing.dir: state
sources:
  events: {connector: filesystem, path: "%s", format: csv, csv.header: skip, schema: {id: BIGINT, v: STRING}%s}
sinks:
  out: {connector: filesystem, path: out.csv, format: csv, from: events}
"""


class Cron:
    """A job that is run again and again with --continue."""

    def __init__(self, place, path, more=""):
        self.place = place
        self.had = []
        place.write("j.yaml", CRON % (path, more))

    def run(self, *args, code=0):
        """The rows that this run added."""
        done = ok(self.place.run("run", "j.yaml", "--continue", *args), code)
        rows = (self.place.dir / "out.csv").read_text().splitlines()
        assert rows[:len(self.had)] == self.had, (rows, self.had)
        new, self.had, self.words = rows[len(self.had):], rows, done.stderr.decode()
        return sorted(new)

    def path(self, name):
        return self.place.dir / name

    def append(self, name, text):
        with open(self.path(name), "a") as f:
            f.write(text)


@test
def continue_takes_what_was_appended(place):
    """New files and growth of old ones; a last line without its newline waits for it, or for --drain."""
    cron = Cron(place, "in")
    place.write("in/a.csv", "id,v\n1,x\n2,y\n3,hal")
    place.write("in/empty.csv", "")
    assert cron.run() == ["1,x", "2,y"]
    assert cron.run() == []
    cron.append("in/a.csv", "f\n4,z\n5")
    place.write("in/b.csv", "id,v\n10,b\n")
    cron.append("in/empty.csv", "id,v\n")
    assert cron.run() == ["10,b", "3,half", "4,z"]
    cron.append("in/empty.csv", "20,c\n")
    assert cron.run() == ["20,c"]
    cron.append("in/a.csv", ",last")
    assert cron.run() == []
    assert cron.run("--drain") == ["5,last"]
    cron.append("in/a.csv", "\n6,more\n")
    assert cron.run() == ["6,more"]


@test
def equal_files_are_two(place):
    """Files with the same first bytes, or both empty, are different files (E05)."""
    cron = Cron(place, "in")
    place.write("in/a.csv", "id,v\n1,x\n")
    place.write("in/c.csv", "")
    place.write("in/d.csv", "")
    assert cron.run() == ["1,x"]
    place.write("in/b.csv", "id,v\n1,x\n2,y\n")
    assert cron.run() == ["1,x", "2,y"]
    for name in "cd":
        cron.append(f"in/{name}.csv", "id,v\n9,z\n")
    assert cron.run() == ["9,z", "9,z"]


@test
def rotation_between_runs_loses_and_doubles_nothing(place):
    """Rename, copy and truncate (E01), compression, replacement by a longer edition: each row once."""
    cron = Cron(place, "log/app*")
    place.write("log/app.log", "id,v\n1,a\n2,b\n")
    assert cron.run() == ["1,a", "2,b"]
    cron.append("log/app.log", "3,c\n")                                      # rename, with an unread rest
    os.rename(cron.path("log/app.log"), cron.path("log/app.log.1"))
    place.write("log/app.log", "id,v\n4,d\n")
    assert cron.run() == ["3,c", "4,d"]
    cron.append("log/app.log", "5,e\n")                                      # copy and truncate, with one
    place.write("log/app-20261130.log", cron.path("log/app.log").read_text())
    os.truncate(cron.path("log/app.log"), 0)
    cron.append("log/app.log", "id,v\n6,f\n")
    assert cron.run() == ["5,e", "6,f"]
    for name in ("app.log.1", "app-20261130.log"):                           # compression
        path = cron.path("log/" + name)
        place.write(f"log/{name}.gz", gzip.compress(path.read_bytes()))
        os.unlink(path)
    os.rename(cron.path("log/app.log.1.gz"), cron.path("log/app.log.2.gz"))
    assert cron.run() == []
    cron.append("log/app.log", "7,g\n")                                      # rename and compression at once
    place.write("log/app.log.1.gz", gzip.compress(cron.path("log/app.log").read_bytes()))
    os.unlink(cron.path("log/app.log"))
    place.write("log/app.log", "id,v\n8,h\n")
    assert cron.run() == ["7,g", "8,h"]
    place.write("log/new", cron.path("log/app.log").read_text() + "9,i\n")   # a longer edition by rename
    os.rename(cron.path("log/new"), cron.path("log/app.log"))
    assert cron.run() == ["9,i"]
    text = cron.path("log/app.log").read_text()
    for part in (text[:8], text):                                            # a run in the middle of copying
        place.write("log/app.log.1", part)
        assert cron.run() == []
    os.truncate(cron.path("log/app.log"), 0)
    cron.append("log/app.log", "id,v\n10,j\n")
    assert cron.run() == ["10,j"]
    os.unlink(cron.path("log/app.log.1.gz"))
    assert cron.run() == [] and cron.run() == [] and cron.run() == []


@test
def a_file_written_anew_begins_at_its_first_byte(place):
    """Truncated and grown past the old position between two looks, same inode (E02); and replaced by other contents."""
    cron = Cron(place, "a.csv")
    place.write("a.csv", "id,v\n1,x\n2,y\n")
    assert cron.run() == ["1,x", "2,y"]
    inode = os.stat(cron.path("a.csv")).st_ino
    with open(cron.path("a.csv"), "r+") as f:
        f.truncate(0)
        f.write("id,v\n100,aaaa\n200,bbbb\n")
    assert os.stat(cron.path("a.csv")).st_ino == inode
    assert cron.run() == ["100,aaaa", "200,bbbb"]
    place.write("new", "id,v\n7,other\n")
    os.rename(cron.path("new"), cron.path("a.csv"))
    assert cron.run() == ["7,other"]
    os.unlink(cron.path("a.csv"))
    assert cron.run() == []


@test
def what_was_not_read_may_change(place):
    """A line without its newline was seen and left: whatever becomes of the file then, its first row comes first."""
    cron = Cron(place, "in")
    for i, (first, then) in enumerate((("1,hal", "2,other\n"), ("1,hal", "2,\n"), ("1,half of a long li", "2,x\n3,y\n"))):
        name = f"in/{i}.csv"
        place.write(name, "id,v\n")
        assert cron.run() == []
        os.truncate(cron.path(name), 0)
        cron.append(name, first)
        assert cron.run("-D", "sources.events.csv.header=none") == []
        os.truncate(cron.path(name), 0)
        cron.append(name, then)
        assert cron.run("-D", "sources.events.csv.header=none") == then.replace(",\n", ',""\n').split(), i


@test
def each_file_is_read_once_whatever_leads_to_it(place):
    """Links to a file are not further files; dangling ones and loops are told and not fatal (E14)."""
    cron = Cron(place, "in/*.csv")
    place.write("in/m.csv", "id,v\n1,x\n")
    os.symlink("m.csv", cron.path("in/a.csv"))
    os.symlink(cron.path("in/m.csv"), cron.path("in/z.csv"))
    os.link(cron.path("in/m.csv"), cron.path("in/hard.csv"))
    os.symlink("nowhere", cron.path("in/dangling.csv"))
    os.symlink("loop.csv", cron.path("in/loop.csv"))
    assert cron.run() == ["1,x"]
    assert "loop.csv is a link that leads nowhere, and there are more: left out" in cron.words, cron.words
    os.unlink(cron.path("in/m.csv"))
    cron.append("in/hard.csv", "2,y\n")
    assert cron.run() == ["2,y"]


@test
def a_regular_expression_chooses_files(place):
    """source.path.regex-pattern matches whole absolute paths, of directories below too; a wrong one is a fault."""
    for name in ("in/a.csv", "in/b.txt", "in/deep/c.csv", "in/deep/d.csv.bak"):
        place.write(name, f"id,v\n1,{name}\n")
    cron = Cron(place, "in", ", source.path.regex-pattern: '.*/(a|c)[.]csv'")
    assert cron.run() == ["1,in/a.csv", "1,in/deep/c.csv"]
    place.write("j.yaml", CRON % ("in", ", source.path.regex-pattern: '(a'"))
    assert b"source.path.regex-pattern is no regular expression" in ok(place.run("validate", "j.yaml"), 3).stderr


@test
def large_files_go_on_piece_by_piece(place):
    """A file that is cut into splits grows by less and by more than a split; the state does not grow with runs."""
    cron = Cron(place, "a.csv", ", source.split-size: 1kb")
    place.write("a.csv", "id,v\n")
    expected, at = [], 0
    for rows in (1, 400, 3, 0, 1000, 1, 1):
        new = [f"{i},row number {i}" for i in range(at, at + rows)]
        at += rows
        cron.append("a.csv", "".join(r + "\n" for r in new[:-1]) + "".join(new[-1:])[:7])
        assert cron.run("-p", "2") == sorted(new[:-1]), rows
        cron.append("a.csv", "".join(new[-1:])[7:] + ("\n" if new else ""))
        assert cron.run() == sorted(new[-1:]), rows
    sizes = []
    for i in range(6):
        cron.append("a.csv", f"{i},z\n")
        assert cron.run() == [f"{i},z"]
        sizes.append(sum(p.stat().st_size for p in place.dir.glob("state/*/chk-*/*")))
    assert max(sizes) - min(sizes) < 600, sizes


# --- Following ------------------------------------------------------------------------------------

FOLLOW = """
execution.checkpointing: {dir: state, interval: 50ms}
sources:
  events: {connector: filesystem, path: "%s", format: raw, source.monitor-interval: 20ms, schema: {v: STRING}}
sinks:
  out: {connector: filesystem, path: out/, format: raw, from: events}
"""


class Follower:
    """A job that follows files; its rows are counted as they appear."""

    def __init__(self, place, path):
        self.place = place
        place.write("j.yaml", FOLLOW % path)
        self.start()

    def start(self):
        self.child = self.place.start("run", "j.yaml", "--continue", "-p", "2")

    def rows(self):
        return sorted(line for part in self.place.dir.glob("out/part-*") for line in part.read_text().splitlines())

    def has(self, rows):
        wait_for(f"{sorted(rows)}, there is {self.rows()[:50]}", lambda: len(self.rows()) >= len(rows))
        assert self.rows() == sorted(rows), self.rows()

    def stop(self):
        self.child.send_signal(SIGTERM)
        ended(self.child)


@test
def followed_files_are_rotated(place):
    """Copy and truncate, running and stopped (E01); truncated and grown past the position (E02); rename (A04)."""
    log, rows = place.dir / "app.log", ["1", "2", "3"]
    log.write_text("1\n2\n3\n")
    job = Follower(place, "app.log*")
    job.has(rows)
    for turn in range(4):
        if turn % 2:
            job.stop()
        (place.dir / f"app.log.{turn}").write_bytes(log.read_bytes())
        os.truncate(log, 0)
        rows.append(str(4 + turn))
        with open(log, "a") as f:
            f.write(rows[-1] + "\n")
        if turn % 2:
            job.start()
        job.has(rows)
    with open(log, "r+") as f:
        f.truncate(0)
        f.write("aaaa\nbbbb\ncccc\n")
    rows += ["aaaa", "bbbb", "cccc"]
    job.has(rows)
    job.stop()
    with open(log, "a") as f:
        f.write("rest\n")
    os.rename(log, place.dir / "app.log.x")
    log.write_text("new\n")
    job.start()
    rows += ["rest", "new"]
    job.has(rows)
    job.stop()


@test
def a_renamed_file_is_read_to_its_end(place):
    """A writer that renames every few lines and writes on behind it: each line once, within and beyond the path (E03)."""
    for path in ("app.log*", "app.log"):
        for old in [*place.dir.glob("app.log*"), *place.dir.glob("out/part-*")]:
            os.unlink(old)
        shutil.rmtree(place.dir / "state", ignore_errors=True)
        log, rows = place.dir / "app.log", []
        log.write_text("")
        job = Follower(place, path)
        steps = 400 if path == "app.log*" else 2
        f = open(log, "a")
        for i in range(steps):
            print(i, file=f, flush=True)
            rows.append(str(i))
            if path == "app.log":
                job.has(rows)  # seen by its path; where it goes from there, only the descriptor knows
            if i % 50 == 49 or path == "app.log":
                os.rename(log, place.dir / f"app.log.{i}")
                old, f = f, open(log, "a")
                for k in range(5):
                    print(f"{i}-{k}", file=old, flush=True)
                    rows.append(f"{i}-{k}")
                old.close()
        f.close()
        job.has(rows)
        job.stop()


@test
def a_link_that_is_retargeted_is_followed(place):
    """A followed path that is a link and leads elsewhere: the new file is read, and the old one for a while (E14)."""
    place.write("v1.log", "1\n")
    os.symlink("v1.log", place.dir / "current")
    job = Follower(place, "current")
    job.has(["1"])
    place.write("v2.log", "2\n3\n")
    os.symlink("v2.log", place.dir / "next")
    os.rename(place.dir / "next", place.dir / "current")
    job.has(["1", "2", "3"])
    with open(place.dir / "v1.log", "a") as f:
        f.write("4\n")
    job.has(["1", "2", "3", "4"])
    job.stop()


@test
def more_files_than_descriptors(place):
    """500 files are followed, and read once, with 64 descriptors; files that are gone are let go (J15, J14)."""
    for i in range(500):
        place.write(f"in/{i}.log", f"{i}\n")
    place.write("j.yaml", FOLLOW % "in/*.log")
    place.binary, binary = "/bin/sh", place.binary
    child = place.start("-c", f"ulimit -n 64; exec {binary} run j.yaml --continue -p 2")
    place.binary = binary
    job = Follower.__new__(Follower)
    job.place, job.child = place, child
    rows = [str(i) for i in range(500)]
    job.has(rows)
    for i in range(0, 500, 7):
        with open(place.dir / f"in/{i}.log", "a") as f:
            f.write(f"more {i}\n")
        rows.append(f"more {i}")
    job.has(rows)
    job.stop()


@test
def a_run_that_is_still_going_is_waited_for(place):
    """--wait-lock: the next run begins when the one before has ended; after its time exit code 5."""
    place.write("in/a.csv", "id,v\n1,x\n")
    more = ', source.monitor-interval: 20ms'
    place.write("j.yaml", (CRON % ("in", more)).replace("out.csv", "out"))
    child = place.start("run", "j.yaml", "--continue")
    wait_for("it runs", lambda: place.status())
    for words in (["--continue"], []):
        done = ok(place.run("run", "j.yaml", *words, "--wait-lock", "200ms"), 5)
        assert b"j" in done.stderr, done.stderr
    ok(place.run("run", "j.yaml", "--continue", "--wait-lock", "soon"), 2)
    place.write("j.yaml", (CRON % ("in", "")).replace("out.csv", "out"))
    waiting = place.start("run", "j.yaml", "--continue", "--wait-lock", "1min")
    time.sleep(0.3)
    assert waiting.poll() is None
    child.send_signal(SIGTERM)
    ended(child)
    ended(waiting)


@test
def the_lines_for_cron_and_systemd_work(place):
    """The crontab line, the unit, the CI step and the pipe of README run as they stand there."""
    text = (ROOT / "README.md").read_text()
    line = re.search(r"^    \*/5 \* \* \* \* (.*)$", text, re.M).group(1)
    unit = configparser.ConfigParser(interpolation=None, delimiters="=")
    unit.optionxform = str
    unit.read(ROOT / "scripts" / "streamrun@.service")
    service = unit["Service"]
    timer = (ROOT / "scripts" / "streamrun@.timer").read_text()
    assert "OnCalendar=*:0/5" in timer and "Persistent=true" in timer
    place.write("in/a.csv", "id,v\n1,x\n")
    job = place.write("etc/page-hits.yaml", (CRON % (place.dir / "in", "")).replace("out.csv", str(place.dir / "out.csv")))
    (place.dir / "bin").mkdir()
    (place.dir / "bin" / "streamrun").symlink_to(place.binary)
    env = {**place.env, "PATH": f"{place.dir / 'bin'}:{os.environ['PATH']}"}

    def shell(command):
        command = command.replace("/etc/streamrun/", str(place.dir / "etc") + "/").replace("/usr/local/bin/", "")
        return ok(subprocess.run(["sh", "-c", command], cwd=place.dir, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                                 timeout=60))

    done = shell(line)
    assert not done.stdout and not done.stderr, done  # cron sends mail of every word
    with open(place.dir / "in/a.csv", "a") as f:
        f.write("2,y\n")
    shell(service["ExecStart"].replace("%i", "page-hits"))
    assert (place.dir / "out.csv").read_text() == "1,x\n2,y\n"
    assert service["SuccessExitStatus"] == "9" and service["RestartPreventExitStatus"] == "2 3 4 5"
    os.makedirs(place.dir / "jobs")
    shutil.copy(job, place.dir / "jobs")
    shell(re.search(r"^    - run: (.*)$", text, re.M).group(1))
    place.write("app.log", "an error\nfine\n")
    place.write("app.log.1.gz", gzip.compress(b"an error\n"))
    place.write("filter.yaml", re.search(r"`filter.yaml`:\n\n```yaml\n(.*?)```", text, re.S).group(1))
    done = shell(re.search(r"^    (zcat -f .*)$", text, re.M).group(1))
    assert done.stdout.split() == [b"2", b"an", b"error"], done


# --- Runs cut anywhere ----------------------------------------------------------------------------

CUT = """
sources:
  events: {connector: filesystem, path: "%s", format: csv, source.split-size: %s, schema: {ts: TIMESTAMP(3), k: STRING, v: BIGINT},
           watermark: ts AS ts - INTERVAL '2' SECOND}
transforms:
  big: {from: events, where: v %% 3 <> 0}
  sums: {from: events, window: "TUMBLE(ts, INTERVAL '10' SECOND)", group-by: [k], select: [window_start, k, COUNT(*) AS n, SUM(v) AS s]}
sinks:
  out1: {connector: filesystem, path: %s/big.csv, format: csv, from: big}
  out2: {connector: filesystem, path: %s/sums.csv, format: csv, from: sums}
"""


def made(seed, rows, has_late):
    """Lines of CSV whose times rise, with a little disorder that the watermark bears, and some rows that are late."""
    at, draw = 0, random.Random(seed)
    for i in range(rows):
        at += draw.choice((0, 0, 1, 1, 2, 7))
        back = draw.choice((0, 0, 0, 1, 2)) if not has_late or draw.random() > 0.03 else 40
        second = max(0, at - back)
        yield f"2026-01-01 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000,k{draw.randrange(3)},{i}\n"


def results(place, name):
    return [sorted((place.dir / name / f).read_text().splitlines()) for f in ("big.csv", "sums.csv")]


@test
def runs_cut_anywhere_give_the_rows_of_one(place):
    """Input that grows and is rotated between runs, cut within lines too: all runs together give the rows of one run.

    Which rows are late is the same too where the order of rows is: in one file that is not read in pieces.
    """
    for seed in range(6):
        has_late = seed % 2 == 0
        draw, text, size = random.Random(seed), "".join(made(seed, 400, has_late)), "1gb" if has_late else "512b"
        place.write(f"whole{seed}.log", text)
        for name in ("one", "many"):
            (place.dir / f"{name}{seed}").mkdir()
        place.write("whole.yaml", CUT % (f"whole{seed}.log", size, f"one{seed}", f"one{seed}"))
        words = ok(place.run("run", "whole.yaml")).stderr.decode()
        assert words.count("late 0 ") == (1 if has_late else 2), words
        place.write(f"cut{seed}.yaml", CUT % (f"in{seed}/app*", size, f"many{seed}", f"many{seed}"))
        cuts = sorted(draw.sample(range(1, len(text)), 7)) + [len(text)]
        log, at, parts = place.dir / f"in{seed}" / "app.log", 0, 0
        log.parent.mkdir()
        log.touch()
        for turn, cut in enumerate(cuts):
            cut = max(cut, at)
            with open(log, "a") as f:
                f.write(text[at:cut])
            at, what = cut, "" if has_late else draw.choice(("", "rename", "copy"))
            ok(place.run("run", f"cut{seed}.yaml", "--continue", *(["--drain"] if turn == len(cuts) - 1 else [])))
            if what and text[cut - 1] == "\n" or what == "pack":
                continue  # a log is rotated between lines
            if what:
                rest = text[cut:text.index("\n", cut) + 1]  # what the writer had in hand
                with open(log, "a") as f:
                    f.write(rest)
                at, parts, old = cut + len(rest), parts + 1, log.read_bytes()
                if what == "rename":
                    os.rename(log, log.parent / f"app.log.{parts}")
                    log.touch()
                else:
                    (log.parent / f"app.log.{parts}").write_bytes(old)
                    os.truncate(log, 0)
        assert results(place, f"many{seed}") == results(place, f"one{seed}"), seed
