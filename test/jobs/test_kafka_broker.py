"""The broker that other tests use (test/kit/kafka.py) keeps what it was given, and never outlives its test."""
import pathlib
import subprocess
import sys

import kafka
from harness import ROOT, SIGKILL, Skipped, test, wait_for


@test
def a_broker_gives_back_what_was_put(p):
    broker = p.kafka()
    broker.create("kit", 3)
    broker.put("kit", [{"key": "a", "value": "1", "partition": 0}, {"key": "b", "value": None, "partition": 1, "headers": [["h", "x"], ["h", None]]},
                       {"value": "", "partition": 2, "timestamp": 1000}, {"value_hex": "ff00", "partition": 2}])
    rows = {(r["partition"], r["offset"]): r for r in broker.dump("kit")}
    assert rows[1, 0]["value"] is None and rows[1, 0]["headers"] == [["h", "x"], ["h", None]], rows
    assert rows[2, 0]["value"] == "" and rows[2, 0]["key"] is None and rows[2, 0]["timestamp"] == 1000, rows
    assert rows[2, 1]["value_hex"] == "ff00" and len(rows) == 4, rows
    assert broker.ends("kit")[2] == [0, 2]
    broker.forget("kit", 2, 1)
    broker.grow("kit", 4)
    assert broker.ends("kit")[2] == [1, 2] and broker.topics()["kit"] == 4
    broker.delete("kit")
    assert "kit" not in broker.topics()


@test
def a_broker_dies_with_the_one_who_started_it(p):
    try:
        kafka.prepare()
    except kafka.Missing as why:
        raise Skipped(str(why)) from why
    parent = subprocess.Popen([sys.executable, ROOT / "test" / "kit" / "kafka.py", "run", p.dir / "broker"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.children.append(parent)
    assert parent.stdout.readline().startswith(b"bootstrap=127.0.0.1:")
    child = pathlib.Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    assert len(child) == 1, child
    parent.send_signal(SIGKILL)
    parent.wait()

    def is_gone():
        try:
            return pathlib.Path(f"/proc/{child[0]}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except FileNotFoundError:
            return True
    wait_for("the broker's end", is_gone)
