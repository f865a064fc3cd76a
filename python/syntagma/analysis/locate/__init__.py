"""Third stage: every shape of a turn is rendered, and its sentinels are located in the text."""
