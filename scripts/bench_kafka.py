"""Kafka to Kafka beside a consumer and a producer of librdkafka with nothing between them: part of scripts/bench."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "kit"))

import kafka as kit

ROWS = 1_000_000  # of 200 bytes

JOB = """
pipeline.name: {name}
execution.checkpointing: {{interval: 1s, dir: {dir}/{name}-state}}
sources:
  in:
    connector: kafka
    topic: in
    scan.startup.mode: earliest-offset
    scan.bounded.mode: latest-offset
    properties.bootstrap.servers: '{bootstrap}'
    format: raw
    schema: {{row: BYTES}}
sinks:
  out:
    from: in
    connector: kafka
    topic: out
    properties.bootstrap.servers: '{bootstrap}'
    properties.compression.type: lz4
    format: raw
    sink.delivery-guarantee: {guarantee}
"""


def kafka(b):
    """Pass-through of records of 200 bytes, lz4, checkpoints of 1 s: CPU seconds of the job against those of the bare loop."""
    loop = b.tools / "kafka_loop"
    with tempfile.TemporaryDirectory(prefix="sr-kafka-") as place, kit.Broker(place, heap=768) as broker:
        broker.create("in", 4)
        broker.create("out", 4)
        b.cpu([loop, "fill", broker.bootstrap, "in", ROWS])
        for name, more in (("kafka-least", "at-least-once"),
                           ("kafka-once", "exactly-once\n    sink.transactional-id-prefix: bench"),
                           ("kafka-redo", "exactly-once\n    exactly-once.method: redo\n    sink.transactional-id-prefix: bench-redo")):
            job = b.dir / f"{name}.yaml"
            job.write_text(JOB.format(name=name, dir=b.dir, bootstrap=broker.bootstrap, guarantee=more))
            b.pair(name, 80, [loop, "copy", broker.bootstrap, "in", "out"], [b.binary, "run", "-q", "-p", "1", "--fresh", job])
