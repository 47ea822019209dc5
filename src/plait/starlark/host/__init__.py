"""What a host brings along: builtins, values and the exceptions of its code."""
