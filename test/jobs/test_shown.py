"""What comes from outside is shown so that it neither controls a terminal nor breaks a line, a log or JSON."""
import json
import os

from harness import ok, test
from test_http_sink import Server

JOB = """pipeline.name: told
execution.checkpointing: {interval: 20ms, dir: state}
restart-strategy.type: none
sources: {in: {connector: filesystem, path: in.csv, format: csv, schema: {id: INT}}}
sinks: {out: {from: in, connector: http, url: "URL", format: json}}
"""


@test
def a_server_that_answers_with_what_is_no_text_is_quoted(p):
    p.write("in.csv", "1\n")
    for answer in ((403, {}, b"\xff\xfe\x1b[31m no \xc2\x9b"), (307, {"Location": "http://h/\x1b[31m\xff"}, b"")):
        with Server(lambda r, answer=answer: answer) as server:
            done = ok(p.run("run", "--fresh", p.write("job.yaml", JOB.replace("URL", server.url))), 1)
        assert b"\x1b" not in done.stderr and b"\\xff" in done.stderr, done.stderr
        done.stderr.decode()  # it is UTF-8
        told = json.loads(ok(p.run("list", "--all", "--json")).stdout)[0]
        assert "\\xff" in told.get("root-exception", ""), told


@test
def a_path_that_is_not_utf8_is_a_fault_before_the_job_runs(p):
    odd = os.fsencode(p.dir) + b"/d\xff\x1b"
    os.mkdir(odd)
    p.write("in.csv", "1\n")
    text = (f"sources: {{in: {{connector: filesystem, path: {p.dir}/in.csv, format: csv, schema: {{id: INT}}}}}}\n"
            "sinks: {out: {from: in, connector: filesystem, path: out/, format: csv}}\n")
    with open(odd + b"/job.yaml", "w") as f:
        f.write(text)
    done = ok(p.run("run", os.fsdecode(odd + b"/job.yaml")), 3)
    assert b"sinks.out.path: what it stands for is not UTF-8" in done.stderr and b"SR0215" in done.stderr, done.stderr
    text = text.replace("path: out/", "path: '${OUT}'")
    done = ok(p.run("run", p.write("job.yaml", text), env={"OUT": os.fsdecode(b"x\xff")}), 3)
    assert b"SR0215" in done.stderr, done.stderr
