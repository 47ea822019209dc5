"""The methods of the language's own types."""
