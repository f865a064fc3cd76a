"""Templates that try to use up the machine, each with the code of the error that stops it.

Run as a program, it renders them all, one after the other, and prints what came of it as JSON: run by the test in a
process of its own, so that its memory can be read and a hang can be ended.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

_DOUBLED = "{% set ns = namespace(x=(1,)) %}{% for i in range(60) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}"
_LONG = "{% set x = 'x' * 1000000 %}"
_WIDE = "{% set x = 'x' * 16000000 %}"
STEPS = "E-LIMIT-TEMPLATE-STEPS"
OUTPUT = "E-LIMIT-TEMPLATE-OUTPUT"
ITEMS = "E-LIMIT-TEMPLATE-ITEMS"
INTEGER = "E-LIMIT-TEMPLATE-INTEGER"
NESTING = "E-LIMIT-TEMPLATE-NESTING"
SOURCE = "E-LIMIT-TEMPLATE-SOURCE"
SYNTAX = "E-TEMPLATE-SYNTAX"
SECURITY = "E-TEMPLATE-SECURITY"

ATTACKS: dict[str, tuple[str, str]] = {
    "nested loops": ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", STEPS),
    "string times number": ("{{ 'x' * 2000000000 }}", OUTPUT),
    "string doubled": (
        "{% set ns = namespace(x='x') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        OUTPUT,
    ),
    "power tower": ("{{ 9 ** (9 ** 8) }}", INTEGER),
    "width in a percent format": ("{{ '%1000000000d' % 1 }}", OUTPUT),
    "endless macro": ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", NESTING),
    # strings (the six above are the best known; the test asks for their memory alone)
    "joined with a tilde": (
        "{% set ns = namespace(x='x') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        OUTPUT,
    ),
    "wide join": (_WIDE + "{{ " + " ~ ".join(["x"] * 90) + " }}", OUTPUT),
    "center": ("{{ 'x' | center(2000000000) }}", OUTPUT),
    "center method": ("{{ 'x'.center(2000000000) }}", OUTPUT),
    "zfill": ("{{ 'x'.zfill(2000000000) }}", OUTPUT),
    "width in a format": ("{{ '{:>2000000000}'.format(1) }}", OUTPUT),
    "width as an argument": ("{{ '{:>{}}'.format(1, 2000000000) }}", OUTPUT),
    "width in format_map": ("{{ '{a:>2000000000}'.format_map({'a': 1}) }}", OUTPUT),
    "width as a star": ("{{ '%*d' % (2000000000, 1) }}", OUTPUT),
    "precision": ("{{ '%.2000000000f' % 1.0 }}", OUTPUT),
    "format filter": ("{{ '%2000000000d' | format(1) }}", OUTPUT),
    "format filter in a map": ("{{ ['%2000000000d'] | map('format', 1) | list }}", OUTPUT),
    "repeated field": (_LONG + "{{ ('{0}' * 10000).format(x) }}", STEPS),
    "repeated name": (_LONG + "{{ ('%(a)s' * 10000) % {'a': x} }}", OUTPUT),
    "percent in a test": ("{{ '%2000000000d' is even }}", OUTPUT),
    "percent in a selecting test": ("{{ ['%2000000000d'] | select('divisibleby', 1) | list }}", OUTPUT),
    "replace": (_LONG + "{{ x | replace('x', x) }}", OUTPUT),
    "replace method": (_LONG + "{{ x.replace('', x) }}", OUTPUT),
    "join of a string": ("{% set x = 'x' * 10000 %}{{ x | join(x) }}", OUTPUT),
    "join method": ("{% set x = 'x' * 10000 %}{{ x.join(x) }}", OUTPUT),
    "join of one string often": (_LONG + "{{ ([x] * 100) | join }}", OUTPUT),
    "indent": ("{% set x = '\n' * 10000 %}{{ x | indent(1000000, blank=true) }}", OUTPUT),
    "wordwrap": ("{% set x = 'x ' * 10000 %}{{ x | wordwrap(1, wrapstring='y' * 10000) }}", OUTPUT),
    "expandtabs": ("{{ '\t'.expandtabs(2000000000) }}", OUTPUT),
    "translate": (_LONG + "{{ x.translate({120: x}) }}", OUTPUT),
    "urlencode": ("{{ ('é' * 8000000) | urlencode }}", OUTPUT),
    "search from the right": ("{% set x = 'a' * 8000000 %}{% set y = 'b' ~ 'a' * 4000000 %}{{ x.rfind(y) }}", STEPS),
    "strip of many characters": ("{% set x = 'a' * 8000000 %}{% set y = 'b' * 4000000 ~ 'a' %}{{ x.strip(y) }}", STEPS),
    "trim of many characters": ("{% set x = 'a' * 8000000 %}{% set y = 'b' * 4000000 ~ 'a' %}{{ x | trim(y) }}", STEPS),
    "slow codec": ("{{ ('a' * 100000).encode('idna') }}", SECURITY),
    "slow filter": ("{{ ('a ' * 4000000) | title }}", STEPS),
    "one big string after another": (_WIDE + "{% for i in range(100000) %}{% set y = x.upper() %}{% endfor %}", STEPS),
    "big strings kept in a buffer": (
        _WIDE + "{% macro m() %}{% for i in range(100000) %}{{ x ~ i }}{% endfor %}{% endmacro %}{{ m() }}",
        STEPS,
    ),
    "big strings kept by name": (_WIDE + "".join(f"{{% set a{i} = x ~ {i} %}}" for i in range(1000)), STEPS),
    "output": (_LONG + "{% for i in range(100000) %}{{ x }}{% endfor %}", OUTPUT),
    "set block": (_LONG + "{% set y %}{% for i in range(1000) %}{{ x }}{% endfor %}{% endset %}", OUTPUT),
    "slices": (_WIDE + "{% for i in range(100000) %}{% set y = x[1:] %}{% endfor %}", STEPS),
    "comparisons": (_WIDE + "{% set y = x[:-1] ~ 'y' %}{% for i in range(100000) %}{{ x == y }}{% endfor %}", STEPS),
    # lists and the like
    "list times number": ("{{ [1] * 2000000000 }}", ITEMS),
    "long range": ("{{ range(10 ** 18) | list }}", ITEMS),
    "range beyond a machine word": ("{{ range(10 ** 30) }}", ITEMS),
    "batch": ("{{ [1] | batch(2000000000, 0) | list }}", ITEMS),
    "slice": ("{{ [1] | slice(2000000000) | list }}", STEPS),
    "split": ("{{ ('a,' * 8000000).split(',') | length }}", ITEMS),
    "split at blanks": ("{{ ('a ' * 8000000).split() | length }}", ITEMS),
    "lines": ("{{ ('a\n' * 8000000).splitlines() | length }}", ITEMS),
    "sum of lists": ("{{ ([[1] * 1000] * 10000) | sum(start=[]) }}", STEPS),
    "shared tuples as JSON": (_DOUBLED + "{{ ns.x | tojson }}", STEPS),
    "shared tuples as text": (_DOUBLED + "{{ ns.x }}", STEPS),
    "shared tuples joined": (_DOUBLED + "{{ ns.x ~ '' }}", STEPS),
    "shared tuples compared": (_DOUBLED + "{% set y = ns.x %}{{ (y, 1) == (ns.x, 2) }}", STEPS),
    "shared tuples tested": (_DOUBLED + "{{ ns.x is eq((1, 2)) }}", STEPS),
    "shared tuples formatted": (_DOUBLED + "{{ '%s' | format(ns.x) }}", STEPS),
    "shared tuples converted": (_DOUBLED + "{{ '{0!r:>5}'.format(ns.x) }}", STEPS),
    "shared tuples as a key": (_DOUBLED + "{{ {ns.x: 1} }}", STEPS),
    "shared tuples looked up": (_DOUBLED + "{{ {}[ns.x] }}", STEPS),
    "shared tuples looked up by a method": (_DOUBLED + "{{ {}.get(ns.x) }}", STEPS),
    "shared tuples made unique": (_DOUBLED + "{{ [ns.x] | unique | list }}", STEPS),
    "shared arguments": (
        "{% macro m(d) %}{% if d %}{{ m(d - 1, varargs, varargs) }}{% else %}{{ varargs }}{% endif %}{% endmacro %}"
        "{{ m(50, 1, 1) }}",
        STEPS,
    ),
    "a namespace in itself": ("{% set a = namespace() %}{% set a.x = [a, a] %}{{ a.x }}", STEPS),
    "many comparisons": ("{% set l = [1] * 1000000 %}{% for a in range(100000) %}{{ l.count(1) }}{% endfor %}", STEPS),
    "many sorts": ("{% for a in range(1000) %}{% set x = range(100000) | sort %}{% endfor %}", STEPS),
    "loop without a body": (
        "{% for a in range(99999) %}{% for b in range(99999) if b < 0 %}{% endfor %}{% endfor %}",
        STEPS,
    ),
    "select without a result": (
        "{% for a in range(999) %}{% set x = range(9999) | select('lt', 0) | list %}{% endfor %}",
        STEPS,
    ),
    "indented JSON": ("{{ [[[1]]] | tojson(indent=2000000000) }}", OUTPUT),
    "separated JSON": ("{{ ([1] * 100000) | tojson(separators=('x' * 100000, 'x')) }}", STEPS),
    # numbers
    "squared again and again": (
        "{% set ns = namespace(x=9) %}{% for i in range(100) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
        INTEGER,
    ),
    "round": ("{{ 5 | round(-1000000000) }}", INTEGER),
    "number of many digits": ("{{ ('1' * 8000000) | int(base=2) }}", INTEGER),
    "number as bytes": ("{{ (1).to_bytes(2000000000, 'big') }}", OUTPUT),
    # calls
    "calls that double": (
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(50) }}",
        STEPS,
    ),
    "block in itself": ("{% block a %}{{ self.a() }}{% endblock %}", NESTING),
    "loop in itself": ("{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}", NESTING),
    # sources
    "deep parentheses": ("{{ " + "(" * 9000 + "1" + ")" * 9000 + " }}", NESTING),
    "deep lists": ("{{ " + "[" * 3000 + "]" * 3000 + " }}", NESTING),
    "deep blocks": ("{% if 1 %}" * 65 + "{% endif %}" * 65, NESTING),
    "deep loops": ("{% for a in [1] %}" * 40 + "{% endfor %}" * 40, NESTING),
    "long sum": ("{{ " + "+".join(["1"] * 5000) + " }}", NESTING),
    "many signs": ("{{ " + "-" * 9000 + "1 }}", NESTING),
    "many filters": ("{{ 1" + "|abs" * 6000 + " }}", NESTING),
    "many tokens": ("{{a}}" * 30000, SOURCE),
    "many bytes": ("x" * 300000, SOURCE),
    "many quotes": ("{{ " + "'" * 10001 + " }}", SYNTAX),
    "constants are not folded": (
        "{{ 'x' | center(2000000000) if false }}{{ ('x' | center(2000000000)) is defined }}",
        OUTPUT,
    ),
}


def _peak_mebibytes() -> float:
    """The most memory that this process ever had resident."""
    status = Path("/proc/self/status")
    if status.exists():
        # Unlike getrusage, it does not begin with what the parent had when it started this process.
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Render every attack; print the codes, and the largest memory so far in MiB."""
    from syntagma.errors import SyntagmaError
    from syntagma.templates import ChatTemplate

    sys.set_int_max_str_digits(4300)
    codes = {}
    memory = {}
    for name, (source, _) in ATTACKS.items():
        try:
            codes[name] = f"rendered {len(ChatTemplate(source).render([]))} characters"
        except SyntagmaError as error:
            codes[name] = error.code
        except Exception as error:
            codes[name] = repr(error)
        memory[name] = _peak_mebibytes()
    print(json.dumps({"codes": codes, "memory": memory}))


if __name__ == "__main__":
    main()
