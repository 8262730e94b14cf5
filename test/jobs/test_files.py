"""The filesystem source as people use it: which files, what is known of them, what was read already."""
import os

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
