"""The readers of a call's arguments: one file for each way to write them, one interface (`source.py`).

==================  ====================================================  =========================
class               what it reads                                         file
==================  ====================================================  =========================
`JsonArguments`     an object of JSON, as models write it                 `json_arguments.py`
`LiteralArguments`  an object of another notation                         `literal_arguments.py`
`EncodedArguments`  an object of JSON that is encoded as a JSON string    `encoded.py`
`KeywordArguments`  keys with literals, as in a call of a program         `keyword.py`
`TaggedArguments`   keys with raw values, each between markers            `tagged.py`
`NestedArguments`   nested elements that are named after their keys       `nested.py`
`BufferedArguments` nothing: the arguments were read before the name      `buffered.py`
==================  ====================================================  =========================

`RawValue` (`raw_value.py`) reads one value between markers, and `typed_values.py` says what its text means.
`JsonMachine` (`json_machine.py`) finds the end of a value of JSON; `json_syntax.py` has the syntax, for all readers.
`LiteralMachine` (`literal_machine.py`) reads a value of another notation as JSON, `escapes.py` its escapes.

`Mending` (`mending.py`) finds what a value was meant as whose text is not of its notation. `declared_types.py` reads
the tool's schema.

`EnvelopeReader` (`envelope.py`) reads the object that holds a call's name beside its arguments, and makes one.
"""
