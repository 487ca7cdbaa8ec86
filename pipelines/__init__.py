"""dreamd's domain: what is decided, testable without a process.

    sources ─ logs.intake ─▶ turns ─ stages.extractor ─▶ claims ─ gates ─▶ stages.resolver ─▶ note versions
       │                                                                        │
    archive            memory folders ─ notes.folder ─▶ online notes ─ stages.analyzer ─▶ findings
                                                                                │
                                          wiki.publish ◀─ pages, brief ◀─ stages.organizer

Values (`model`) are frozen; stages take values and return new ones; `run` alone knows their order; `store` alone knows SQL.
"""
