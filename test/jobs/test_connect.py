"""validate --connect beside Kafka: directories, inputs, tables, servers; nothing is made."""
import json
import sqlite3

from harness import ok, test
from test_http_sink import Server


def job(p, sink, source="connector: nexmark, events.num: 5"):
    p.write("job.yaml", f"""
sources: {{in: {{{source}}}}}
transforms: {{t: {{from: in, select: [channel AS a]}}}}
sinks: {{out: {{from: t, {sink}}}}}
""")
    return "job.yaml"


def connected(p, sink, code=0):
    return {next(k for k in ("source", "sink", "format") if k in r): r
            for r in json.loads(ok(p.run("validate", "--connect", "--json", job(p, sink)), code).stdout)["connected"]}


@test
def connect_finds_directories_that_cannot_be_written(p):
    p.write("file", "")
    shown = ok(p.run("validate", "--connect", job(p, "connector: filesystem, path: new/deep/, format: csv"))).stdout.decode()
    assert f"out: connected: directory {p.dir.resolve()}, free bytes " in shown, shown
    assert not (p.dir / "new").exists()
    one = connected(p, "connector: filesystem, path: file/under/, format: csv", 1)["sink"]
    assert "file is no directory" in one["fault"], one
    one = connected(p, "connector: filesystem, path: out.csv, format: csv")["sink"]
    assert one["found"][0]["directory"] == str(p.dir.resolve()) and one["found"][0]["free_bytes"] > 0, one


FILES = """
sources: {{in: {{connector: filesystem, path: {path}, format: raw, schema: {{a: STRING}}{more}}}}}
sinks: {{out: {{from: in, connector: blackhole}}}}
"""


@test
def connect_finds_inputs_that_are_not_there(p):
    done = ok(p.run("validate", "--connect", p.write("f.yaml", FILES.format(path="'in/*.csv'", more=""))), 1)
    assert b"in: cannot be read: " in done.stdout and b"No such file or directory" in done.stdout, done.stdout
    done = ok(p.run("validate", "--connect", p.write("f.yaml", FILES.format(path="'in/*.csv'", more=", source.monitor-interval: 1 s"))))
    assert b"is not there yet" in done.stdout, done.stdout
    (p.dir / "in").mkdir()
    done = ok(p.run("validate", "--connect", "f.yaml"))
    assert f"in: connected: path {p.dir.resolve()}/in\n".encode() in done.stdout, done.stdout


@test
def connect_finds_tables_that_do_not_fit(p):
    sink = "connector: sqlite, path: t.db, table-name: t"
    connected(p, sink)
    assert not (p.dir / "t.db").exists()
    assert "is not there, and table.create is false" in connected(p, sink + ", table.create: false", 1)["sink"]["fault"]
    with sqlite3.connect(p.dir / "t.db") as db:
        db.execute("CREATE TABLE other (x)")
    connected(p, sink)
    assert "has no table t" in connected(p, sink + ", table.create: false", 1)["sink"]["fault"]
    with sqlite3.connect(p.dir / "t.db") as db:
        db.execute("CREATE TABLE t (b)")
    assert "there is no column a" in connected(p, sink, 1)["sink"]["fault"]
    with sqlite3.connect(p.dir / "t.db") as db:
        assert [r[0] for r in db.execute("SELECT name FROM sqlite_schema ORDER BY 1")] == ["other", "t"]
    p.write("no.db", "not a database, but long enough to look like one")
    connected(p, "connector: sqlite, path: no.db, table-name: t", 1)


@test
def connect_asks_a_server_without_a_request(p):
    with Server() as server:
        one = connected(p, f"connector: http, url: '{server.url}', format: json")["sink"]
        assert one["found"][0]["server"].startswith("http://127.0.0.1:") and server.requests == [], one
        url = server.url
    one = connected(p, f"connector: http, url: '{url}', format: json", 1)["sink"]
    assert "127.0.0.1" in one["fault"], one
