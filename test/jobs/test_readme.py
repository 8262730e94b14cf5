"""README is true: its jobs validate, its commands do what stands there, in their order."""
import json
import os
import re
import subprocess

from harness import ROOT, ok, test

README = (ROOT / "README.md").read_text()
JOB = re.compile(r"`([\w-]+\.yaml)`[^`]*?\n\n```yaml\n(.*?)```", re.S)


def indented():
    """The indented blocks, in order, without their indentation."""
    plain = re.sub(r"```.*?```", "", README, flags=re.S)
    return ["\n".join(line[4:] for line in block.splitlines())
            for block in re.findall(r"(?:^    .*\n)+", plain, re.M)]


@test
def every_job_in_readme_is_valid(p):
    jobs = dict(JOB.findall(README))
    assert len(jobs) == README.count("```yaml") >= 2, "a job without the name of its file before it"
    for name, text in jobs.items():
        ok(p.run("validate", "--strict", p.write(name, text)))


@test
def the_commands_in_readme_work_in_their_order(p):
    for name, text in JOB.findall(README):
        p.write(f"demo/{name}", text)
    p.write("demo/app.log", "an error\nall is well\n")
    broker = p.kafka()
    broker.create("hits", 2)
    (p.dir / "bin").mkdir()
    (p.dir / "bin" / "streamrun").symlink_to(p.binary)
    blocks = [b for b in indented() if re.match(r"mkdir |cat |streamrun [a-z]", b)]
    assert len(blocks) >= 6, blocks
    more = "printf 'ip,ts,url,size\\n10.0.0.9,2026-03-03 10:00:00.000,/docs/a,100\\n' >hits/tuesday.csv"
    script = "\n".join(f"{more}\n{b}" if b.startswith("streamrun run page-hits.yaml --continue") else b for b in blocks)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=p.dir, capture_output=True, timeout=120,
                          stdin=subprocess.DEVNULL,
                          env={**p.env, "KAFKA": broker.bootstrap, "PATH": f"{p.dir / 'bin'}:{os.environ['PATH']}"})
    try:
        ok(done)
    finally:
        p.run("cancel")  # where a command before `stop` failed
    said = done.stdout.decode()
    table = next(b for b in indented() if b.startswith("docs|"))
    assert table.splitlines() == [line for line in said.splitlines() if re.match(r"(docs|shop)\|", line)], said
    assert "\nan error\n" in said and "all is well" not in said, said
    assert "mine.yaml: valid" in said and "size: BIGINT" in said, said
    rows = subprocess.run(["sqlite3", p.dir / "demo" / "page-hits.sqlite", "SELECT COUNT(*) FROM page_hits"],
                          capture_output=True, check=True).stdout
    assert rows == b"4\n", rows  # three of monday, one of tuesday, none twice


@test
def guarantees_in_readme_are_those_of_the_connectors(p):
    """The table is what `connectors --guarantees` prints, and validate says of each what the table says."""
    tables = ok(p.run("connectors", "--guarantees")).stdout.decode()
    assert tables in README, tables
    rows = json.loads(ok(p.run("connectors", "--guarantees", "--json")).stdout)
    sources, sinks = ({r["name"]: r["keeps"] for r in rows if r["kind"] == kind} for kind in ("source", "sink"))
    keys = {"sqlite": "path: t.sqlite, table-name: t", "filesystem": "path: out, format: csv", "stdout": "format: csv",
            "http": "url: http://localhost/, format: csv", "socket": "hostname: localhost, port: 1, format: csv",
            "kafka": "topic: t, properties.bootstrap.servers: 'localhost:1', format: csv",
            "upsert-kafka": "topic: t, properties.bootstrap.servers: 'localhost:1', key.format: csv, value.format: csv, primary-key: [auction]"}
    for name, claim in sinks.items():
        job = ("sources: {e: {connector: nexmark, events.num: 10}}\n"
               "transforms: {t: {from: e, select: [auction]}}\n"
               f"sinks: {{o: {{from: t, connector: {name}, {keys.get(name, '')}}}}}\n")
        paths = json.loads(ok(p.run("validate", "--json", p.write(f"{name}.yaml", job))).stdout)["paths"]
        kept = paths[0]["guarantee"]
        assert kept in claim or (name == "blackhole" and "nothing" in claim), (name, kept, claim)
    assert "no guarantee" in sources["stdin"]
    job = ("sources: {e: {connector: stdin, format: raw, schema: {a: STRING}}}\n"
           "sinks: {o: {from: e, connector: stdout, format: raw}}\n")
    paths = json.loads(ok(p.run("validate", "--json", p.write("stdin.yaml", job))).stdout)["paths"]
    assert paths[0]["guarantee"] == "no guarantee", paths
