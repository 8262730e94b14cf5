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
                        ("0.908 * CAST(89258 AS BIGINT)", "81046.264"), ("MOD(-7, 3)", "-1")):
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
