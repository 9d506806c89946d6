"""What runs inside a machine in place of the `rke2` program: standard library and PyYAML only."""
