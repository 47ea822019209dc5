"""The universal names of the language, and the attributes of its values."""
