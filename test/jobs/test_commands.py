"""Commands that answer: what stands on stdout, as text and as JSON."""
import json

from harness import ok, test


@test
def help_lists_every_command_and_explains_each(p):
    text = ok(p.run("help")).stdout.decode()
    for command in ("run", "resume", "savepoint", "stop", "cancel", "list", "status", "validate", "plan", "config",
                    "checkpoints", "connectors", "functions", "eval", "help", "version"):
        assert f"\n  {command} " in text, command
        assert ok(p.run("help", command)).stdout.startswith(f"usage: streamrun {command}".encode())
        assert ok(p.run(command, "--help")).stdout.startswith(b"usage:")


@test
def help_explains_a_key_wherever_it_stands(p):
    text = ok(p.run("help", "execution.checkpointing.interval")).stdout.decode()
    assert "duration" in text
    assert b"execution.checkpointing.interval" in ok(p.run("help", "execution.checkpointing.intervall"), 2).stderr


@test
def connectors_are_listed_and_documented(p):
    text = ok(p.run("connectors")).stdout.decode()
    for name in ("filesystem", "sqlite", "stdin", "stdout", "print", "blackhole", "nexmark", "csv", "json", "raw"):
        assert f" {name} " in text, name
        assert ok(p.run("connectors", name)).stdout
    assert any(o["key"] == "path" for k in json.loads(ok(p.run("connectors", "filesystem", "--json")).stdout)
               for o in k["options"])
    ok(p.run("connectors", "filesytem"), 2)


@test
def functions_are_listed_and_documented(p):
    names = [f["name"] for f in json.loads(ok(p.run("functions", "--json")).stdout)]
    assert {"UPPER", "SUBSTRING", "REGEXP_EXTRACT", "COUNT"} <= set(names) and names == sorted(names)
    assert b"SUBSTRING" in ok(p.run("functions", "substring")).stdout


@test
def eval_computes_an_expression(p):
    for expr, value in (("1 + 2", "3"), ("UPPER('abc')", "ABC"), ("CAST(NULL AS INT)", "NULL"),
                        ("0.908 * CAST(89258 AS BIGINT)", "81046.264"), ("MOD(-7, 3)", "-1"),
                        ("ROUND(1.5, -2147483648)", "0"), ("ROUND(7, -2147483648)", "0"),
                        ("ROUND(1.55, 2147483647)", "1.55")):
        assert ok(p.run("eval", expr)).stdout.decode() == value + "\n", expr
    assert ok(p.run("eval", "--type", "1 + 2")).stdout == b"INT NOT NULL\t3\n"
    ok(p.run("eval", "1 +"), 3)
    ok(p.run("eval", "CAST('x' AS INT)"), 1)


@test
def plan_draws_the_graph_in_three_ways(p):
    job = p.job("page-hits.yaml")
    assert b"per_minute" in ok(p.run("plan", job)).stdout
    assert ok(p.run("plan", "--dot", job)).stdout.startswith(b"digraph")
    assert json.loads(ok(p.run("plan", "--json", job)).stdout)


@test
def config_says_where_each_value_came_from(p):
    rows = json.loads(ok(p.run("config", "--json", "-D", "parallelism.default=3", p.job("page-hits.yaml"))).stdout)
    by_key = {r["key"]: r for r in rows}
    assert by_key["parallelism.default"]["value"] == "3" and "-D" in by_key["parallelism.default"]["origin"]
    assert "page-hits.yaml:" in by_key["execution.checkpointing.interval"]["origin"]


@test
def version_is_one_line_or_json(p):
    assert ok(p.run("version")).stdout.startswith(b"streamrun 0.")
    assert json.loads(ok(p.run("version", "--json")).stdout)["version"]


@test
def every_answer_is_json_when_asked_for(p):
    job = p.job("page-hits.yaml")
    for args in (["help"], ["help", "run"], ["help", "path"], ["help", "sources"], ["connectors"], ["connectors", "csv"],
                 ["functions"], ["functions", "CASE"], ["eval", "1 + 2"], ["version"], ["plan", job], ["config", job],
                 ["validate", job], ["list"]):
        done = ok(p.run(*args, "--json"))
        json.loads(done.stdout)
        assert not done.stderr, args


@test
def words_that_nobody_asked_for_are_refused(p):
    for args in (["list", "x"], ["version", "x"], ["status", "a", "b"], ["plan", "a.yaml", "b.yaml"], ["help", "a", "b"],
                 ["savepoint", "job", "dir", "more"]):
        done = ok(p.run(*args), 2)
        assert b"one word too many" in done.stderr and not done.stdout, args


@test
def help_tells_a_key_by_its_name_of_today_and_once(p):
    text = ok(p.run("help", "state.checkpoints.dir")).stdout.decode()
    assert text.startswith("execution.checkpointing.dir (job)") and "older name: state.checkpoints.dir" in text
    assert ok(p.run("help", "on-error")).stdout.startswith(b"on-error (source, transform, sink)\n")


@test
def config_keeps_its_columns_where_a_value_is_long(p):
    job = p.write("wide.yaml", "sources:\n  e: {connector: filesystem, path: '" + "x" * 300 + "', format: raw, "
                  "schema: {l: STRING}}\nsinks: {o: {from: e, connector: print}}\n")
    lines = ok(p.run("config", job)).stdout.decode().splitlines()
    assert sum(len(line) > 200 for line in lines) == 1, max(map(len, lines))
    assert all(line == line.rstrip() for line in lines)


@test
def a_plain_filter_says_nothing_but_its_summary(p):
    job = p.write("f.yaml", "sources: {e: {connector: stdin, format: raw, schema: {l: STRING}}}\n"
                  "sinks: {o: {from: e, connector: stdout, format: raw}}\n")
    done = ok(p.run("run", job, stdin=b"a\nb\n"))
    assert done.stdout == b"a\nb\n" and done.stderr.count(b"\n") == 1 and b"read 2 = written 2" in done.stderr
    done = ok(p.run("run", "-q", job, stdin=b"a\n"))
    assert done.stdout == b"a\n" and not done.stderr


@test
def checkpoints_points_at_the_stores_that_lie_there(p):
    ok(p.run("run", p.write("j.yaml", f"execution.checkpointing.dir: {p.dir}/states/a.db\n"
                            "sources: {e: {connector: nexmark, events.num: 10}}\n"
                            "sinks: {o: {from: e, connector: blackhole}}\n")))
    done = ok(p.run("checkpoints", "list", p.dir / "states"), 4)
    assert b"there is no checkpoint" in done.stderr and b": a.db [SR1005]\n" in done.stderr, done.stderr
    shown = json.loads(ok(p.run("checkpoints", "show", p.dir / "states" / "a.db", "--json")).stdout)
    assert len(shown["lineage"]) == 16, "a name, not a number"
