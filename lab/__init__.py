"""The embedded lab: a whole cluster in one process, on loopback, that answers as the real one."""
