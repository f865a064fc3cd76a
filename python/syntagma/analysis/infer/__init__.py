"""Fourth stage: located turns are compared, and their common texts become a format."""
