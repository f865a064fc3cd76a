"""Second stage: which inputs a template wants, and what it can show."""
