"""Changes of rows in JSON: from a file to a table, through aggregates, and to a file again."""
import json
import random
import sqlite3

from harness import ok, test, wait_for

DIALECTS = ("debezium", "maxwell", "canal", "ogg")


def history(count, seed):
    """Changes as (kind, before, after), and the table that is left."""
    rnd = random.Random(seed)
    table, changes = {}, []
    for i in range(count):
        row = {"id": i if rnd.random() < 0.5 or not table else rnd.choice(list(table)), "g": rnd.choice("abc"),
               "n": rnd.choice([None, 1, -2, 3])}
        before = table.get(row["id"])
        if before and rnd.random() < 0.3:
            changes.append(("delete", before, None))
            del table[row["id"]]
        else:
            changes.append(("update" if before else "insert", before, row))
            table[row["id"]] = row
    return changes, table


def record(dialect, kind, before, after):
    if dialect in ("debezium", "ogg"):
        member, words = ("op", "cud") if dialect == "debezium" else ("op_type", "IUD")
        return {"before": before, "after": after, member: words[("insert", "update", "delete").index(kind)]}
    old = {k: v for k, v in before.items() if after[k] != v} if kind == "update" else None
    data = after or before
    if dialect == "maxwell":
        return {"database": "d", "data": data, "type": kind, **({"old": old} if old is not None else {})}
    return {"data": [data], "old": old and [old] if old else ([{}] if kind == "update" else None), "type": kind.upper(),
            "isDdl": False}


def job(p, dialect, more):
    return p.write("job.yaml", f"""
sources:
  in: {{connector: filesystem, path: in.json, format: {dialect}-json, schema: {{id: INT, g: STRING, n: INT}},
       primary-key: [id]}}
{more}
restart-strategy.type: none
""")


@test
def changes_of_each_dialect_make_the_table(p):
    changes, table = history(3000, 5)
    groups = {}
    for row in table.values():
        count, total = groups.get(row["g"], (0, None))
        groups[row["g"]] = (count + 1, total if row["n"] is None else (total or 0) + row["n"])
    for dialect in DIALECTS:
        p.write("in.json", "".join(json.dumps(record(dialect, *c)) + "\n" for c in changes))
        (p.dir / "t.sqlite").unlink(missing_ok=True)
        ok(p.run("run", job(p, dialect, """
transforms:
  sums: {from: in, group-by: [g], select: [g, COUNT(*) AS c, SUM(n) AS s]}
sinks:
  rows: {from: in, connector: sqlite, path: t.sqlite, table-name: t, primary-key: [id]}
  groups: {from: sums, connector: sqlite, path: t.sqlite, table-name: g, primary-key: [g]}
"""), "--fresh"))
        with sqlite3.connect(p.dir / "t.sqlite") as db:
            rows = {r[0]: {"id": r[0], "g": r[1], "n": r[2]} for r in db.execute("SELECT id, g, n FROM t")}
            sums = {g: (c, s) for g, c, s in db.execute("SELECT g, c, s FROM g")}
        assert rows == table, (dialect, len(rows), len(table))
        assert sums == groups, (dialect, sums, groups)


@test
def changes_go_from_dialect_to_dialect(p):
    changes, table = history(500, 9)
    p.write("in.json", "".join(json.dumps(record("maxwell", *c)) + "\n" for c in changes))
    for source, target in zip(("maxwell", "debezium", "canal", "ogg"), ("debezium", "canal", "ogg", "maxwell")):
        ok(p.run("run", job(p, source, f"""
sinks:
  out: {{from: in, connector: filesystem, path: out.json, format: {target}-json}}
"""), "--fresh"))
        (p.dir / "out.json").rename(p.dir / "in.json")
    rows = {}
    for line in (p.dir / "in.json").read_text().splitlines():
        r = json.loads(line)
        if r["type"] == "insert":
            rows[r["data"]["id"]] = r["data"]
        else:
            assert rows.pop(r["data"]["id"]) == r["data"], r
    assert rows == table


@test
def a_rate_limit_lets_whole_updates_through(p):
    p.write("in.json", "".join(json.dumps(record("debezium", "update", {"id": i}, {"id": i, "n": 1})) + "\n"
                               for i in range(20)))
    done = ok(p.run("run", "-q", job(p, "debezium", "sinks: {out: {from: in, connector: print}}"), "-D",
                    "sources.in.rate-limit=100"))
    assert len(done.stdout.splitlines()) == 40, done.stdout


@test
def a_bad_change_is_told_and_can_be_passed(p):
    p.write("in.json", '{"op":"c","after":{"id":1}}\n{"op":"u","after":{"id":1}}\n{"op":"c","after":{"id":3}}\n')
    path = job(p, "debezium", "sinks: {out: {from: in, connector: print}}")
    done = p.run("run", path)
    assert done.returncode == 1 and b"an update has no 'before': REPLICA IDENTITY FULL" in done.stderr, done.stderr
    done = ok(p.run("run", path, "-D", "sources.in.on-error=skip", "--fresh"))
    assert done.stdout == b"+I[1, null, null]\n+I[3, null, null]\n" and b"skipped 1" in done.stderr, done


@test
def what_cannot_keep_changes_is_a_fault(p):
    p.write("in.json", "")
    for more, words in (
            ("sinks: {out: {from: in, connector: filesystem, path: out.json, format: json}}", b"use a format that carries"),
            ("sinks: {out: {from: in, connector: stdout, format: csv}}", b"cannot take updating results"),
            ("sinks: {out: {from: in, connector: sqlite, path: a.db, table-name: t}}", b"a sink with a primary-key")):
        done = p.run("validate", job(p, "ogg", more))
        assert done.returncode == 3 and words in done.stderr, (more, done.stderr)
    done = p.run("validate", job(p, "canal", "sinks: {out: {from: in, connector: print}}"), "-D",
                 "sources.in.canal-json.table.include=a(")
    assert done.returncode == 3 and b"'a(' is no regular expression" in done.stderr, done.stderr
    done = p.run("validate", job(p, "debezium", "sinks: {out: {from: in, connector: stdout, format: debezium-json, "
                                                "debezium-json.schema-include: true}}"))
    assert done.returncode == 3 and b"schema-include is for reading" in done.stderr, done.stderr


@test
def mirror_keeps_the_table_and_counts_by_city(p):
    anna = {"name": "Anna", "phones": ["1", "2"]}
    rows = [("c", None, {"id": 1, "city": "Bonn", "customer": anna, "items": {"tea": 2}}),
            ("c", None, {"id": 2, "city": "Bonn", "customer": None, "items": {}}),
            ("u", {"id": 1, "city": "Bonn", "customer": anna, "items": {"tea": 2}},
             {"id": 1, "city": "Ulm", "customer": anna, "items": {"tea": 3, "cup": 1}}),
            ("d", {"id": 2, "city": "Bonn", "customer": None, "items": {}}, None)]
    p.write("orders.json", "".join(json.dumps({"op": o, "before": b, "after": a}) + "\n" for o, b, a in rows))
    ok(p.run("run", p.job("mirror.yaml"), env={"CHANGES_DIR": str(p.dir)}))
    with sqlite3.connect(p.dir / "mirror.sqlite") as db:
        (order,) = db.execute("SELECT * FROM orders")
        assert list(db.execute("SELECT * FROM cities")) == [("Ulm", 1)]
        assert list(db.execute("SELECT items ->> '$.tea', customer ->> '$.phones[1]' FROM orders")) == [(3, "2")]
    assert order[:2] == (1, "Ulm") and json.loads(order[2]) == anna and json.loads(order[3]) == {"tea": 3, "cup": 1}


@test
def changes_are_applied_exactly_once_behind_kills(p):
    """Killed again and again in the middle of updates, two tasks at work: the tables are what the changes say."""
    changes, table = history(4000, 11)
    for part in range(3):  # a file holds all changes of its rows
        p.write(f"in/{part}.json", "".join(json.dumps(record("debezium", *c)) + "\n" for c in changes
                                           if (c[1] or c[2])["id"] % 3 == part))
    path = p.write("job.yaml", """
pipeline.name: killed
execution.checkpointing: {interval: 20ms, dir: state.db}
parallelism.default: 2
sources:
  in: {connector: filesystem, path: in, format: debezium-json, rate-limit: 4000,
       schema: {id: INT, g: STRING, n: INT}, primary-key: [id]}
transforms:
  sums: {from: in, group-by: [g], select: [g, COUNT(*) AS c, SUM(n) AS s]}
sinks:
  rows: {from: in, connector: sqlite, path: t.sqlite, table-name: t, primary-key: [id], parallelism: 1}
  groups: {from: sums, connector: sqlite, path: g.sqlite, table-name: g, primary-key: [g]}
""")

    def completed():
        done = p.run("checkpoints", "list", "--json", "state.db")
        ids = [c["id"] for c in json.loads(done.stdout)] if done.returncode == 0 else []
        return max(ids, default=0)

    for _ in range(3):
        before = completed()
        child = p.start("run", path, "--continue")
        wait_for("two checkpoints", lambda: completed() > before + 1)
        child.kill()
        child.wait()
    ok(p.run("run", path, "--continue"))
    with sqlite3.connect(p.dir / "t.sqlite") as db:
        rows = {r[0]: {"id": r[0], "g": r[1], "n": r[2]} for r in db.execute("SELECT id, g, n FROM t")}
    with sqlite3.connect(p.dir / "g.sqlite") as db:
        sums = {g: (c, s) for g, c, s in db.execute("SELECT g, c, s FROM g")}
    assert rows == table, (len(rows), len(table))
    assert {g: c for g, (c, _) in sums.items()} == {g: sum(r["g"] == g for r in table.values()) for g in sums}
    assert sum(s or 0 for _, s in sums.values()) == sum(r["n"] or 0 for r in table.values())


@test
def what_stands_around_a_row_can_be_asked_for(p):
    p.write("d.json", json.dumps({"op": "u", "before": {"id": 1}, "after": {"id": 2}, "ts_ms": 1589355606101,
                                  "source": {"db": "shop", "table": "t", "ts_ms": 1589355606100, "pos": 7, "x": None}}) +
            '\n{"op":"d","before":{"id":3}}\n')
    p.write("m.json", '{"database":"shop","table":"t","type":"insert","data":{"id":1},"primary_key_columns":["id"]}\n')
    p.write("c.json", '{"data":[{"id":1},{"id":2}],"type":"DELETE","es":1000,"sqlType":{"id":4},"pkNames":["id"]}\n')
    path = p.write("job.yaml", """
sources:
  d: {connector: filesystem, path: d.json, format: debezium-json, schema: "id INT, \
      t STRING METADATA FROM 'value.source.table', p MAP<STRING, STRING> METADATA FROM 'source.properties', \
      f STRING METADATA FROM 'file.name', i TIMESTAMP_LTZ(3) METADATA FROM 'ingestion-timestamp', up AS UPPER(t)"}
  m: {connector: filesystem, path: m.json, format: maxwell-json, schema: "`database` STRING METADATA, id INT, \
      k ARRAY<STRING> METADATA FROM 'primary-key-columns', id2 AS id + 1"}
  c: {connector: filesystem, path: c.json, format: canal-json, schema: "q MAP<STRING, BIGINT> METADATA FROM 'x', id INT"}
sinks:
  d_out: {from: d, connector: print}
  m_out: {from: m, connector: print}
  c_out: {from: c, connector: print}
""")
    done = p.run("run", path)
    assert done.returncode == 3 and b"has no metadata 'x'" in done.stderr and b"sql-type, pk-names" in done.stderr, done
    (p.dir / "job.yaml").write_text((p.dir / "job.yaml").read_text().replace(
        "q MAP<STRING, BIGINT> METADATA FROM 'x'", "e TIMESTAMP_LTZ(3) METADATA FROM 'event-timestamp', "
        "q MAP<STRING, INT> METADATA FROM 'sql-type'"))
    lines = ok(p.run("run", "-q", path)).stdout.decode().splitlines()
    source = "{db=shop, table=t, ts_ms=1589355606100, pos=7, x=null}, d.json, 2020-05-13T07:40:06.101Z, T]"
    assert sorted(lines) == sorted([f"-U[1, t, {source}", f"+U[2, t, {source}", "-D[3, null, null, d.json, null, null]",
                                    "+I[shop, 1, [id], 2]", "-D[1970-01-01T00:00:01Z, {id=4}, 1]",
                                    "-D[1970-01-01T00:00:01Z, {id=4}, 2]"]), lines


@test
def a_schema_around_the_envelope_gives_a_hint(p):
    p.write("in.json", '{"schema": {"type": "struct"}, "payload": {"op": "c", "after": {"id": 1}}}\n')
    path = job(p, "debezium", "sinks: {out: {from: in, connector: print}}")
    done = p.run("run", path)
    assert done.returncode == 1 and b"no 'op' that is text: 'payload' has it; debezium-json.schema-include: true" in done.stderr, done.stderr
