"""How long things take in the lab, in seconds: the real ones, scaled down."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Pace:
    """Durations; faults change them. Infinity never happens.

    Attributes:
        fall: keepalived's check script has failed often enough (really interval x fall).
        rise: keepalived's check script has succeeded often enough.
        takeover: a backup misses the master's advertisements (really about 3 s).
        preempt: a higher priority takes the VIP from a living master (really about 1 s).
        election: etcd is without a leader after the leader died (really about 1 s).
        supervisor: rke2-server listens on 9345, kubelet and containerd run.
        etcd: the etcd static pod runs.
        api: kube-apiserver runs.
        ready: the unit tells systemd READY=1.
        restart: RestartSec of a server that ended by itself (really 5 s).
        join: between two attempts to reach a server that can be joined.
        promote: a learner has caught up and becomes a voter (really 2 to 15 s).
        flag: a normal start removes the reset-flag (really about 11 s).
        status: the leader writes EtcdIsVoter into the node (really about 15 s).
        grace: a node without kubelet turns Unknown (really 40 s).
        account: a new namespace has its default service account.
        schedule: a pod is bound to a node.
        pull: its image is there.
        container: its containers run and are ready.
        provision: the volume of a claim is made.
        backoff: before a container that ended is started again (really 10 s, then more).
        terminate: containers that heed SIGTERM have ended.
        stubborn: what does not heed it is killed (really the pod's grace period of 30 s).
        replace: a controller makes up for a pod that is gone.
        namespace: between two looks at what is left in a namespace that is deleted.
        cni: a node's Cilium agent runs and the node is Ready.
        evict: kubectl tries an eviction that was refused again (really 5 s).
        flap: a node that flaps is Ready, or not, for so long (really 3 s).
        shutdown: from `reboot` to a machine that no longer answers.
        boot: until it answers again (really a minute or two).
        lease: between two renewals of a node's Lease (really 10 s).
        connectivity: one test of a connectivity test (really some 10 s).
        deployment: a connectivity test waits so long for its pods (really 10 min).
        reset: a cluster-reset that succeeds (really 3 to 7 s).
        refusal: a cluster-reset that fails early (really 1.4 s).
        compare: Argo CD sees that an object differs from Git (really a second or two).
        heal: until it has brought it back (really some 5 s).
    """

    fall: float = 0.3
    rise: float = 0.15
    takeover: float = 0.3
    preempt: float = 0.1
    election: float = 0.1
    supervisor: float = 0.1
    etcd: float = 0.1
    api: float = 0.1
    ready: float = 0.05
    restart: float = 0.5
    join: float = 0.1
    promote: float = 0.2
    flag: float = 0.5
    status: float = 0.2
    grace: float = 1.0
    account: float = 0.02
    schedule: float = 0.02
    pull: float = 0.03
    container: float = 0.05
    provision: float = 0.1
    backoff: float = 0.3
    terminate: float = 0.05
    stubborn: float = 0.2
    replace: float = 0.03
    namespace: float = 0.1
    cni: float = 0.3
    evict: float = 0.25
    flap: float = 0.3
    shutdown: float = 0.05
    boot: float = 0.7
    lease: float = 0.5
    connectivity: float = 0.01
    deployment: float = 8.0
    reset: float = 0.4
    refusal: float = 0.15
    compare: float = 0.1
    heal: float = 0.5
