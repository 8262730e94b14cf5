"""Where a job's time goes, as `status` shows it."""
import json

from harness import ok, test, wait_for

JOB = """pipeline.name: pressed
sources:
  events: {connector: nexmark}
transforms:
  bids: {from: events, group-by: [bidder], select: [bidder, MAX(price) AS price]}
sinks:
  out: {from: bids, connector: stdout, format: debezium-json}
"""


@test
def status_shows_who_works_and_who_is_under_pressure(p):
    """Nobody reads what the sink writes: it is at work, and what comes before it cannot go on."""
    child = p.start("run", "-q", "-p", "2", p.write("pressed.yaml", JOB))

    def vertices():
        return {v["id"]: v for v in (p.status("pressed") or {}).get("vertices", [])}

    def is_pressed():
        v = vertices()
        return v and v["events"].get("accumulated-backpressured-time", 0) > 1500 and v

    shown = wait_for("back-pressure", is_pressed)
    assert shown["events"]["backpressureLevel"] == "high" and shown["out"]["backpressureLevel"] == "ok", shown
    assert shown["events"]["backPressuredTimeMsPerSecond"] > 900 and shown["out"]["backPressuredTimeMsPerSecond"] == 0, shown
    for v in shown.values():
        second = sum(v[k] for k in ("busyTimeMsPerSecond", "idleTimeMsPerSecond", "backPressuredTimeMsPerSecond"))
        assert 990 <= second <= 1000, v
    lines = ok(p.run("status", "pressed")).stdout.decode().splitlines()
    head = next(line for line in lines if line.startswith("step"))
    assert head.endswith("busy  back-pressure"), head
    assert json.loads(ok(p.run("status", "--json")).stdout)["vertices"]
    child.kill()
    child.wait()
    rest = p.start("run", "-q", p.write("idle.yaml", JOB.replace("pressed", "idle").replace(
        "{connector: nexmark}", "{connector: datagen, rows-per-second: 1, schema: {bidder: INT, price: INT}}")), stdout=None)

    def idles():
        v = (p.status("idle") or {}).get("vertices", [])
        return v and all(k.get("idleTimeMsPerSecond", 0) > 800 for k in v)

    wait_for("a job that has little to do", idles)
    rest.kill()
