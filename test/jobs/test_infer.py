"""infer: what it says of a file, and that a job with its schema block reads the whole file."""
import json
import random
import re

from harness import ok, test


def block(p, *args):
    return ok(p.run("infer", *args)).stdout.decode()


def columns(p, *args):
    return {c["name"]: c["type"] for c in json.loads(ok(p.run("infer", "--json", *args)).stdout)["columns"]}


def reads_all(p, path, text, rows):
    """A job with this block reads every row of the file; nothing is skipped."""
    lines = "\n".join("    " + line for line in text.splitlines() if not line.startswith("#"))
    job = f"sources:\n  events:\n    connector: filesystem\n    path: {path}\n{lines}\n" \
          "sinks: {out: {from: events, connector: blackhole}}\n"
    done = ok(p.run("run", p.write("job.yaml", job)))
    assert f"read {rows} = written {rows} +".encode() in done.stderr, done.stderr


@test
def infer_finds_the_narrowest_type_that_fits_all(p):
    text = ("id,name,ts,when,amount,zip,ok,day,clock,big,none\n"
            "1,a,2026-03-02 09:00:01.000,2026-03-02T09:00:01,1.5,00123,true,2026-01-01,09:00:00,"
            "12345678901234567890,\n"
            "-2,\"b, \"\"c\"\"\nd\",2026-03-02 09:00:20,2026-03-02T09:00:02,2e3,01234,FALSE,2026-01-02,10:00:00,7,\n"
            "3,,,,,,,,,,\n")
    path = p.write("in.csv", text)
    want = {"id": "BIGINT", "name": "STRING", "ts": "TIMESTAMP(3)", "when": "STRING", "amount": "DOUBLE",
            "zip": "STRING", "ok": "BOOLEAN", "day": "DATE", "clock": "TIME", "big": "DECIMAL(38, 0)",
            "none": "STRING"}
    assert columns(p, path) == want, columns(p, path)
    said = block(p, path)
    assert said.startswith(f"# {path}: CSV with a header, 3 records looked at, which are all\n"), said
    assert "csv.header: skip" in said and "#watermark: \"`ts` AS" in said and "NULL in 1 of 3" in said, said
    reads_all(p, path, said, 3)


@test
def infer_knows_csv_without_a_header_and_other_marks(p):
    path = p.write("days.csv", "d,t\n2026-02-28,23:59:59\n2024-02-29,00:00:00\n")
    assert columns(p, path) == {"d": "DATE", "t": "TIME"}
    path = p.write("days.csv", "d,t\n2026-02-29,24:00:00\n")
    assert columns(p, path) == {"d": "STRING", "t": "STRING"}
    path = p.write("in", "1;x y\n2;z\n")
    said = block(p, path)
    assert "CSV without a header" in said and "csv.field-delimiter: ';'" in said and "column1: BIGINT" in said, said
    reads_all(p, path, said, 2)
    path = p.write("tabs.tsv", "a\tb\n1\t2\n")
    said = block(p, path)
    assert "csv.field-delimiter: '\\t'" in said and "a: BIGINT" in said, said
    reads_all(p, path, said, 1)
    assert columns(p, path, "--no-header") == {"column1": "STRING", "column2": "STRING"}


@test
def infer_reads_json_lines(p):
    path = p.write("in.json", '\ufeff{"id":1,"at":"2026-01-01T00:00:00Z","n":1.5,"big":12345678901234567890,"y":null}\n'
                              '{"id":2,"n":2,"on":true,"day":"2026-01-01"}\n\nno json\n')
    want = {"id": "BIGINT", "at": "TIMESTAMP_LTZ(3)", "n": "DOUBLE", "big": "DECIMAL(38, 0)", "y": "STRING",
            "on": "BOOLEAN", "day": "DATE"}
    assert columns(p, path) == want, columns(p, path)
    said = block(p, path)
    assert "1 line no such record" in said and "json.timestamp-format.standard: ISO-8601" in said, said
    assert "'on': BOOLEAN" in said and "'y': STRING" in said, said
    path = p.write("good.json", "".join(json.dumps({"id": i, "who": {"name": "x", "n": i}, "tags": ["a"]}) + "\n"
                                        for i in range(50)))
    reads_all(p, path, block(p, path), 50)
    found = json.loads(ok(p.run("infer", "--json", "-", stdin=b'{"a": {"b": [1, 2]}}\n')).stdout)["columns"][0]
    assert "ROW<`b` ARRAY<BIGINT>>" in f"{found['type']} {found['note']}", found


@test
def infer_says_how_much_it_looked_at(p):
    path = p.write("in.csv", "n\n" + "1\n" * 20 + "x\n")
    assert columns(p, path, "-n", "20") == {"n": "BIGINT"}
    assert "20 records looked at, there are more" in block(p, path, "--records", "20")
    assert columns(p, path, "--records", "0") == {"n": "STRING"}


@test
def infer_refuses_what_it_cannot_read(p):
    for name, data, words in (("a.csv", b"", b"empty"), ("a.json", b"[1]\n", b"no line is a JSON object"),
                              ("a.gz", b"\x1f\x8b\x08\0", b"compressed"), ("b.json", b"\n\n", b"empty")):
        done = ok(p.run("infer", p.write(name, data)), 1)
        assert words in done.stderr, done.stderr
    ok(p.run("infer", "absent.csv"), 1)
    ok(p.run("infer"), 2)
    ok(p.run("infer", "x", "--format", "xml"), 2)
    ok(p.run("infer", "x", "-n", "few"), 2)


@test
def a_job_with_the_inferred_schema_reads_the_whole_file(p):
    """Random files: whatever types are found, every row fits them."""
    rng = random.Random(7)
    makers = [lambda: str(rng.randint(-10**rng.randint(1, 20), 10**rng.randint(1, 20))),
              lambda: repr(rng.uniform(-1e6, 1e6)), lambda: rng.choice(["true", "FALSE"]),
              lambda: f"20{rng.randint(10, 30)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
              lambda: f"2026-03-02 0{rng.randint(0, 9)}:00:0{rng.randint(0, 9)}" + rng.choice(["", ".5", ".123"]),
              lambda: rng.choice(["", "x", "007", "1e5", "-", "NaN", "a b", "T", "2026-13", "2026-02-30", "25:00:00"])]
    for n in range(12):
        kinds = [rng.choice(makers) for _ in range(rng.randint(1, 6))]
        mixed = rng.random() < 0.3
        rows = rng.randint(1, 40)
        lines = [[(rng.choice(makers) if mixed else k)() for k in kinds] for _ in range(rows)]
        head = ",".join(f"c{i}" for i in range(len(kinds))) + "\n"
        path = p.write(f"in{n}.csv", head + "".join((",".join(r) or '""') + "\n" for r in lines))
        said = block(p, path)
        kept = int(re.search(r"([\d,]+) record", said)[1].replace(",", ""))
        reads_all(p, path, said, kept)


@test
def what_is_no_text_is_not_guessed_at(p):
    for head, words in ((b"SQLite format 3\0", b"is an SQLite database"), (b"\x7fELF\2\0\n", b"zero bytes")):
        path = p.dir / "in.bin"
        path.write_bytes(head + b"\n1,2\n")
        assert words in ok(p.run("infer", path), 1).stderr
