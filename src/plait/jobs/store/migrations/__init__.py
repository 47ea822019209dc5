"""Alembic's revisions of the schema, applied by ``Store.open``."""
