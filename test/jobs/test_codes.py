"""Stable codes: each that is used has a page, each page is used, and faults end with theirs."""
import json
import re

from harness import ROOT, ok, test


def used():
    """Codes that the sources put in front of words."""
    found = {}
    for folder in ("conf", "engine", "cli", "connectors"):
        for path in (ROOT / folder).rglob("*.c"):
            if path.name != "codes.c":
                for code in re.findall(r'"(SR\d{4})(?:: |")', path.read_text()):
                    found.setdefault(code, path)
    return found


def pages(p):
    return {c["code"]: c["title"] for c in json.loads(ok(p.run("help", "codes", "--json")).stdout)}


@test
def every_code_has_a_page_and_every_page_is_used(p):
    known, there = used(), pages(p)
    assert len(there) > 60 and len(set(there.values())) == len(there), "two codes with one title"
    run = {c for c in there if c.startswith("SR10")}  # by sr_rc: what fails at run time has one of these
    assert set(known) <= set(there), {c: str(known[c]) for c in set(known) - set(there)}
    assert set(there) - run == set(known) - run, set(there) - run - set(known)
    rows = re.findall(r"X\((SR_E\w+),", (ROOT / "engine/include/streamrun/error.h").read_text())
    assert len(rows) == len(run), "an sr_rc without a page"
    for code in there:
        text = ok(p.run("help", code.lower())).stdout.decode()
        assert text.startswith(f"{code}: {there[code]}\n") and len(text) > 60, text
    ok(p.run("help", "SR9999"), 2)


@test
def a_fault_ends_with_its_code(p):
    p.write("job.yaml", "sources: {e: {connector: nexmrk}}\nsinks: {o: {from: f, connector: print, x: 1}}\n")
    lines = [line for line in ok(p.run("validate", "job.yaml"), 3).stderr.decode().splitlines() if ": error: " in line]
    assert len(lines) >= 3 and all(re.fullmatch(r"job\.yaml:\d+:\d+: error: .* \[SR\d{4}\]", line) for line in lines), lines
    faults = json.loads(ok(p.run("validate", "--json", "job.yaml"), 3).stdout)["faults"]
    assert {"SR0401", "SR0501", "SR0201"} <= {f["code"] for f in faults}, faults
    assert not any("SR0" in f["message"] for f in faults), faults
    there = pages(p)
    for args, code, words in ((["eval", "1 +"], 3, "SR0701"), (["eval", "1 + x"], 3, "SR0601"),
                              (["eval", "CAST('x' AS INT)"], 1, "SR1009"), (["runn"], 2, "SR1101"),
                              (["status", "nobody"], 8, "SR1104"), (["checkpoints", "list", "absent"], 4, "SR1005"),
                              (["validate", "absent.yaml"], 3, "SR0101")):
        said = ok(p.run(*args), code).stderr.decode().split("\n")[0]
        assert said.endswith(f"[{words}]") and words in there, (args, said)
    said = ok(p.run("eval", "--file", p.write("e.txt", "1 + x\n"))).stdout.decode()
    assert "!VALIDATE" in said and "SR0" not in said, said


@test
def a_failed_job_ends_with_the_code_of_its_error(p):
    job = ("sources: {e: {connector: filesystem, path: in.csv, format: csv, schema: {n: INT}}}\n"
           "sinks: {o: {from: e, connector: print}}\n")
    done = ok(p.run("run", p.write("job.yaml", job)), 1)
    assert b"the job failed: " in done.stderr and b"[SR1017]" in done.stderr, done.stderr
    p.write("in.csv", "1\nx\n")
    done = ok(p.run("run", "job.yaml"), 1)
    assert b"[SR1009]" in done.stderr and b"SR1009: " not in done.stderr, done.stderr
