#!/bin/sh
# As RKE2's own script: the units, then every container, which a stop of the unit leaves running.
[ "$(id -u)" -eq 0 ] || exec sudo "$0" "$@"
systemctl stop rke2-server.service rke2-agent.service
systemctl kill --signal=SIGKILL 'rke2-container@*.service'
systemctl stop 'rke2-container@*.service'
