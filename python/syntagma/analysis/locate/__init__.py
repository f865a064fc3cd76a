"""Third stage: every shape of a turn is rendered, and what was put in is located in the text."""
