"""CSV through whole jobs: what is written is read again, in the cases that other tools got wrong."""
import json
import os
import threading

from harness import ended, ok, test

TEXTS = [None, "", "a\nb", '"', " x ", "1,2", "\r", "NULL", "\ufeff", "\\", "#", "\x00", "é", "a\r\nb", '""', "  "]
TO_CSV = """sources:
  events: {connector: filesystem, path: in.json, format: json, schema: {s: STRING, n: INT}}
sinks:
  out: {from: events, connector: filesystem, path: mid.csv, format: csv%s}
"""
TO_JSON = """sources:
  events: {connector: filesystem, path: mid.csv, format: csv%s, schema: {s: STRING, n: INT}}
sinks:
  out: {from: events, connector: filesystem, path: out.json, format: json}
"""
IDS = """sources:
  events: {connector: %s, format: csv, %sschema: {id: INT, s: STRING}}
sinks:
  out: {from: events, connector: filesystem, path: out.json, format: json}
"""


def rows(path):
    return [json.loads(line) for line in path.read_text().split("\n") if line]


@test
def texts_come_back_from_csv_as_they_were(p):
    told = [{"s": s, "n": i} for i, s in enumerate(TEXTS)]
    p.write("in.json", "".join(json.dumps(row) + "\n" for row in told))
    for options in (', csv.null-literal: "NULL"', ', csv.null-literal: ""',
                    ", csv.null-literal: 'null', csv.escape-character: '\\', csv.allow-comments: true",
                    ", csv.null-literal: 'N', csv.field-delimiter: '\\t', csv.quote-character: \"'\"",
                    ", csv.null-literal: 'N', csv.disable-quote-character: true, csv.escape-character: '\\'"):
        ok(p.run("run", p.write("to.yaml", TO_CSV % options)))
        ok(p.run("run", p.write("back.yaml", TO_JSON % options)))
        assert rows(p.dir / "out.json") == told, (options, rows(p.dir / "out.json"), (p.dir / "mid.csv").read_bytes())
    ok(p.run("run", p.write("to.yaml", TO_CSV % "")))
    ok(p.run("run", p.write("back.yaml", TO_JSON % "")))
    assert rows(p.dir / "out.json") == [{"s": row["s"] or "", "n": row["n"]} for row in told]  # as Flink: NULL is ''
    assert (p.dir / "mid.csv").read_bytes().startswith(b',0\n"",1\n')


@test
def a_newline_pair_in_quotes_is_data_wherever_it_lies(p):
    job = p.write("job.yaml", IDS % ("filesystem", "path: in.csv, csv.header: skip, "))
    for pad in (0, 1, 50, 63, 64, 65, 4095, 4096, 65535, 131072, 131200, 262140, 262143):
        p.write("in.csv", b'id,s\r\n1,"' + b"p" * pad + b'A\r\nB"\r\n2,x\r\n')
        ok(p.run("run", job))
        want = [{"id": 1, "s": "p" * pad + "A\r\nB"}, {"id": 2, "s": "x"}]
        assert rows(p.dir / "out.json") == want, pad


@test
def bytes_may_come_one_by_one(p):
    job = p.write("job.yaml", IDS % ("stdin", "csv.header: skip, "))
    reader, writer = os.pipe()
    child = p.start("run", job, stdin=reader)
    os.close(reader)

    def feed():
        for byte in b'\xef\xbb\xbfid,s\r\n1,"ppA\r\nB"\r\n2,x\r3,"y\ry"\r\n4,\xc3\xa9':
            os.write(writer, bytes([byte]))
        os.close(writer)

    feeder = threading.Thread(target=feed)
    feeder.start()
    ended(child)
    feeder.join()
    assert rows(p.dir / "out.json") == [{"id": 1, "s": "ppA\r\nB"}, {"id": 2, "s": "x"}, {"id": 3, "s": "y\ry"},
                                        {"id": 4, "s": "é"}]


@test
def a_header_with_a_name_twice_or_none_is_refused(p):
    job = p.write("job.yaml", IDS % ("filesystem", "path: in.csv, csv.header: match, ") + "restart-strategy.type: none\n")
    for head, words in ((b"id,s,s\n1,a,b\n", b"two columns 's', fields 2 and 3"), (b"id,id\n1,2\n", b"two columns 'id'"),
                        (b"id,,\n1,2,3\n", b"field 2 of the header has no name"), (b"id,t\n", b"field 2 of the header is 't'")):
        p.write("in.csv", head)
        done = ok(p.run("run", job), 1)
        assert words in done.stderr and b"in.csv" in done.stderr, done.stderr
    for text in (b"", b"id,s", b"id,s\r\n", b"\xef\xbb\xbfid,s\n", b"\n\nid,s\n\n"):
        p.write("in.csv", text)
        ok(p.run("run", job))
        assert (p.dir / "out.json").read_bytes() == b"", text
    done = ok(p.run("run", p.write("twice.yaml", (IDS % ("filesystem", "path: in.csv, ")).replace("s: STRING", "id: STRING"))), 3)
    assert b"id" in done.stderr, done.stderr


@test
def numbers_keep_their_digits(p):
    exact = ["9007199254740993", "9223372036854775807", "-9223372036854775808", "0"]
    reals = ["0.072", "-0.0", "5.0E-324", "1.7976931348623157E308", "0.1", "1.0E21", "NaN", "-Infinity"]
    p.write("in.csv", "".join(f"{i},{r},1.10\n" for i, r in zip(exact * 2, reals)))
    job = p.write("job.yaml", """sources:
  events: {connector: filesystem, path: in.csv, format: csv, schema: {i: BIGINT, d: DOUBLE, m: "DECIMAL(20, 2)"}, on-error: skip}
sinks:
  out: {from: events, connector: filesystem, path: out.csv, format: csv, csv.write-bigdecimal-in-scientific-notation: false}
""")
    ok(p.run("run", job))
    assert (p.dir / "out.csv").read_text() == (p.dir / "in.csv").read_text()
    bad = ["18446744073709551615,1,1", "123456789012345678901234567890,1,1", "1.5,1,1", "1e3,1,1", "0x1,1,1", "1,1.2.3,1",
           "1,0x1p3,1", "1,1,1234567890123456789.00", "1,1e400,1", "1,1", "1,1,1,1", ""]
    p.write("in.csv", "\n".join(bad) + "\n7,7,7\n")
    done = ok(p.run("run", job))
    assert (p.dir / "out.csv").read_text() == "7,7.0,7.00\n", (p.dir / "out.csv").read_text()
    assert b"skipped 11" in done.stderr, done.stderr


@test
def a_record_without_end_costs_its_line_and_no_more(p):
    p.write("in.csv", b'1,a\n2,"' + b"x" * (17 << 20) + b"\n3,b\n4,\x00\n5,\xff\n6,\xc3\n7,g\n")
    job = p.write("job.yaml", (IDS % ("filesystem", "path: in.csv, ")).replace("schema:", "on-error: skip, schema:"))
    done = ok(p.run("run", job))
    assert rows(p.dir / "out.json") == [{"id": 1, "s": "a"}, {"id": 3, "s": "b"}, {"id": 4, "s": "\x00"}, {"id": 7, "s": "g"}]
    assert b"skipped 3" in done.stderr, done.stderr
