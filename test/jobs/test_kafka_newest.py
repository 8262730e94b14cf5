"""Tests of Kafka once more, with the newest librdkafka. With STREAMRUN_KAFKA_NEWEST=all it is all of them, else those below."""
import os
import pathlib
import re

import librdkafka
import test_kafka_decider
import test_kafka_sink
import test_kafka_source
from harness import TESTS, SIGKILL, Skipped, test, wait_for

PART = {"a_transaction_each_and_every_row_once", "files_follow_the_transaction", "sinks_of_one_prefix_share_a_transaction",
        "a_row_tells_when_the_marker_is_gone", "a_commit_that_comes_late_is_of_no_later_transaction",
        "keys_go_where_java_sends_them", "headers_timestamp_and_topic_are_columns", "what_a_broker_does_not_take_is_set_aside",
        "users_write_by_tls_and_scram_what_they_may", "exactly_once_by_redo_survives_kills",
        "all_codecs_of_kafka_are_read", "rows_of_a_transaction_are_read_when_it_is_committed",
        "rows_of_kafka_come_once_however_often_the_job_is_killed", "a_position_that_retention_took_fails_and_says_what_is_gone",
        "a_topic_that_was_made_again_is_recognised", "a_source_of_kafka_speaks_tls_and_sasl_by_javas_names"}


def again(fn, where):
    def newest(p):
        p.env["LD_LIBRARY_PATH"] = str(where)
        p.shared = "kafka for the newest librdkafka"  # topics have the names of the first time
        fn(p)

    newest.__name__ = "newest_" + fn.__name__
    return newest


def register(where):
    known = {fn.__name__ for fn in TESTS}
    assert PART <= known, PART - known
    is_all = os.environ.get("STREAMRUN_KAFKA_NEWEST") == "all"
    ours = {module.__name__ for module in (test_kafka_decider, test_kafka_sink, test_kafka_source)}
    for fn in [fn for fn in TESTS if fn.__module__ in ours and (is_all or fn.__name__ in PART)]:
        test(again(fn, where))


WHERE = librdkafka.newest()
if WHERE is not None:
    register(WHERE)


@test
def the_newest_librdkafka_is_the_one_that_jobs_use(p):
    if WHERE is None:
        raise Skipped("it was not fetched: test/kit/librdkafka.py prepare")
    p.env["LD_LIBRARY_PATH"] = str(WHERE)
    broker = p.kafka()
    broker.create("whose-library", 1)
    child = p.start("run", test_kafka_decider.job(p, broker, "whose-library", rate=100))
    maps = pathlib.Path(f"/proc/{child.pid}/maps")
    wait_for("a library", lambda: "librdkafka" in maps.read_text())
    found = set(re.findall(r"\S*librdkafka\S*", maps.read_text()))
    child.send_signal(SIGKILL)
    child.communicate()
    assert found == {str(WHERE / "librdkafka.so.1")}, found
