"""Logging in to a broker by OAUTHBEARER."""
from harness import ok, test
from test_kafka_source import BOUNDED, job, lines, topic, values


@test
def a_token_that_nobody_signed_is_made_for_whom_jaas_names(p):
    broker = p.kafka()
    name = topic(broker)
    broker.put(name, lines(0, 3))
    login = """    properties.security.protocol: SASL_SSL
    properties.sasl.mechanism: OAUTHBEARER
    properties.sasl.jaas.config: org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="USER";
    properties.ssl.truststore.type: PEM
    properties.ssl.truststore.location: CA
""".replace("CA", str(broker.ca))

    def run(user):
        path = job(p, broker, name, BOUNDED + login.replace("USER", user))
        text = open(path).read().replace(broker.bootstrap, broker.secure)
        return p.run("run", p.write("job.yaml", text), "-D", "restart-strategy.type=none", timeout=60)
    done = ok(run("oauth-nobody"), 1)
    assert b"uthorization failed" in done.stderr, done.stderr
    broker.allow("oauth-reader", "topic", name, "all")
    assert values(ok(run("oauth-reader"))) == ["0", "1", "2"]
    done = ok(run("a b"), 3)
    assert b"a name without spaces" in done.stderr, done.stderr
