"""What etcd 3.6.14 answers etcdctl: its members, their health, their progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.etcd import EtcdCluster, Member

TIMED_OUT = "context deadline exceeded"


def row(member: Member) -> str:
    """One line of `member list` in the simple form."""
    return ", ".join(
        (
            f"{member.id:x}",
            "started" if member.started else "unstarted",
            member.name if member.started else "",
            member.peer_url,
            member.client_url if member.started else "",
            str(member.learner).lower(),
        )
    )


def listed(cluster: EtcdCluster, own: Member, *, hexadecimal: bool) -> dict[str, object]:
    """`member list` as JSON, in the words of the member that was asked."""

    def shown(number: int) -> int | str:
        return f"{number:x}" if hexadecimal else number

    members: list[dict[str, object]] = []
    for member in cluster.members:
        entry: dict[str, object] = {"ID": shown(member.id)}
        if member.started:
            entry["name"] = member.name
        entry["peerURLs"] = [member.peer_url]
        if member.started:
            entry["clientURLs"] = [member.client_url]
        # 3.6's hexadecimal printer leaves the learner flag out.
        if member.learner and not hexadecimal:
            entry["isLearner"] = True
        members.append(entry)
    header = {
        "cluster_id": shown(cluster.id),
        "member_id": shown(own.id),
        "raft_term": cluster.term,
    }
    return {"header": header, "members": members}


def problem(cluster: EtcdCluster, member: Member) -> str | None:
    """What keeps that member from committing a proposal."""
    if member.node not in cluster.alive or not cluster.quorum:
        return TIMED_OUT
    if member.learner:
        return "rpc error: code = Unavailable desc = etcdserver: rpc not supported for learner"
    if cluster.alarm:
        return f"Active Alarm(s): {cluster.alarm} "
    return None


def status(cluster: EtcdCluster, member: Member) -> dict[str, object]:
    """`endpoint status` of that member as JSON."""
    leader = cluster.leader
    answer: dict[str, object] = {
        "header": {
            "cluster_id": cluster.id,
            "member_id": member.id,
            "revision": cluster.revision,
            "raft_term": cluster.term,
        },
        "version": "3.6.14",
        "dbSize": 4718624,
    }
    if leader:
        answer["leader"] = leader.id
    answer |= {
        "raftIndex": cluster.revision + 220,
        "raftTerm": cluster.term,
        "raftAppliedIndex": cluster.revision + 220,
    }
    if not leader:
        answer["errors"] = ["etcdserver: no leader"]
    answer |= {"dbSizeInUse": 2310144, "storageVersion": "3.6.0", "dbSizeQuota": 2147483648}
    if member.learner:
        answer["isLearner"] = True
    return answer | {"downgradeInfo": {}}


def status_line(cluster: EtcdCluster, document: dict[str, object]) -> str:
    """The same in the simple form."""
    endpoint = str(document["Endpoint"])
    member = next((m for m in cluster.members if m.client_url == endpoint), cluster.members[0])
    index = cluster.revision + 220
    leads = str(member is cluster.leader).lower()
    learner = str(member.learner).lower()
    return (
        f"{endpoint}, {member.id:x}, 3.6.14, 3.6.0, 4.7 MB, 2.3 MB, 52%, 2.1 GB, {leads}, "
        f"{learner}, {cluster.term}, {index}, {index}, , , false"
    )
