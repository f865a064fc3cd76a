"""Fourth stage: located turns are compared, and what they share becomes a format."""
