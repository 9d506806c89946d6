"""Argo CD's pinned manifest as far as it is split: 59 documents, one of them the large CRD."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Final

MANIFEST: Final = "kubernetes/gitops/bootstrap/argocd-install-v3.4.8/install.yaml"
"""In the infrastructure checkout."""

_CRDS: Final = ("applications", "applicationsets", "appprojects")
_OTHERS: Final = 56


@cache
def text() -> str:
    """The manifest."""
    crds = [
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n"
        f"  name: {name}.argoproj.io\n"
        for name in _CRDS
    ]
    others = [
        f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: argocd-part-{number}\n"
        for number in range(_OTHERS)
    ]
    return "---\n".join((*crds, *others))


@cache
def sha256() -> str:
    """Its digest, as it is recorded."""
    return hashlib.sha256(text().encode()).hexdigest()
