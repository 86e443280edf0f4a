"""The recording: one SQLite file per run, written by a worker, read live and later by anybody."""
