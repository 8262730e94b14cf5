"""Kafka to Kafka beside a consumer and a producer of librdkafka with nothing between them: part of scripts/bench."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "kit"))

import kafka as kit

ROWS = 1_000_000  # of 200 bytes
RATE, SECONDS = 10_000, 10  # of the probe of latency
RUNS = 3

JOB = """
pipeline.name: {name}
execution.checkpointing: {{interval: 1s, dir: {dir}/{name}-state}}
sources:
  in:
    connector: kafka
    topic: {source}
    scan.startup.mode: earliest-offset
    {bounded}
    properties.bootstrap.servers: '{bootstrap}'
    {read}
{transforms}sinks:
  out:
    from: {last}
    connector: kafka
    topic: {target}
    properties.bootstrap.servers: '{bootstrap}'
    properties.compression.type: lz4
    format: {format}
    {guarantee}
"""
LEAST = "sink.delivery-guarantee: at-least-once"
ONCE = "sink.delivery-guarantee: exactly-once\n    sink.transactional-id-prefix: {name}"
REDO = ONCE + "\n    exactly-once.method: redo"
BYTES = {"read": "format: raw\n    schema: {row: BYTES}", "transforms": "", "last": "in", "format": "raw"}
JSON = {"read": "format: json\n    schema: {id: BIGINT, amount: BIGINT, text: STRING}",
        "transforms": "transforms:\n  some: {from: in, where: amount > 499}\n", "last": "some", "format": "json"}
ALL, EACH = {"bounded": "scan.bounded.mode: latest-offset"}, {"bounded": ""}


def write_job(b, broker, name, source, target, guarantee, rows, reach):
    job = b.dir / f"{name}.yaml"
    job.write_text(JOB.format(name=name, dir=b.dir, bootstrap=broker.bootstrap, source=source, target=target,
                              guarantee=guarantee.format(name=name), **rows, **reach))
    return [b.binary, "run", "-q", "-p", "1", "--fresh", job]


def broker_of(place):
    return kit.Broker(place, heap=768, jvm=["-XX:TieredStopAtLevel=4", *kit.archived()])


def kafka(b):
    """CPU seconds of jobs of records of 200 bytes, lz4, checkpoints of 1 s, against those of bare loops that do the same."""
    loop = b.tools / "kafka_loop"
    kit.prepare()
    with tempfile.TemporaryDirectory(prefix="sr-kafka-") as place, broker_of(place) as broker:
        broker.create("in", 4)
        broker.create("out", 4)
        b.cpu([loop, "fill", broker.bootstrap, "in", ROWS])
        for name, bar, rows, guarantee in (("kafka-least", 80, BYTES, LEAST), ("kafka-once", 80, BYTES, ONCE),
                                           ("kafka-redo", None, BYTES, REDO), ("kafka-json", 60, JSON, ONCE)):
            ours = write_job(b, broker, name, "in", "out", guarantee, rows, ALL)
            bare = [loop, "json" if rows is JSON else "copy", broker.bootstrap, "in", "out"]
            b.pair(name, bar, bare, ours)


def probe(b, broker, source, target, command):
    """Times of records through what the command starts, in ms."""
    child = subprocess.Popen(list(map(str, command)), env=b.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        done = subprocess.run([b.tools / "kafka_probe", broker.bootstrap, source, target, str(RATE), str(SECONDS)],
                              stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)
    finally:
        child.terminate()
        child.wait()


def kafka_latency(b):
    """From the moment a record is due to be written until a read_committed reader has it from the other topic."""
    kit.prepare()
    with tempfile.TemporaryDirectory(prefix="sr-kafka-") as place, broker_of(place) as broker:
        for name, bar, guarantee in (("late-loop", None, None), ("late-least", 20, LEAST), ("late-once", 1100, ONCE)):
            times = []
            for run in range(RUNS):
                source, target = f"{name}-in-{run}", f"{name}-out-{run}"
                broker.create(source, 4)
                broker.create(target, 4)
                command = [b.tools / "kafka_loop", "follow", broker.bootstrap, source, target] if guarantee is None else \
                    write_job(b, broker, name, source, target, guarantee, BYTES, EACH)
                times.append(probe(b, broker, source, target, command))
            middle = sorted(times, key=lambda t: t["p99"])[RUNS // 2]
            b.report(name, f"{middle['p99']:.1f} ms", f"<= {bar} ms" if bar else "-", not bar or middle["p99"] <= bar,
                     f"99 % of {RATE} records/s; median {middle['p50']:.1f} ms, longest {middle['max']:.1f} ms", command)
