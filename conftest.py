"""Loads the suite's plugins; no logic here."""

pytest_plugins = ["fixtures.session.plugin", "lab.plugin"]
