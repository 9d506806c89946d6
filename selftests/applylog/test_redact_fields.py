"""Secrets that no name stands directly before: fields, columns, options, sentences, shapes."""

from __future__ import annotations

import base64
import json
import urllib.parse

import pytest

from fixtures.applylog.redact import MARK, redact

SECRET = "Zq9xHunter2Pass77"
FIELD = {"name": "DB_PASSWORD", "value": SECRET}
HEAD = base64.urlsafe_b64encode(b'{"alg":"RS256","kid":"123456789"}').decode().rstrip("=")
BODY = base64.urlsafe_b64encode(b'{"iss":"kubernetes/serviceaccount","sub":"ci"}').decode()
JWT = f"{HEAD}.{BODY.rstrip('=')}.{'c2lnbmF0dXJl' * 8}"


def encoded(text: str, times: int) -> str:
    for _ in range(times):
        text = base64.b64encode(text.encode()).decode()
    return text


HIDDEN = {
    "environment, JSON": json.dumps({"env": [FIELD]}),
    "environment, JSON, compact": json.dumps(FIELD, separators=(",", ":")),
    "environment, JSON, indented": json.dumps({"env": [FIELD]}, indent=2),
    "environment, JSON in JSON": json.dumps(json.dumps({"env": [FIELD]})),
    "environment, the value first": json.dumps({"value": SECRET, "name": "DB_PASSWORD"}),
    "environment, a field between": json.dumps(
        {"name": "DB_PASSWORD", "description": "x", "value": SECRET}
    ),
    "environment, quotes in it": json.dumps({"name": "DB_PASSWORD", "value": f'a"{SECRET}'}),
    "a parameter": json.dumps({"Key": "password", "Value": SECRET}),
    "nested": json.dumps({"password": {"kind": "plain", "value": SECRET}}),
    "environment, YAML": f"env:\n  - name: DB_PASSWORD\n    value: {SECRET}\n  - name: A\n",
    "environment, YAML, quoted": f'env:\n- name: "DB_PASSWORD"\n  value: "{SECRET}"\n',
    "environment, YAML, the value first": f"env:\n- value: {SECRET}\n  name: DB_PASSWORD\n",
    "environment, YAML in braces": f"env: [{{name: DB_PASSWORD, value: {SECRET}}}]",
    "YAML goes on": f"password: abc\n  {SECRET}\nnext: 1",
    "TOML": f'password = """\n{SECRET}\n"""',
    "an element": f"<password>{SECRET}</password>",
    "an element with attributes": f"<s:adminPassword type='x'>{SECRET}</s:adminPassword>",
    "a property": f'<property name="password" value="{SECRET}"/>',
    "a property, the value first": f'<property value="{SECRET}" name="password"/>',
    "a table": f"USER   PASSWORD   AGE\nadmin  {SECRET}  3d\n",
    "a table, indented": f"  USER   TOKEN\n  admin  {SECRET}\n",
    "a table with lines": f" user  | password \n-------+----------\n admin | {SECRET}\n",
    "a table of Markdown": f"| user | password |\n|---|---|\n| a | {SECRET} |\n",
    "separated by commas": f"user,password,host\nadmin,{SECRET},x\n",
    "separated by semicolons": f'"user";"api_key"\n"admin";"{SECRET}"\n',
    "mysql": f"mysql -u root -p{SECRET} db",
    "sshpass": f"sshpass -p '{SECRET}' ssh x",
    "redis-cli": f"redis-cli -h x -a {SECRET} ping",
    "docker login": f"docker login -u me -p {SECRET} registry",
    "helm registry login": f"helm registry login -u me -p {SECRET} registry",
    "ldapsearch": f"ldapsearch -x -D cn=a -w {SECRET}",
    "openssl": f"openssl rsa -passin pass:{SECRET}",
    "a variable's name": f"export DB_PASS={SECRET}",
    "SQL": f"CREATE USER a IDENTIFIED BY '{SECRET}'",
    "SQL, a password": f"ALTER USER a WITH PASSWORD '{SECRET}'",
    "a sentence, quoted": f"wrong password '{SECRET}' of admin",
    "a sentence, of whom": f"the password for admin is {SECRET}",
    "a sentence, of what": f"password file: {SECRET}",
    "a sentence, a secret": f"the secret {SECRET} is wrong",
    "a sentence, its value": "secret value correct-horse",
    "a URL's query, encoded": f"https%3A%2F%2Fh%2F%3Ftoken%3D{SECRET}%26x",
    "a URL in a URL": urllib.parse.quote(urllib.parse.quote(f"https://h/?token={SECRET}")),
    "a URL's user": f"http://{SECRET}@host/x",
    "a web token, wrapped": f"{JWT[:70]}\n{JWT[70:130]}\n{JWT[130:]}",
    "a web token, encoded": encoded(JWT, 1),
    "a web token, encoded twice": encoded(JWT, 2),
    "a password, encoded twice": encoded(json.dumps({"password": SECRET, "user": "ada"}), 2),
    "a ticket of Proxmox": f"PVE:root@pam:65A1B2C3::{'a1B2' * 30}",
    "a cookie of Proxmox": f"PVEAuthCookie=PVE:root@pam:65A1B2C3::{'a1B2' * 30}",
    "a hook": "https://hooks.slack.com/services/T0000/B0000/" + "aB3" * 8,
    "a Ceph key, cut off": "key = AQD1x2y3Zk9hEhAAq8w7e6r5",
    "a Ceph key, cut off by us": "key = AQD1x2y3Zk9hEhAAq8w7e6r5…\n",
    "bcrypt": "admin:$2y$05$" + "aB3" * 17,
    "shadow": f"root:$6$salt${'aB3' * 28}:19000:0:99999:7:::",
    "Vault": "hvs.CAESI" + "aB3" * 10,
    "npm": "npm_" + "aB3" * 12,
}
SEEN = (SECRET, "correct-horse", "a1B2a1B2", "aB3aB3aB3", "Zk9hEhAA", HEAD[:24], JWT[-24:])

KEPT = [
    'secret "csi-rbd-secret" not found; secret sh.helm.release.v1.rke2-canal.v1 is old',
    "parse error: unexpected token '<' at 3",
    "NAME      SECRETS   AGE\ndefault   1         3d\n",
    "NAME              TYPE     DATA   AGE\ncsi-rbd-secret    Opaque   2      3d\n",
    json.dumps({"name": "node-name", "value": "rke-cp01"}),
    json.dumps({"key": "node.kubernetes.io/not-ready", "value": "true"}),
    json.dumps({"name": "TOKEN_URL", "value": "https://h"}),
    '"secret":{"secretName":"csi-rbd-secret","defaultMode":420}',
    "AQI is an index; AQUA and AQD1 are words",
    "<name>password</name><value>kept",
    "mysql -P 3306 -h db; docker ps -a; redis-cli -h x ping; mkdir -p /tmp/x; ssh -p 22 host",
    "-p 6443:6443 is published; ss -ltnp; ping -w 3 host",
    "bypass: yes; compass=north; PASS: 12 gates",
    "a, token, or nothing\nof, it, stays",
    "hooks.slack.com is reached; hv is no prefix; disk-sk-1 is a disk",
    "$6 and $2 are prices",
]


@pytest.mark.parametrize("name", HIDDEN)
def test_a_secret_is_hidden_wherever_it_is_told(name: str) -> None:
    hidden = redact(f"before\n{HIDDEN[name]}") if "\n" not in HIDDEN[name] else redact(HIDDEN[name])
    assert MARK in hidden
    assert not [each for each in SEEN if each in hidden]
    assert redact(hidden) == hidden


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_like_it_is_kept(text: str) -> None:
    assert redact(text) == text


def test_what_stands_beside_it_is_kept() -> None:
    assert redact(HIDDEN["a table"]) == f"USER   PASSWORD   AGE\nadmin  {MARK}  3d\n"
    assert redact(f"{HIDDEN['separated by commas']}\nadmin,kept,x") == (
        f"user,password,host\nadmin,{MARK},x\n\nadmin,kept,x"
    )
    fields = [FIELD, {"name": "ZONE", "value": "kept"}]
    assert json.loads(redact(json.dumps(fields))) == [
        {"name": "DB_PASSWORD", "value": MARK},
        {"name": "ZONE", "value": "kept"},
    ]
    assert redact(HIDDEN["mysql"]) == f"mysql -u root -p{MARK} db"
    assert redact(HIDDEN["a property"]) == f'<property name="password" value="{MARK}"/>'
