"""The pinned manifest of Argo CD, split as the runbook splits it."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.observe.argocd_manifest import MARKS, Split, parse_split
from lab.gitops_manifest import text as manifest


def marks(text: str) -> str:
    wanted = ("---", "apiVersion:", "kind: CustomResourceDefinition")
    lines = text.splitlines()
    return "".join(
        f"{line}\n"
        for line in lines
        if line in wanted
        or line.startswith("apiVersion:")
        or line == "  name: applicationsets.argoproj.io"
    )


def test_the_manifest_splits_as_awk_splits_it() -> None:
    assert parse_split(marks(manifest())) == Split(1, 58)


AWK = r"""
  function flush() {
    if (buf == "") { return }
    if (want) { print buf > "apart.yaml" }
    else {
      if (n++) print "---" > "rest.yaml"
      print buf > "rest.yaml"
    }
    buf = ""; want = 0; kind = 0
  }
  /^---$/ { flush(); next }
  /^kind: CustomResourceDefinition$/ { kind = 1 }
  /^  name: applicationsets\.argoproj\.io$/ { if (kind) want = 1 }
  { buf = buf $0 "\n" }
  END { flush() }
"""
"""The runbook's, with its paths replaced."""


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "---",
                "apiVersion: v1",
                "apiVersion:",
                " apiVersion: v1",
                "kind: CustomResourceDefinition",
                "kind: CustomResourceDefinitions",
                "  name: applicationsets.argoproj.io",
                "  name: applicationsetsXargoproj.io",
                "    name: applicationsets.argoproj.io",
                "--- ",
                "x",
            ]
        ),
        max_size=14,
    )
)
def test_any_manifest_splits_as_the_runbook_s_awk_splits_it(lines: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        manifest = "".join(f"{line}\n" for line in lines)
        subprocess.run(["awk", AWK], input=manifest, text=True, cwd=folder, check=True)
        counts = []
        for name in ("apart.yaml", "rest.yaml"):
            path = Path(folder, name)
            text = path.read_text() if path.exists() else ""
            counts.append(sum(line.startswith("apiVersion:") for line in text.splitlines()))
        grep = subprocess.run(
            ["grep", "-E", MARKS], input=manifest, text=True, capture_output=True, check=False
        )
    assert parse_split(grep.stdout) == Split(*counts)


@pytest.mark.parametrize(
    ("lines", "split"),
    [
        ([], Split(0, 0)),
        (["apiVersion: v1", "kind: CustomResourceDefinition"], Split(0, 1)),
        # A name of the same text in another kind, or before the kind, goes with the rest.
        (["apiVersion: v1", "  name: applicationsets.argoproj.io"], Split(0, 1)),
        (
            [
                "apiVersion: v1",
                "  name: applicationsets.argoproj.io",
                "kind: CustomResourceDefinition",
            ],
            Split(0, 1),
        ),
        (
            [
                "---",
                "apiVersion: v1",
                "kind: CustomResourceDefinition",
                "  name: applicationsets.argoproj.io",
                "---",
                "---",
                "apiVersion: v1",
            ],
            Split(1, 1),
        ),
    ],
)
def test_documents_are_counted_as_the_runbook_counts_them(lines: list[str], split: Split) -> None:
    assert parse_split("".join(f"{line}\n" for line in lines)) == split
