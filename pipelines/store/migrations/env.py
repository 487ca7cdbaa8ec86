"""Alembic's way in: run the migrations on the connection, and in the transaction, that `upgrade` opened."""

from alembic import context

from pipelines.store.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata)
context.run_migrations()
