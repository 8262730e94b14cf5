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
