"""`make bench`: round trips and milliseconds, beside testinfra's own backends in the same run."""
