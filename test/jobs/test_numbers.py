"""Numbers and JSON: not a digit changes on the way, and what is not JSON does not get in."""
import decimal
import json
import sqlite3
import struct
import time

from harness import ok, test


def run(p, text, columns, select="'*'", sink="connector: filesystem, path: out.json, format: json", more="", args=()):
    """Lines of JSON through a step: what stands in out.json, and the end of the run."""
    p.write("in.json", text)
    (p.dir / "out.json").unlink(missing_ok=True)
    done = p.run("run", p.write("job.yaml", f"""
sources:
  in: {{connector: filesystem, path: in.json, format: json, schema: {{{columns}}}{more}}}
transforms:
  step: {{from: in, select: [{select}]}}
sinks:
  out: {{from: step, {sink}}}
restart-strategy.type: none
"""), "--fresh", *args)
    out = p.dir / "out.json"
    return (out.read_text().splitlines() if out.exists() else []), done


@test
def integers_keep_their_digits(p):
    """H01: what fits 64 bits is exact, what does not is told, and never a rounded number."""
    good = [6000000000000002181, 9007199254740993, 9223372036854775807, -9223372036854775808]
    lines, done = run(p, "".join('{"id":%d,"x":1}\n' % n for n in good), "id: BIGINT, x: INT",
                      "id, x, x + 1 AS y, id = 9007199254740992 AS e")
    ok(done)
    assert lines == ['{"id":%d,"x":1,"y":2,"e":false}' % n for n in good], lines
    ok(run(p, "".join('{"id":%d}\n' % n for n in good), "id: BIGINT", "id",
           "connector: sqlite, path: t.sqlite, table-name: t")[1])
    with sqlite3.connect(p.dir / "t.sqlite") as db:
        assert [r[0] for r in db.execute("SELECT id FROM t")] == good
    for big in ("18446744073709551616", "123456789012345678901234567890", "-9223372036854775809"):
        _, done = run(p, '{"id":%s}\n' % big, "id: BIGINT", "id")
        assert done.returncode == 1 and f"'{big}' is out of the range of BIGINT".encode() in done.stderr, done.stderr
        lines, done = run(p, '{"id":%s}\n' % big, "id: 'DECIMAL(30, 0)'", "id")
        ok(done)
        assert [json.loads(line, parse_float=decimal.Decimal)["id"] for line in lines] == [decimal.Decimal(big)], lines
        lines, done = run(p, '{"id":%s}\n' % big, "id: 'DECIMAL(30, 0)'", "id",
                          args=("-D", "sinks.out.json.encode.decimal-as-plain-number=true"))
        assert lines == ['{"id":%s}' % big], lines
        lines, done = run(p, '{"id":%s}\n' % big, "id: STRING", "id")
        assert lines == ['{"id":"%s"}' % big], lines


@test
def integers_may_be_written_with_exponents(p):
    """H02: the value counts, not the form; no fraction is cut off."""
    forms = ["9.223372036854775807e18", "922337203685477580.7e1", "1e3", "1.0", "1E+2", "0e5"]
    lines, done = run(p, "".join('{"v":%s}\n' % f for f in forms), "v: BIGINT", "v")
    ok(done)
    assert lines == ['{"v":%d}' % n for n in (9223372036854775807, 9223372036854775807, 1000, 1, 100, 0)], lines
    _, done = run(p, '{"v":1.5}\n', "v: BIGINT", "v")
    assert done.returncode == 1 and b"'1.5' is not an integer, as BIGINT needs" in done.stderr, done.stderr


@test
def doubles_come_back_bit_by_bit(p):
    """H03, H04: the shortest text that reads back as the same number."""
    values = ["0.0", "-0.0", "5e-324", "2.225073858507201e-308", "2.2250738585072014e-308", "1.7976931348623157e308",
              "0.1", "123456789.123456789", "0.072", "1e21", "1e-7", "100.0", "3.0e0"]
    lines, done = run(p, "".join('{"v":%s}\n' % v for v in values), "v: DOUBLE", "v, v * 1 AS w, v + 0.2e0 AS s")
    ok(done)
    for text, line in zip(values, lines):
        row = json.loads(line)
        want = struct.pack("d", float(text))
        assert struct.pack("d", row["v"]) == want and struct.pack("d", row["w"]) == want, (text, line)
    assert '"v":0.072,"w":0.072' in lines[8] and lines[6].endswith('"s":0.30000000000000004}'), lines
    assert len(lines) == len(values)


@test
def money_is_exact(p):
    """H05: decimals are decimals, and doubles are not made to look like them."""
    p.write("in.json", '{"amt":0.10,"s":"1.005"}\n' * 10)
    ok(p.run("run", p.write("job.yaml", """
sources:
  in: {connector: filesystem, path: in.json, format: json, schema: {amt: "DECIMAL(10, 2)", s: STRING}}
  again: {connector: filesystem, path: in.json, format: json, schema: {amt: DOUBLE}}
transforms:
  exact: {from: in, select: [SUM(amt) AS total, "MAX(CAST(s AS DECIMAL(10, 2))) AS half"]}
  near: {from: again, select: [SUM(amt) AS total]}
sinks:
  a: {from: exact, connector: sqlite, path: t.sqlite, table-name: exact, primary-key: [half]}
  b: {from: near, connector: sqlite, path: t.sqlite, table-name: near, primary-key: [total]}
""")))
    with sqlite3.connect(p.dir / "t.sqlite") as db:
        assert list(db.execute("SELECT * FROM exact")) == [("1.00", "1.01")], list(db.execute("SELECT * FROM exact"))
        near = [r[0] for r in db.execute("SELECT * FROM near")]
    assert len(near) == 1 and abs(near[0] - 1) < 1e-14, near


@test
def half_surrogates_are_bad_rows(p):
    """H06: whole pairs are characters; halves are told, and no output is ever broken text."""
    lines, done = run(p, '{"s":"\\ud83d\\ude00"}\n', "s: STRING", "s, CHAR_LENGTH(s) AS n")
    ok(done)
    assert lines == ['{"s":"\U0001F600","n":1}'], lines
    for bad in ('{"s":"\\uDC00"}', '{"s":"\\uD800x"}', '{"s":"\\uD800\\uD800"}', '{"\\udfff":1}'):
        _, done = run(p, bad + "\n", "s: STRING", "s")
        assert done.returncode == 1 and b"half a surrogate pair" in done.stderr, (bad, done.stderr)


@test
def what_json_has_no_number_for_is_text(p):
    """H10: NaN and Infinity, where they are computed, stand in quotes: the output is JSON. AVG of nothing is NULL."""
    lines, done = run(p, '{"v":0}\n', "v: DOUBLE", "v / v AS nan, 1e308 * 10 AS inf, SQRT(v - 1) AS root, LN(v) AS l")
    ok(done)
    rows = [json.loads(line, parse_constant=lambda word: 1 / 0) for line in lines]
    assert rows == [{"nan": "NaN", "inf": "Infinity", "root": "NaN", "l": "-Infinity"}], rows
    for word in ("NaN", "-Infinity", "Infinity", "nan"):
        _, done = run(p, '{"v":%s}\n' % word, "v: DOUBLE", "v")
        assert done.returncode == 1 and b"not JSON at byte 5 of the record" in done.stderr, (word, done.stderr)


@test
def what_is_not_json_does_not_get_in(p):
    """H12: each line is bad, with its place; its neighbours come through; blank lines are skipped."""
    bad = ["-00.0", "00e0", "+1", ".5", "1.", "0x1", "1e", "[1,]", '{"a":1,}', "{a:1}", '{"a":1}x', '"\\07"', "tru", "'a'",
           '{"a":1}{"b":2}', "// c", '"a\tb"']
    for text in bad:
        for line in {text, '{"v":' + text + "}"} - {'{"v":{"a":1}x}', '{"v":{"a":1}{"b":2}}'}:
            lines, done = run(p, '{"v":"1"}\n\n' + line + '\n   \n{"v":"2"}\n', "v: STRING", "v", more=", on-error: skip")
            ok(done)
            assert lines == ['{"v":"1"}', '{"v":"2"}'] and b"skipped 1" in done.stderr, (line, lines, done.stderr)
    _, done = run(p, '{"v":1}\n{"a":1}{"b":2}\n', "v: STRING", "v")
    assert done.returncode == 1 and b"byte 8" in done.stderr and b"nothing may follow" in done.stderr, done.stderr


@test
def a_byte_order_mark_is_no_part_of_the_first_record(p):
    for end in ("\n", ""):
        lines, done = run(p, b'\xef\xbb\xbf{"v":"1"}' + end.encode(), "v: STRING", "v")
        ok(done)
        assert lines == ['{"v":"1"}'], lines
    _, done = run(p, b'{"v":"1"}\n\xef\xbb\xbf{"v":"2"}\n', "v: STRING", "v")
    assert done.returncode == 1, "only the first one of a file is a mark"


@test
def huge_values_cost_what_their_size_says(p):
    """H14: a record over the limit is bad; a million keys work; keys made to collide are no slower."""
    big = '{"v":"%s"}\n' % ("x" * (20 << 20))
    lines, done = run(p, '{"v":"1"}\n' + big + '{"v":"2"}\n', "v: STRING", "v",
                      more=", on-error: skip, source.max-record-size: 16mb")
    ok(done)
    assert lines == ['{"v":"1"}', '{"v":"2"}'] and b"skipped 1" in done.stderr, done.stderr

    def seconds(keys, columns):
        text = "{" + ",".join('"%s":1' % k for k in keys) + ',"v":"1"}\n'
        begin = time.monotonic()
        lines, done = run(p, text, columns, "v")
        ok(done)
        assert len(lines) == 1
        return time.monotonic() - begin

    plain = seconds(["key%d" % i for i in range(1000000)], "v: STRING")
    blocks = ["Aa", "BB"]  # collide in polynomial hashes, in any combination
    hostile = ["".join(blocks[i >> b & 1] for b in range(17)) for i in range(100000)]
    assert seconds(hostile, "v: STRING") < 5 * plain
    p.write("m.json", '{"m":{' + ",".join('"%s":%d' % (k, i) for i, k in enumerate(hostile + hostile[:10])) + "}}\n")
    ok(p.run("run", p.write("m.yaml", """
sources:
  in: {connector: filesystem, path: m.json, format: json, schema: {m: "MAP<STRING, INT>"}}
sinks:
  out: {from: in, connector: filesystem, path: m-out.json, format: json}
""")))
    got = json.loads((p.dir / "m-out.json").read_text())["m"]
    assert len(got) == 100000 and got[hostile[3]] == 100003 and got[hostile[99999]] == 99999
