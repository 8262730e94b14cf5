"""The filesystem source as people use it: which files, what is known of them, what was read already."""
import bz2
import gzip
import lzma
import os
import subprocess

from harness import ok, test

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
