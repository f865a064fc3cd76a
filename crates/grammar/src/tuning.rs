//! Every constant of this crate that could be another number: bounds, thresholds, and what a unit of fuel buys.
//!
//! [`crate::Limits`] are the bounds that a host may set. The constants here change how fast a source is read, or how much of
//! it is enforced exactly, never what an exact grammar accepts. They were set by hand and are round numbers, but for those that name the
//! measurement that set them; each group says what to run after a change.

// Nesting that recursion bears: dropping and comparing recurse. `tests/deep.rs` and the fuzzer run on the stack of a thread,
// 2 MiB.

/// Groups within groups of a grammar, whatever [`crate::Limits`] allow.
pub(crate) const MAX_GROUP_NESTING: usize = 1_000;

/// Nesting of a regular language in a grammar: a group may add several levels, and repetitions and names add some
/// without one.
pub(crate) const MAX_REGULAR_NESTING: usize = 3 * MAX_GROUP_NESTING;

/// Nesting of expressions, and of a regular language, in a grammar that is read back: more than any source may have.
pub(crate) const MAX_SAVED_NESTING: usize = MAX_REGULAR_NESTING + MAX_GROUP_NESTING;

/// Groups within groups of one pattern, whatever [`crate::Limits`] allow: `regex-syntax` recurses, too.
pub(crate) const MAX_PATTERN_NESTING: u32 = 200;

/// Nesting of a schema, whatever [`crate::Limits`] allow.
pub(crate) const MAX_JSON_NESTING: usize = 1_000;

/// Containers within containers in the JSON that a directive of Lark is given.
pub(crate) const MAX_DIRECTIVE_NESTING: usize = 127;

/// Grammars in grammars of one source in Lark, whatever [`crate::Limits`] allow: they are read recursively.
pub(crate) const MAX_NESTED_GRAMMARS: usize = 30;

/// Chunks of one `%regex` substring: its expression nests as deep.
pub(crate) const MAX_SUBSTRING_CHUNKS: usize = 256;

/// Nesting of terminals that the passes of the normal form make; deeper ones stay nonterminals.
pub(crate) const MAX_FUSED_DEPTH: u32 = 64;

// Automata and emptiness: bounds on what may be exponential. `tests/costly.rs` and `fuzz/examples/hostile.rs` show the time
// that sources take which are made to reach them.

/// States of an automaton that is written out as rules; a larger language is refused.
pub(crate) const MAX_STATES: usize = 3_000;

/// Nodes and bytes of one derivative.
pub(crate) const MAX_DERIVATIVE_WEIGHT: u32 = 20_000;

/// Nodes and bytes of an expression that is checked for emptiness. With 500, a schema of nine patterns below `not` takes 40 ms
/// and nothing comes of it, with this 4.
pub(crate) const MAX_EMPTINESS_WEIGHT: u32 = 300;

/// Nesting of an expression that is checked for emptiness.
pub(crate) const MAX_EMPTINESS_DEPTH: u32 = 64;

/// Additional rounds of each loop in the words that are tried first.
pub(crate) const WITNESS_ROUNDS: [u32; 3] = [0, 1, 8];

/// Bytes of such a word.
pub(crate) const MAX_WITNESS_BYTES: usize = 256;

/// Units for one check of a JSON Schema's grammar.
pub(crate) const SOLVE_ONE: u64 = 250_000;

/// Units for all checks of a JSON Schema's grammar.
pub(crate) const SOLVE_ALL: u64 = 1_000_000;

/// Units for the check of one terminal of a source; an open answer costs only an error that is not given.
pub(crate) const LOWER_ONE: u64 = 20_000;

/// Units for the checks of all terminals of a source.
pub(crate) const LOWER_ALL: u64 = 1_000_000;

/// Steps to find what may follow the terminals of a source: about ten milliseconds.
pub(crate) const FOLLOWED: u64 = 400_000;

/// Units to see whether a terminal may go on with what follows it, for a warning.
pub(crate) const LONGEST_ONE: u64 = 5_000;

/// Units to see it for all terminals of a source.
pub(crate) const LONGEST_ALL: u64 = 100_000;

/// Units for the check of one language that is printed: more than [`LOWER_ONE`], so that what is written can be read.
pub(crate) const PRINT_ONE: u64 = 200_000;

/// Units for the checks of all languages that are printed.
pub(crate) const PRINT_ALL: u64 = 4_000_000;

/// Units for the automata of one grammar that is printed.
pub(crate) const PRINT_FUEL: u64 = 20_000_000;

/// Sweeps over expressions that match nothing so far, before the exact fixed point is computed.
pub(crate) const MAX_SWEEPS: usize = 6;

// Work for a unit of fuel. A unit should be some tens of nanoseconds wherever it is spent, so that the default of five
// million is less than a second. `fuzz/examples/hostile.rs` prints the sources that take longest.

/// Units for telling a set of bytes from the others.
pub(crate) const UNITS_PER_BYTE_CLASS: usize = 8;

/// Bytes of a literal that are copied for a unit.
pub(crate) const DERIVED_BYTES_PER_UNIT: usize = 16;

/// Known ranges of characters that are copied for a unit.
pub(crate) const PATHS_PER_UNIT: usize = 4;

/// Units of an emptiness check for a unit of fuel.
pub(crate) const SOLVED_PER_FUEL: u64 = 4;

/// Units for any pattern.
pub(crate) const UNITS_PER_PATTERN: usize = 16;

/// Characters whose cases are looked up for a unit.
pub(crate) const FOLDED_PER_UNIT: usize = 16;

/// Ranges of characters that are put together for a unit.
pub(crate) const JOINED_PER_UNIT: usize = 4;

/// Units for the UTF-8 of one range of characters.
pub(crate) const UNITS_PER_RANGE: usize = 10;

/// Units for reading a subschema.
pub(crate) const UNITS_PER_SUBSCHEMA: usize = 8;

/// Bytes of pointers that are written or looked up for a unit: names of properties may be long, and stand in the
/// pointers of all that is below them.
pub(crate) const POINTER_BYTES_PER_UNIT: usize = 32;

/// Dynamic scopes that are compared for a unit.
pub(crate) const SCOPES_PER_UNIT: usize = 4;

/// Members of a conjunction that are copied, hashed or compared for a unit.
pub(crate) const MEMBERS_COPIED_PER_UNIT: usize = 4;

/// Members of a conjunction that are compared with one other for a unit.
pub(crate) const MEMBERS_COMPARED_PER_UNIT: usize = 32;

/// Members of a conjunction that are checked for `unevaluated…` for a unit.
pub(crate) const MEMBERS_CHECKED_PER_UNIT: usize = 8;

/// Choices that are looked up for a unit.
pub(crate) const CHOICES_PER_UNIT: usize = 8;

/// Units for a question about a conjunction.
pub(crate) const UNITS_PER_QUESTION: usize = 8;

/// Units for merging the demands of a conjunction.
pub(crate) const UNITS_PER_MERGE: usize = 16;

/// Comparisons of listed arrays and objects for a unit.
pub(crate) const COMPARISONS_PER_UNIT: usize = 2;

/// What the look-up of a property in a member counts for, in members copied.
pub(crate) const PROPERTY_LOOKUP: usize = 1;

/// Bytes of a property's name whose hash counts for as much as a member.
pub(crate) const NAME_BYTES_PER_MEMBER: usize = 64;

/// Units for a state of an automaton of multiples.
pub(crate) const UNITS_PER_MULTIPLE_STATE: usize = 8;

/// Marks of such a state that are copied for a unit.
pub(crate) const MARKS_PER_UNIT: usize = 4;

// Thresholds between two ways to the same language. `compile_stages` (an example of the engine) measures a change on a file of
// schemas; weights also change which terminals grammars share, so first masks are to be measured, too (`schema_masks`).

/// Members of a subschema that are searched; in more, keywords are looked up.
pub(crate) const LINEAR_KEYWORDS: usize = 8;

/// Properties of a subschema that are searched; more are looked up.
pub(crate) const LINEAR_PROPERTIES: usize = 8;

/// Members of a conjunction that are asked one by one what they say of a property; of more, those that list it are
/// looked up.
pub(crate) const LINEAR_MEMBERS: usize = 16;

/// Pairs of members of two conjunctions that are compared; more are hashed.
pub(crate) const COMPARED_MEMBERS: usize = 4_096;

/// Productions of a nonterminal that are compared with each other; more are hashed.
pub(crate) const COMPARED_PRODUCTIONS: usize = 8;

/// Weight of a terminal that is copied to every place that names it.
pub(crate) const COPIED_TERMINAL_WEIGHT: u32 = 32;

/// Weight of an item that is written before and after a separator; a heavier one is a nonterminal.
pub(crate) const REPEATED_WEIGHT: u32 = 256;

/// Bytes of a narrow class. A loop over a wider one is a terminal of its own, whose masks other grammars share.
pub(crate) const NARROW_BYTES: u32 = 4;

/// The largest bound of a repetition that counts as no loop.
pub(crate) const SHORT_LOOP: u32 = 16;

/// Rounds of simplification of a normal form; what is left then is correct, only longer.
pub(crate) const MAX_ROUNDS: usize = 16;

/// Weight from which an expression that is printed again is copied.
pub(crate) const COPIED_WEIGHT: u32 = 8;

/// Nodes and bytes from which what is printed more than once gets a rule of its own.
pub(crate) const NAMED_WEIGHT: usize = 256;

/// Copies of an item that are counted; more make no difference.
pub(crate) const MAX_COUNTED_COPIES: u32 = 1 << 16;

/// Items of one rule where a repetition is too large to be written at once.
pub(crate) const BLOCK: u32 = 1_000;

/// Tokens by number that are printed one by one.
pub(crate) const LISTED_TOKENS: u64 = 256;

/// Words of a rule of Lark in which the end of its options is looked for.
pub(crate) const OPTION_WORDS: usize = 64;

/// Keywords that a subschema has, by which reading it is paid for in advance.
pub(crate) const USUAL_KEYWORDS: usize = 40;

// How far look-around is followed. Past these a pattern is refused, with the reason.

/// Branches that a sequence may multiply to.
pub(crate) const MAX_LOOK_BRANCHES: usize = 64;

/// Alternatives whose conditions differ.
pub(crate) const MAX_LOOK_ALTERNATIVES: usize = 512;

/// Assertions that are left out of one pattern of a schema; past these all of the pattern is.
pub(crate) const MAX_LEFT_OUT: usize = 32;

/// Rounds of a guarded repetition that are written out.
pub(crate) const MAX_LOOK_ROUNDS: u32 = 16;

// What JSON Schemas share.

/// Spellings of JSON, such as its whitespace, of which the process remembers the grammar of any value: an application has
/// few.
pub(crate) const KEPT_SPELLINGS: usize = 8;

// How far a JSON Schema is enforced. Past these the grammar is wider than the schema, and its report says where.

/// Containers within containers of a document that is written with indentation.
pub(crate) const MAX_INDENTED_NESTING: u32 = 24;

/// Combinations of choices in one conjunction.
pub(crate) const MAX_COMBINATIONS: usize = 2_000;

/// Branches of one choice that are compared with each other. Of more, as many pairs may have a value in common.
pub(crate) const MAX_COMPARED_BRANCHES: usize = 200;

/// Required properties whose values are looked at to tell more branches apart.
pub(crate) const MAX_TELLING_PROPERTIES: usize = 8;

/// Pairs of branches that may hold together and are told apart.
pub(crate) const MAX_OVERLAPS: usize = 60;

/// Branches of one choice of which every subset is considered.
pub(crate) const MAX_SUBSET_BRANCHES: usize = 8;

/// Subschemas within subschemas in a question about a conjunction.
pub(crate) const MAX_QUESTION_DEPTH: u32 = 6;

/// The same in a schema that otherwise takes too much work.
pub(crate) const FRUGAL_QUESTION_DEPTH: u32 = 2;

/// What a branch of a choice counts for in that depth, since choices multiply.
pub(crate) const CHOICE_DEPTH: u32 = 3;

/// Branches of a choice that a question looks into.
pub(crate) const MAX_QUESTION_BRANCHES: usize = 64;

/// Items of an array that a question looks into.
pub(crate) const MAX_QUESTION_ITEMS: u64 = 8;

/// Values of an enumeration that a question looks into.
pub(crate) const MAX_QUESTION_VALUES: usize = 256;

/// Rules for parts of negations.
pub(crate) const MAX_NEGATIVE_RULES: usize = 5_000;

/// Questions about conjunctions for parts of negations.
pub(crate) const MAX_NEGATIVE_QUESTIONS: usize = 30_000;

/// Alternatives of one negation.
pub(crate) const MAX_NEGATION_ALTERNATIVES: usize = 256;

/// Branches of a `oneOf` that is negated by the pairs of them that may hold together.
pub(crate) const MAX_EXCLUSIVE_BRANCHES: usize = 12;

/// Patterns of names that are told apart by which of them match.
pub(crate) const MAX_NAME_PATTERNS: usize = 24;

/// Sets of such patterns that some name may match.
pub(crate) const MAX_NAME_SETS: usize = 200;

/// Members of one object that are demanded by description.
pub(crate) const MAX_DESCRIBED_MEMBERS: usize = 6;

/// Rules for the counts of an object's members.
pub(crate) const MAX_MEMBER_STATES: u64 = 20_000;

/// Alternatives in all rules of one object whose properties come in any order.
pub(crate) const MAX_MEMBER_EDGES: u64 = 12_000;

/// The same where the objects before it took most of [`MAX_ALL_MEMBER_EDGES`].
pub(crate) const MIN_MEMBER_EDGES: u64 = 400;

/// The same for all objects of a schema.
pub(crate) const MAX_ALL_MEMBER_EDGES: u64 = 60_000;

/// Rules for the counts of one array's items.
pub(crate) const MAX_ARRAY_RULES: usize = 4_000;

/// Combinations of counts that one item may change.
pub(crate) const MAX_ITEM_COUNTS: usize = 16;

/// Values of an item of a list of different items.
pub(crate) const MAX_DISTINCT_VALUES: usize = 128;

/// Alternatives in all rules of such a list; past them it is an intersection of regular languages.
pub(crate) const MAX_DISTINCT_EDGES: u64 = 6_000;

/// Sets of as many values as such an intersection needs at least: whether any list is left takes a walk through them.
pub(crate) const MAX_DISTINCT_SETS: u64 = 256;

/// Multiples in a range of integers that are listed.
pub(crate) const MAX_LISTED_INTEGERS: i64 = 1_000;

/// States of one automaton of multiples.
pub(crate) const MAX_MULTIPLE_STATES: usize = 20_000;

/// The largest remainder of such an automaton.
pub(crate) const MAX_REMAINDER: u64 = 10_000;

/// Transitions of all automata of multiples of a schema.
pub(crate) const MAX_MULTIPLE_EDGES: usize = 200_000;

/// Single numbers that such an automaton excludes.
pub(crate) const MAX_EXCLUDED_NUMBERS: usize = 256;

/// The largest decimal exponent of a number in a schema; that of a double is 308.
pub(crate) const MAX_EXPONENT: i64 = 400;
