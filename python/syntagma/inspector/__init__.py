"""The inspector: a page in the browser that shows what happens to one request and its answer.

The page is static and asks this package for everything it shows: `Inspector` looks at a request, `answer` is the page's
few addresses, for any web server to hand out.
"""

from syntagma.inspector.inspector import Inspector
from syntagma.inspector.pages import Reply, answer
from syntagma.inspector.values import Asked, Continued, Seen, Step

__all__ = ["Asked", "Continued", "Inspector", "Reply", "Seen", "Step", "answer"]
