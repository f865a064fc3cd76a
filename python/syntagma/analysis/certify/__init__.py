"""Last stage: other messages are rendered, read back with the format, and offered to its grammar."""
