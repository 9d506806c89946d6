"""The static pods of a control plane, with the arguments RKE2 gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .containers import StaticPod
from .paths import AGENT, CREDENTIALS, ETCD, KUBE_PROXY_KUBECONFIG, PROGRAMS, TLS, VERSION

if TYPE_CHECKING:
    from .config import Config

_IMAGES: Final = "rancher"
_KUBERNETES_IMAGE: Final = f"{_IMAGES}/hardened-kubernetes:{VERSION.replace('+', '-')}-build"
_ISSUER: Final = "https://kubernetes.default.svc.cluster.local"


def of_server(config: Config) -> tuple[StaticPod, ...]:
    """etcd, API server, controller-manager, scheduler, kube-proxy: in order of start."""
    return (
        StaticPod(
            "etcd",
            f"{_IMAGES}/hardened-etcd:v3.6.14-k3s1-build",
            (str(PROGRAMS / "etcd"), f"--config-file={ETCD}/config"),
        ),
        StaticPod("kube-apiserver", _KUBERNETES_IMAGE, _api_server(config)),
        StaticPod("kube-controller-manager", _KUBERNETES_IMAGE, _controller_manager(config)),
        StaticPod("kube-scheduler", _KUBERNETES_IMAGE, _scheduler()),
        kube_proxy(config),
    )


def kube_proxy(config: Config) -> StaticPod:
    """What every node has, control plane or worker."""
    return StaticPod(
        "kube-proxy",
        _KUBERNETES_IMAGE,
        (
            str(PROGRAMS / "kube-proxy"),
            f"--cluster-cidr={config.cluster_cidr}",
            "--conntrack-max-per-core=0",
            "--conntrack-tcp-timeout-close-wait=0s",
            "--conntrack-tcp-timeout-established=0s",
            "--healthz-bind-address=127.0.0.1",
            f"--hostname-override={config.node_name}",
            f"--kubeconfig={KUBE_PROXY_KUBECONFIG}",
            # RKE2 names iptables, which Debian's image would need as well; the rules do the same.
            "--proxy-mode=nftables",
        ),
    )


def _api_server(config: Config) -> tuple[str, ...]:
    return (
        str(PROGRAMS / "kube-apiserver"),
        f"--advertise-address={config.node_ip}",
        "--allow-privileged=true",
        "--anonymous-auth=false",
        f"--api-audiences={_ISSUER},rke2",
        "--authorization-mode=Node,RBAC",
        "--bind-address=0.0.0.0",
        f"--client-ca-file={TLS}/client-ca.crt",
        "--enable-admission-plugins=NodeRestriction",
        "--enable-aggregator-routing=true",
        f"--encryption-provider-config={CREDENTIALS}/encryption-config.json",
        f"--etcd-cafile={TLS}/etcd/server-ca.crt",
        f"--etcd-certfile={TLS}/etcd/client.crt",
        f"--etcd-keyfile={TLS}/etcd/client.key",
        "--etcd-servers=https://127.0.0.1:2379",
        f"--kubelet-certificate-authority={AGENT}/server-ca.crt",
        f"--kubelet-client-certificate={TLS}/client-kube-apiserver.crt",
        f"--kubelet-client-key={TLS}/client-kube-apiserver.key",
        "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
        "--profiling=false",
        f"--proxy-client-cert-file={TLS}/client-auth-proxy.crt",
        f"--proxy-client-key-file={TLS}/client-auth-proxy.key",
        "--requestheader-allowed-names=system:auth-proxy",
        f"--requestheader-client-ca-file={TLS}/request-header-ca.crt",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        "--secure-port=6443",
        f"--service-account-issuer={_ISSUER}",
        f"--service-account-key-file={TLS}/service.key",
        f"--service-account-signing-key-file={TLS}/service.key",
        f"--service-cluster-ip-range={config.service_cidr}",
        "--storage-backend=etcd3",
        f"--tls-cert-file={TLS}/serving-kube-apiserver.crt",
        f"--tls-private-key-file={TLS}/serving-kube-apiserver.key",
    )


def _controller_manager(config: Config) -> tuple[str, ...]:
    kubeconfig = f"{CREDENTIALS}/controller.kubeconfig"
    return (
        str(PROGRAMS / "kube-controller-manager"),
        "--allocate-node-cidrs=true",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--cluster-cidr={config.cluster_cidr}",
        f"--cluster-signing-cert-file={TLS}/client-ca.crt",
        f"--cluster-signing-key-file={TLS}/client-ca.key",
        f"--kubeconfig={kubeconfig}",
        "--profiling=false",
        f"--root-ca-file={TLS}/server-ca.crt",
        f"--service-account-private-key-file={TLS}/service.key",
        f"--service-cluster-ip-range={config.service_cidr}",
        "--use-service-account-credentials=true",
    )


def _scheduler() -> tuple[str, ...]:
    kubeconfig = f"{CREDENTIALS}/scheduler.kubeconfig"
    return (
        str(PROGRAMS / "kube-scheduler"),
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--kubeconfig={kubeconfig}",
        "--profiling=false",
    )
