"""Resolving: what names stand for, what functions may do, and what is known of types before a file runs."""
