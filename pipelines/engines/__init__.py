"""What reads meaning: `local` (rules, no key, no network)."""
