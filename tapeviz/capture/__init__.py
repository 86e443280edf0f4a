"""The worker's side: runs the script, observes the engine, writes the recording, obeys pause and step."""
