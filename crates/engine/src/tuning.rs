//! Every number that trades speed, memory or work against each other, in one place. None of them changes a bit of a mask.
//!
//! They were set by hand and are round numbers, but for those that name the measurement that set them; each group says what to run
//! after a change. `schemas` is a file of schemas with texts, as `schema_masks` reads it.

use std::time::Duration;

// Regular expressions: what a residual costs, and from where on a quicker way is taken. `compile_stages` and `schema_masks` on
// `schemas`; bounds of repetitions by `benchmarks/plain_grammars.py`, their memory by `tests/scale.rs`.

/// A bound of a repetition up to this many units is never kept beside the automaton, however short the tokens are.
pub(crate) const LEAST_REACH: u32 = 16;

/// A compilation makes so many expressions of one terminal for one unit of fuel each: they fit into the caches of a
/// processor. Each further one takes longer.
pub(crate) const CHEAP_EXPRESSIONS: usize = 1 << 14;

/// Units of fuel that each further one takes: some hundred nanoseconds and as many bytes, where looking at one that is
/// there takes a fraction. Calls on a matcher, which make few, count both alike.
pub(crate) const NEW_EXPRESSION_FUEL: usize = 6;

/// Expressions whose facts lie side by side in memory.
pub(crate) const FACTS_PER_CHUNK: usize = 64;

/// Partitions of the bytes that the process remembers, and keys of each table that leads to them; beyond, all are
/// forgotten, and those in use live on.
pub(crate) const KEPT_PARTITIONS: usize = 8_192;

/// From so many literals on, alternatives are a sorted table.
pub(crate) const WORDS_OF_A_TABLE: usize = 8;

/// Words of such a table whose facts are known together.
pub(crate) const WORDS_PER_BLOCK: usize = 32;

/// Expressions that a word of a table weighs as much as.
pub(crate) const WORD_WEIGHT: u32 = 8;

/// Expressions that an expression may consist of and still be recognised in other grammars, or be looked into for
/// counts.
pub(crate) const FORM_WEIGHT: u32 = 1_000;

/// Bytes, or sets of them, that every word of an expression is known to have; more are not looked for.
pub(crate) const NECESSARY_BYTES: usize = 16;

/// Words that may be left out of a body for it to be read as the body without words.
pub(crate) const EXCLUDED_WORDS: usize = 256;

/// Bytes that a class in such a word may have.
pub(crate) const EXCLUDED_CLASS_BYTES: u32 = 8;

/// Bytes in the set that leading trivia consists of, whitespace mostly.
pub(crate) const LEAD_BYTES: u32 = 8;

/// Units of fuel for the proof that every word of an expression is one of another.
pub(crate) const INCLUSION_FUEL: u64 = 20_000;

/// Proofs of a store that run out of fuel before no further one is tried.
pub(crate) const INCLUSION_FAILURES: u32 = 3;

/// Alternatives within alternatives that are looked into for counts and for what two expressions have in common.
pub(crate) const COMPARED_NESTING: u32 = 3;

/// Alternatives of its own that an expression may have and still be compared with another.
pub(crate) const COMPARED_ALTERNATIVES: usize = 4;

/// Bounds of a repetition up to so many units are searched through, without a table of lengths.
pub(crate) const SEARCHED_BOUND: u32 = 4;

/// Parts of an intersection above which its counts are searched through, too.
pub(crate) const COUNTED_PARTS: usize = 16;

/// Units of fuel for one table of lengths.
pub(crate) const LENGTHS_FUEL: u64 = 400_000;

/// Tables of a store that become too large before no further one is tried.
pub(crate) const LENGTHS_FAILURES: u32 = 3;

/// Residuals of the intersection that a table of lengths may have.
pub(crate) const LENGTHS_STATES: usize = 4_096;

/// Lengths that a table tells apart before they repeat.
pub(crate) const LENGTHS_ROUNDS: usize = 4_096;

// The recogniser: what is built early, and how sets are kept. `compile_stages` on `schemas` with many tools, and
// `fill_times` on a program's text with its grammar, which is ambiguous.

/// Terminals that are built with the grammar. Those of a larger one wait until they may come next, if they are plain.
pub(crate) const EAGER_TERMINALS: usize = 1_000;

/// Nodes and bytes of a terminal that may wait: as many are built while a text is read.
pub(crate) const LATE_WEIGHT: u32 = 2_000;

/// Units of fuel that such a terminal takes, where its larger parts are those of others, too.
pub(crate) const LATE_FUEL: usize = 8;

/// Values in a chunk of an arena, as a power of two.
pub(crate) const ARENA_CHUNK: u32 = 12;

/// Values of one owner that are looked at one by one; more are found by hash.
pub(crate) const LISTED_VALUES: usize = 4;

/// From so many items of a new Earley set on, those that occur more than once are dropped whenever they may have
/// doubled: in an ambiguous grammar nearly all do.
pub(crate) const SETTLED_ITEMS: usize = 1_024;

/// Calls below an Earley set down to which it is followed how deep a mask looks; beyond, the mask is for its own state
/// alone. More than the last of [`DEPTHS`].
pub(crate) const READ_DEPTH: u8 = 64;

/// Units of fuel for each byte of a text whose captures are asked for, beside those of any call: a text of one reading
/// takes some ten.
pub(crate) const CAPTURE_FUEL_PER_BYTE: usize = 64;

// Masks: which of several ways finds a mask. `schema_masks` on `schemas` for first and known masks, `fill_times` for a
// language; the slowest of both count as much as the mean.

/// A trie node with more nodes than this below it has a note of the bytes that occur there.
pub(crate) const NOTED_SUBTREE: u32 = 4;

/// A walk looks for better ways than to visit all below a node if that is more than one in so many nodes of the trie,
pub(crate) const ENTERED_SHARE: usize = 1_024;

/// or more than so many nodes.
pub(crate) const ENTERED_SUBTREE: usize = 200;

/// So many terminals or fewer are looked up one by one, however narrow. With 0, the masks of `schema_masks` take 7.1 µs at
/// the 90th percentile instead of 6.0, and 2.9 instead of 2.8 on average.
pub(crate) const FEW_TERMINALS: usize = 2;

/// A narrow terminal is looked up by itself if tokens leave it at so many nodes or fewer, or only narrow ones may
/// follow.
pub(crate) const FEW_EXITS: usize = 8;

/// A terminal that begins with so many bytes or fewer may begin with runs of one of them, whitespace mostly.
pub(crate) const LOOP_BYTES: u32 = 8;

/// Scans of the whole vocabulary that one mask may cost; further terminals are walked.
pub(crate) const SCANS_PER_MASK: usize = 8;

/// A terminal is wide if it may begin with so many bytes
pub(crate) const WIDE_FIRST_BYTES: usize = 9;

/// behind each of which so many may follow.
pub(crate) const WIDE_NEXT_BYTES: u32 = 10;

/// One in so many nodes of the trie is taken to be behind the first byte of a terminal that trivia leads.
pub(crate) const LEAD_SHARE: usize = 64;

/// A terminal that may begin with so many bytes is compared with another before the vocabulary is read by it.
pub(crate) const DELTA_FIRST_BYTES: u32 = 32;

/// Tokens of up to so many bytes are short, by how many of its units a count has left: nearly all are. With 32 alone, a mask near
/// the end of a name of Kubernetes (a pattern of up to 63 characters) took 160 to 250 µs; with all three it takes 25 to 60.
pub(crate) const SHORT_TOKENS: [u32; 3] = [32, 16, 8];

/// A scan that visits only where two terminals differ may visit one in so many nodes,
pub(crate) const DELTA_SHARE: usize = 8;

/// or so many in all.
pub(crate) const DELTA_NODES: usize = 6_000;

/// A scan that has visited one in so many nodes is long: then it pays to search for bytes on which residuals never die.
pub(crate) const LONG_SCAN_SHARE: usize = 128;

/// Residuals of one scan with a row of transitions; further ones are looked up by derivative.
pub(crate) const LANE_ROWS: usize = 4_096;

/// ASCII bytes on which a residual must never die to be worth knowing.
pub(crate) const CLOSED_BYTES: u32 = 16;

/// A byte that leads to where so many of the others are lost is left out of them.
pub(crate) const KILLED_BYTES: u32 = 6;

/// Residuals that may be met in that search: for logical expressions, which mostly look for a word, and where all is
/// ASCII;
pub(crate) const CLOSED_RESIDUALS: usize = 24;

/// for others, which mostly count.
pub(crate) const CLOSED_RESIDUALS_PLAIN: usize = 4;

/// Rests of tokens behind one byte on which a terminal may end or go on; past these, the terminal is walked.
pub(crate) const RESTS: usize = 32_768;

/// Fewer exits of a terminal than this are sorted, more are counted by byte.
pub(crate) const SORTED_EXITS: usize = 8;

/// Tokens of a mask that are kept as a list; more are a row.
pub(crate) const LISTED: usize = 600;

/// The same beside a row that others use, too.
pub(crate) const LISTED_BESIDE_ROW: usize = 800;

/// Tokens of a list that are copied into a mask rather than shared.
pub(crate) const COPIED_LIST: usize = 32;

/// The depths below an Earley set that are told apart where masks are shared; masks that look deeper are for their own
/// states.
pub(crate) const DEPTHS: [u8; 9] = [0, 1, 2, 3, 5, 8, 12, 20, 32];

/// Items that may be looked at to find one state of the same mask, or to remember it.
pub(crate) const DEPTH_ITEMS: usize = 256;

/// States with more items before nobody looks any more.
pub(crate) const DEPTH_FAILURES: u32 = 32;

/// Forgotten classifications that are freed whenever one is added: all at once would take longer than any mask.
pub(crate) const FREED_PER_PUT: usize = 16;

// The judge of masks: how long a check may take. `tests/budgets.rs` and `tests/exactness.rs`.

/// Times the fuel of a call that the judge may take: it reads the whole text and the whole vocabulary again.
pub(crate) const JUDGE_FUEL: u64 = 4;

/// Expressions that the judge remembers before it forgets all of them, a few hundred bytes each.
pub(crate) const JUDGED_EXPRESSIONS: usize = 1 << 18;

// Budgets: what a matcher remembers of counts. `tests/budgets.rs`.

/// Ways of reading a text, with their counts, that a matcher with budgets keeps: those with the lowest counts.
pub(crate) const BUDGET_BRANCHES: usize = 64;

/// Tokens whose effects on counts are remembered before all are forgotten.
pub(crate) const BUDGET_TOKENS: usize = 1 << 16;

/// Bytes of what is known of counts over the whole vocabulary before all is forgotten.
pub(crate) const BUDGET_EFFECT_BYTES: usize = 32 << 20;

// Matchers, compilers and threads: blocks, bounds and waiting. `benchmarks/batch.py`, and `make sanitize` for the order of
// threads.

/// A grammar begins anew when its recogniser holds so many times what it cannot do without.
pub(crate) const OUTGROWN: usize = 2;

/// Bytes of one text that are read before others may go on.
pub(crate) const PIECE_BYTES: usize = 4 << 10;

/// Steps in a block of a matcher's history: what a fork copies at most.
pub(crate) const STEPS_PER_BLOCK: usize = 64;

/// Bytes of certain text that one call tells. Public: `find_jump_forward_bytes` documents it.
pub(crate) const JUMP_BYTES: usize = 16 << 10;

/// Tokens of a way to an end that budgets lead astray.
pub(crate) const CLOSE_TOKENS: usize = 1 << 16;

/// Vocabularies with fewer tokens are not read ahead: that is fast enough when it is needed.
pub(crate) const LEARNT_VOCABULARY: usize = 4_096;

/// Tasks of a batch for which a thread is worth waking.
pub(crate) const TASKS_PER_HELPER: usize = 4;

/// Worker threads of the process.
pub(crate) const MAX_THREADS: usize = 64;

/// Time after which whoever waits for a fork, or a fork for others, looks again: a fork takes longer.
pub(crate) const FORK_POLL: Duration = Duration::from_micros(50);
