"""First stage: conversations of made-up words, rendered by the template within bounds."""
