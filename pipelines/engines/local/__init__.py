"""The local engine: takes only what is stated outright."""
