"""The machines lab: real systemd, keepalived, etcd and Kubernetes in containers on one host."""
