"""The store: tables, migrations and queries; the only place that knows SQL."""
