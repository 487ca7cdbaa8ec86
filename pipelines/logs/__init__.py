"""Session logs: one pure reader a format, splitting, origins, redaction, archive and intake."""
