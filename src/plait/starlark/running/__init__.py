"""Running: what compiled code calls, and what becomes of its failures."""
