"""Second stage: the inputs that a template needs, and the parts of messages that it shows."""
