"""The raw format through whole jobs: charsets and numbers."""
from harness import ok, test

JOB = """sources:
  in: {connector: filesystem, path: in, format: raw, %s, on-error: skip}
transforms:
  t: {from: in, select: ["%s AS v"]}
sinks:
  out: {from: t, connector: filesystem, path: out.txt, format: raw%s}
"""


@test
def text_goes_from_one_charset_to_another(p):
    p.write("in", "\u00fcber\n\u20ac 5\r\nlast".encode("windows-1252"))
    job = p.write("job.yaml", JOB % ("raw.charset: windows-1252, schema: {v: STRING}", "UPPER(v)", ", raw.charset: UTF-16"))
    ok(p.run("run", job))
    assert (p.dir / "out.txt").read_bytes().decode("utf-16") == "\u00dcBER\n\u20ac 5\nLAST\n"
    (p.dir / "out.txt").rename(p.dir / "in")
    done = ok(p.run("run", p.write("job.yaml", JOB % ("raw.charset: UTF-16, schema: {v: STRING}", "v", ", raw.charset: ISO-8859-1")),
                    "-D", "restart-strategy.type=none"), 1)
    assert b"a character that ISO-8859-1 does not have" in done.stderr, done.stderr
    p.write("in", "a\n".encode("utf-16"))  # with a little-endian mark
    done = ok(p.run("run", "job.yaml", "-D", "restart-strategy.type=none"), 1)
    assert b"write raw.charset: UTF-16LE" in done.stderr, done.stderr
    done = ok(p.run("validate", p.write("bad.yaml", JOB % ("raw.charset: klingon, schema: {v: STRING}", "v", ""))), 3)
    assert b"raw.charset" in done.stderr and b"klingon" in done.stderr, done.stderr


@test
def numbers_are_bytes_of_a_size(p):
    p.write("in", b"".join(n.to_bytes(4, "big") + b"\n" for n in (7, 10, 0x0A0A0A0A, 2**31 - 1)) + b"\0\0\n")
    job = p.write("job.yaml", JOB % ("schema: {v: INT}", "CAST(v AS BIGINT)", ", raw.endianness: little-endian"))
    done = ok(p.run("run", job))
    want = b"".join(n.to_bytes(8, "little") + b"\n" for n in (7, 10, 0x0A0A0A0A, 2**31 - 1))
    assert (p.dir / "out.txt").read_bytes() == want, (p.dir / "out.txt").read_bytes()
    assert b"skipped 1" in done.stderr and b"2 bytes are not a value of type INT" in done.stderr, done.stderr
