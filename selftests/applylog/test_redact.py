from __future__ import annotations

import base64
import json

import pytest

from fixtures.applylog.redact import MARK, Redactor, redact

SECRET = "hunter2-Correct.Horse9"
HEX32 = "0123456789abcdef" * 2
CA = "ab" * 32
BODY = "MIIEpAIBAAKCAQEAsecretsecretsecretsecretsecretsecretsecretsecret"
PEM = (
    f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n{BODY}\nsecretEnd==\n-----END RSA PRIVATE KEY-----\n"
)
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlc2VjcmV0In0.c2lnbmF0dXJlc2VjcmV0"
B64 = base64.b64encode(SECRET.encode()).decode()

PLANTED = {
    "shell": f"DB_PASSWORD={SECRET} exec server",
    "export": f"export API_TOKEN='{SECRET} with spaces' && run",
    "yaml": f"password: {SECRET}",
    "yaml with spaces": f"  passphrase: three words {SECRET}\nnext: kept",
    "yaml quoted": f'auth:\n  secret: "a \\" quote {SECRET}"\n',
    "yaml block": f"password: |\n  {SECRET}\n  more {SECRET}\nnext: kept",
    "yaml list": f"tokens:\n  - {SECRET}\n  - {SECRET}\nnext: kept",
    "json list": json.dumps({"passwords": [SECRET, f"x {SECRET}"], "kept": [1]}),
    "equals first": f"password=={SECRET}",
    "dash first": f"password=-{SECRET}",
    "yaml block of yaml": f"secret: |\n  a: {SECRET}\n  b:\n    c {SECRET}\nnext: kept",
    "passwd": f"passwd: {SECRET}",
    "json": json.dumps({"password": SECRET, "kept": 1}),
    "json spaced": json.dumps({"apiKey": f'quo"te{SECRET}'}, indent=2),
    "json in json": json.dumps({"body": json.dumps({"clientSecret": f"x {SECRET}"})}),
    "json thrice": json.dumps(json.dumps({"a": json.dumps({"token": f"x {SECRET}"})})),
    "python repr": repr({"secret": SECRET}),
    "url": f"https://admin:{SECRET}@registry.example/v2/",
    "url token": f"https://{SECRET.replace('.', '')}XYZ@git.example/repo.git",
    "query": f"GET /login?user=x&password={SECRET}&next=/",
    "argv": f"argocd login host --username admin --password {SECRET} --grpc-web",
    "argv equals": f"tool --registry-token={SECRET} --quiet",
    "argv quoted": f'tool --secret "{SECRET} and more" --quiet',
    "curl": f"curl -u admin:{SECRET} https://host/",
    "basic": f"Authorization: Basic {B64}",
    "bearer": f"authorization: Bearer {SECRET}{SECRET}",
    "bearer alone": f"sent bearer {SECRET}{SECRET} to host",
    "header json": json.dumps({"Authorization": f"Basic {B64}"}),
    "ini": f"aws_secret_access_key = {SECRET}",
    "go struct": f'Config{{Password:"{SECRET}", Port:1}}',
    "ruby": f"'password' => '{SECRET}'",
    "kubeconfig key": f"    client-key-data: {B64}",
    "kubeconfig cert": f"    client-certificate-data: {B64}",
    "kubeconfig ca": f"    certificate-authority-data: {B64}",
    "kubeconfig token": f"users:\n- name: admin\n  user:\n    token: {SECRET}\n",
    "k8s enc": f"k8s:enc:aescbc:v1:aescbckey:\x00\x8f{SECRET} \n{SECRET}",
    "hash": f"password_hash: $6$salt${SECRET}",
    "keepalived": f"  authentication {{\n    auth_type PASS\n    auth_pass {SECRET}\n  }}",
    "redis": f"requirepass {SECRET}",
    "netrc": f"machine git.example login ada password {SECRET}",
    "a sentence": f"the token {SECRET} is not valid",
    "a sentence, after": f"error: invalid password {SECRET}",
    "a sentence, is": f"the passphrase is {SECRET}",
    "ceph user key": f"userKey: {SECRET}",
    "cookie": f"Set-Cookie: session={SECRET}; HttpOnly",
    "docker": json.dumps({"auths": {"registry.example": {"auth": B64}}}),
    "docker in json": json.dumps(json.dumps({"auth": B64})),
    "pull secret": f".dockerconfigjson: {B64}",
    "basic alone": f"sent Basic {B64} to host",
}
WHOLE = {
    "pem": PEM,
    "pem encrypted": PEM.replace(
        "KEY-----\nM", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nM", 1
    ),
    "pem in json": json.dumps({"key": PEM}),
    "pem in json in json": json.dumps(json.dumps({"key": PEM})),
    "pem unterminated": PEM[:150],
    "pem headless": PEM[40:],
    "pem indented": "\n".join(f"    {row}" for row in PEM.splitlines()),
    "pem base64": base64.b64encode(PEM.encode()).decode(),
    "pem base64 wrapped": base64.encodebytes(PEM.encode()).decode(),
    "kubeconfig base64": base64.b64encode(f"users:\n- token: {SECRET}\n{PEM}".encode()).decode(),
}
TOKENS = {
    "rke2": f"K10{CA}::server:{HEX32}",
    "rke2 agent": f"token is K10{CA}::node:{HEX32} ok",
    "hex": f"the join token {HEX32} was used",
    "bootstrap": "abcdef.0123456789abcdef",
    "jwt": f"sent {JWT}",
    "github": "remote: ghp_" + "a1B2" * 9,
    "github fine": "github_pat_" + "a1B2_" * 16,
    "aws": "key AKIAIOSFODNN7EXAMPLE used",
    "ceph": f"[client.kubernetes]\n\tkey = AQ{'IOSFODNN7' * 4}==",
}
KEPT = [
    f"sha256:{CA}",
    f"{CA}  /var/lib/rancher/rke2/server/db/snapshots/pre",
    "member 8e9e05c52164694d, cluster 14841639068965178418, raft term 7",
    "uid 6f1c1f0e-8a53-4d43-9b57-5c9b5f1f3c11",
    "SHA256 Fingerprint=" + ":".join(["AB"] * 32),
    "256 SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDzQv4AXUFSa3hVZuo rke-cp01 (ED25519)",
    '"automountServiceAccountToken": true, "secretName": "etcd-certs"',
    "tokenExpirationSeconds: 3607",
    "secrets-encryption: true",
    "--etcd-certfile=/etc/certs/server-client.crt --anonymous-auth=false",
    '[{"ifname":"eth0","addr_info":[{"local":"10.72.0.20","prefixlen":23}]}]',
    "k8s:enc:aescbc:v1:aescbckey: 685 bytes",
    "LoadState=loaded\nActiveState=active\nSubState=running\nNRestarts=0",
    "[+]etcd ok\n[+]poststarthook/start-kube-aggregator-informers ok\nreadyz check passed\n",
    "http://10.72.0.20:6443/readyz?verbose",
    "password: null",
    "invalid basic information was given",
    "basic troubleshooting of authentication and internationalization",
    "the join token file /var/lib/rancher/rke2/server/node-token has mode 0600",
    "token revoked on GitHub, see card 4711",
    "token sha256 of both servers is equal; password mode 0640",
    "serviceaccount token kube-root-ca is projected",
]


@pytest.mark.parametrize("name", PLANTED)
def test_planted_secrets_do_not_survive(name: str) -> None:
    cleaned = redact(PLANTED[name])

    assert SECRET not in cleaned
    assert B64 not in cleaned
    assert "hunter2" not in cleaned
    assert MARK in cleaned


@pytest.mark.parametrize("name", WHOLE)
def test_key_material_does_not_survive(name: str) -> None:
    cleaned = redact(WHOLE[name])

    for part in (BODY, BODY[-20:], "secretEnd", SECRET, base64.b64encode(PEM.encode()).decode()):
        assert part not in cleaned
    for row in base64.encodebytes(PEM.encode()).decode().splitlines():
        assert row not in cleaned


@pytest.mark.parametrize("name", TOKENS)
def test_known_token_shapes_do_not_survive(name: str) -> None:
    cleaned = redact(TOKENS[name])

    assert MARK in cleaned
    for part in (HEX32, "0123456789abcdef", JWT[-16:], "a1B2a1B2", "a1B2_", "IOSFODNN7"):
        assert part not in cleaned


@pytest.mark.parametrize("text", KEPT)
def test_evidence_survives(text: str) -> None:
    assert redact(text) == text


def test_the_rest_of_a_line_survives() -> None:
    assert redact("a: 1\npassword: x y\nb: 2") == f"a: 1\npassword: {MARK}\nb: 2"
    assert redact(f"tool --password {SECRET} --quiet") == f"tool --password {MARK} --quiet"
    assert redact('{"password": "x", "b": 2}') == f'{{"password": "{MARK}", "b": 2}}'
    assert redact(PEM) == (f"-----BEGIN RSA PRIVATE KEY-----{MARK}-----END RSA PRIVATE KEY-----\n")


def secret_object(**data: str) -> dict[str, object]:
    return {"apiVersion": "v1", "data": data, "kind": "Secret", "metadata": {"name": "repo"}}


def test_a_secret_printed_as_json_keeps_its_keys_only() -> None:
    found = secret_object(url=B64, sshKnown=B64)
    listed = {"kind": "List", "items": [found, secret_object(other="e30=}")], "x": "kept"}
    cleaned = redact(json.dumps(listed, indent=4))

    back = json.loads(cleaned)
    assert B64 not in cleaned
    assert back["items"][0]["data"] == {"url": MARK, "sshKnown": MARK}
    assert back["items"][1]["data"] == {"other": MARK}
    assert back["x"] == "kept"
    assert back["items"][0]["metadata"] == {"name": "repo"}


def test_a_secret_inside_an_annotation_is_one_too() -> None:
    applied = json.dumps({**secret_object(), "stringData": {"plain": f'{{"a":"{SECRET}"}}'}})
    cleaned = redact(json.dumps({"annotations": {"last-applied": applied}}))

    assert SECRET not in cleaned
    assert "plain" in cleaned


def test_a_secret_cut_off_in_its_data_is_hidden_to_the_end() -> None:
    text = json.dumps({"kind": "Secret", "data": {"a": B64, "b": B64}})[:-12]

    assert B64[:12] not in redact(text)


def test_a_secret_printed_as_yaml_keeps_its_keys_only() -> None:
    text = (
        "apiVersion: v1\ndata:\n"
        f"  url: {B64}\n  tls.crt: |\n    {SECRET}\n    {SECRET}\n"
        f"  last: {B64}\nkind: Secret\nmetadata:\n  name: repo\n"
    )
    cleaned = redact(text)

    assert SECRET not in cleaned
    assert B64 not in cleaned
    assert cleaned.endswith(f"  last: {MARK}\nkind: Secret\nmetadata:\n  name: repo\n")


@pytest.mark.parametrize("any_", ["interface {}", "interface{}", "any"])
def test_an_object_as_kubectl_dumps_it_is_hidden(any_: str) -> None:
    head = "error: uid is not found.\n\tobject given to jsonpath engine was:\n"
    dump = f'map[string]{any_}{{"data":map[string]{any_}{{"url":"{B64}", "x":"{SECRET}"}}}}'
    cleaned = redact(f"{head}\t\t{dump}\n\nnext line")

    assert cleaned == f"{head}\t\t{MARK}\n\nnext line"
    assert redact("a map[string]string of labels") == "a map[string]string of labels"


def test_values_under_keys_named_like_secrets_are_hidden() -> None:
    found = Redactor().fields(
        {
            "password": "short",
            "pin": 1,
            "adminToken": 123456,
            "nested": [{"client_secret": ["a", {"b": "c"}], "secret": False, "token": None}],
            "sha256": CA,
        }
    )

    assert found == {
        "password": MARK,
        "pin": 1,
        "adminToken": MARK,
        "nested": [{"client_secret": [MARK, {"b": MARK}], "secret": False, "token": None}],
        "sha256": CA,
    }


def test_what_is_not_json_becomes_its_text_without_secrets() -> None:
    found = Redactor().value(
        {
            "tuple": (f"password={SECRET}", ({"token": SECRET},)),
            "set": {"b", "a"},
            "error": ValueError(f"password={SECRET}"),
            "nan": float("nan"),
            1: b"x",
        }
    )

    assert found == {
        "tuple": [f"password={MARK}", [{"token": MARK}]],
        "set": ["a", "b"],
        "error": f"password={MARK}",
        "nan": "nan",
        "1": "b'x'",
    }
