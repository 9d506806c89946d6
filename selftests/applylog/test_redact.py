from __future__ import annotations

import base64
import json
import urllib.parse

import pytest

from fixtures.applylog.redact import MARK, Redactor, redact, redact_bytes

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


@pytest.mark.parametrize("secret", ["p@ss wörd/+=&9", HEX32, "a" * 8, f"{BODY}\n{BODY}x"])
def test_learnt_secrets_are_hidden_in_every_form(secret: str) -> None:
    redactor = Redactor()
    assert redactor.learn(secret)
    raw = secret.encode()
    forms = {
        secret: secret,
        json.dumps(secret): json.dumps(secret)[1:-1],
        urllib.parse.quote(secret, safe=""): urllib.parse.quote(secret, safe=""),
        base64.b64encode(raw).decode(): base64.b64encode(raw).decode()[:-4],
        base64.urlsafe_b64encode(raw).decode(): base64.urlsafe_b64encode(raw).decode()[:-4],
        base64.b64encode(b"x" + raw + b"y").decode(): base64.b64encode(b"x" + raw).decode()[2:-4],
        base64.b64encode(b"xy" + raw + b"z").decode(): base64.b64encode(b"xy" + raw).decode()[3:-4],
    }

    for whole, part in forms.items():
        assert part in whole
        assert part not in redactor.text(f"before ({whole}) after")


ROWS = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj", "AgEAAoIBAQC7bV3xqk", "c0ffee=="]


def test_a_learnt_key_does_not_hide_how_other_keys_are_recognised() -> None:
    redactor = Redactor()
    own = "-----BEGIN PRIVATE KEY-----\nbGVhcm50IGtleSBtYXRlcmlhbCBvZiB0aGUgcnVu\n"
    redactor.learn(f"{own}-----END PRIVATE KEY-----\n")

    said = redactor.text("-----BEGIN PRIVATE KEY-----\n" + "\n".join(ROWS) + "\n# cut here\n")
    assert not [row for row in ROWS if row in said]
    assert said.endswith("# cut here\n")
    assert "bGVhcm50" not in redactor.text(own)


@pytest.mark.parametrize("end", [" -----END PRIVATE KEY-----", ""])
def test_a_key_on_one_line_does_not_survive(end: str) -> None:
    said = redact(
        f"seen `-----BEGIN PRIVATE KEY----- {' '.join(ROWS[: 1 if not end else 3])}{end}`"
    )
    assert not [row for row in ROWS if row in said]


def test_a_secret_too_short_to_recognise_is_not_learnt() -> None:
    redactor = Redactor()

    assert not redactor.learn("eth0")
    assert redactor.text("eth0 is up") == "eth0 is up"


def test_bytes_that_are_not_utf8_stay() -> None:
    assert redact_bytes(b"\xff\xfe password=abcdef \x80") == b"\xff\xfe password=[redacted] \x80"
