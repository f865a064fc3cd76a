//! Sources that are deep, wide or counted beyond measure, in every language: each ends in an answer or in a limit error, on the
//! stack that a thread has.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use syntagma_engine::{
    Error, GrammarCompiler, GrammarMatcher, Limits, Vocabulary, VocabularyParts, bitmask_words,
};
use syntagma_grammar::Limits as SourceLimits;
use syntagma_grammar::syntax::{ebnf, gbnf, json_schema, lark, regex};
use syntagma_grammar::{Error as SourceError, Grammar};

type Parse = fn(&str, &SourceLimits) -> Result<Grammar, SourceError>;

const EBNF: Parse = |text, limits| ebnf::parse(text, "start", limits);
const GBNF: Parse = |text, limits| gbnf::parse(text, "root", limits);
const LARK: Parse = |text, limits| lark::parse(text, "start", limits);
const RUST: Parse =
    |text, limits| regex::parse(text, regex::Dialect::Rust, limits).map(Grammar::from_regex);
const ECMA: Parse = |text, limits| regex::ecma_search(text, limits).map(Grammar::from_regex);
const SCHEMA: Parse =
    |text, limits| json_schema::parse(text, &json_schema::Options::default(), limits);

/// Longer than any of these takes on a slow machine.
const HANG: Duration = Duration::from_secs(120);
/// What a thread has if nobody asks for more.
const STACK: usize = 2 << 20;

/// Reads, compiles, fills a mask, takes some text. The code of the error if there is one.
fn outcome(parse: Parse, text: &str, limits: &SourceLimits) -> Result<(), &'static str> {
    let grammar = Arc::new(parse(text, limits).map_err(|error| error.code())?);
    follow(&grammar).map_err(|error| error.code())
}

fn follow(grammar: &Arc<Grammar>) -> Result<(), Error> {
    let parts = VocabularyParts {
        tokens: vec![b"a".to_vec(), b"aa".to_vec(), b"b".to_vec(), b"\"".to_vec()],
        ..VocabularyParts::default()
    };
    let vocabulary = Arc::new(Vocabulary::new(&parts)?);
    let compiled = GrammarCompiler::new(vocabulary, Limits::default()).compile(grammar)?;
    let mut matcher = GrammarMatcher::new(compiled);
    for _ in 0..3 {
        matcher.fill_next_token_bitmask(&mut vec![0; bitmask_words(4)])?;
        matcher.accept_bytes(&b"a".repeat(500))?;
        matcher.accept_bytes(b"a")?;
    }
    Ok(())
}

/// Runs one case on a thread of its own, which must come back.
fn within_time(parse: Parse, text: String, limits: SourceLimits) -> Result<(), &'static str> {
    let (sender, receiver) = mpsc::channel();
    let shown: String = text.chars().take(60).collect();
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || sender.send(outcome(parse, &text, &limits)))
        .unwrap();
    receiver
        .recv_timeout(HANG)
        .unwrap_or_else(|error| panic!("{shown}…: {error}"))
}

fn ends(parse: Parse, text: String) {
    let shown: String = text.chars().take(60).collect();
    if let Err(code) = within_time(parse, text, SourceLimits::default()) {
        assert!(code.starts_with("E-LIMIT-"), "{shown}…: {code}");
    }
}

fn answers(parse: Parse, text: String, limits: SourceLimits) {
    let shown: String = text.chars().take(60).collect();
    assert_eq!(within_time(parse, text, limits), Ok(()), "{shown}…");
}

fn refused(parse: Parse, text: String, limits: SourceLimits, code: &str) {
    let shown: String = text.chars().take(60).collect();
    assert_eq!(within_time(parse, text, limits), Err(code), "{shown}…");
}

/// `open` so many times, `inner`, `close` so many times.
fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    [&open.repeat(depth), inner, &close.repeat(depth)].concat()
}

#[test]
fn nesting_at_the_limit_and_past_it() {
    let group = |start: &str, open: &str, close: &str, depth: usize| {
        format!("{start}{}", nested(open, "\"a\"", close, depth))
    };
    // The most that any limits allow is 1,000.
    let mut raised = SourceLimits::default();
    raised.grammar_nesting = 1_000_000;
    for (parse, start) in [(EBNF, "start ::= "), (GBNF, "root ::= "), (LARK, "start: ")] {
        for (open, close) in [
            ("(", ")"),
            ("(\"a\" ", ")"),
            ("(\"a\" | ", ")*"),
            ("(", " \"b\")?"),
        ] {
            let text = |depth| group(start, open, close, depth);
            let code = "E-LIMIT-GRAMMAR-NESTING";
            answers(parse, text(256), SourceLimits::default());
            refused(parse, text(257), SourceLimits::default(), code);
            answers(parse, text(1_000), raised.clone());
            refused(parse, text(1_001), raised.clone(), code);
            refused(parse, text(100_000), raised.clone(), code);
        }
    }
    for parse in [RUST, ECMA] {
        answers(parse, nested("(", "a", ")", 199), SourceLimits::default());
        let deep = within_time(parse, nested("(", "a", ")", 2_000), SourceLimits::default());
        assert_eq!(deep, Err("E-LIMIT-REGEX-NESTING"));
        ends(parse, nested("(?:a", "", "?)*", 60));
    }
    for (open, inner, close) in [
        (r#"{"items":"#, "true", "}"),
        (r#"{"properties":{"a":"#, "{}", "}}"),
        (r#"{"anyOf":[{"type":"string"},"#, "true", "]}"),
        (r#"{"not":"#, r#"{"type":"string"}"#, "}"),
    ] {
        ends(SCHEMA, nested(open, inner, close, 120));
        refused(
            SCHEMA,
            nested(open, inner, close, 300),
            SourceLimits::default(),
            "E-LIMIT-SCHEMA-DEPTH",
        );
        refused(
            SCHEMA,
            nested(open, inner, close, 50_000),
            SourceLimits::default(),
            "E-LIMIT-SCHEMA-DEPTH",
        );
    }
}

#[test]
fn alternatives_at_the_limit_and_past_it() {
    let list = |count: usize, between: &str| {
        let numbers = (0..count).map(|number| format!("\"{number}\""));
        numbers.collect::<Vec<_>>().join(between)
    };
    // One language is read at the limits that everybody has, the others at lower ones: it is the same code behind all.
    let mut lower = SourceLimits::default();
    lower.grammar_alternatives = 10_000;
    lower.schema_enum_values = 5_000;
    for (parse, start, limits) in [
        (EBNF, "start ::= ", SourceLimits::default()),
        (GBNF, "root ::= ", lower.clone()),
        (LARK, "start: ", lower.clone()),
    ] {
        let code = "E-LIMIT-GRAMMAR-ALTERNATIVES";
        let most = limits.grammar_alternatives;
        answers(parse, format!("{start}{}", list(most, "|")), limits.clone());
        refused(
            parse,
            format!("{start}{}", list(most + 1, "|")),
            limits,
            code,
        );
        ends(parse, format!("{start}{}", list(50_000, " ")));
    }
    let values = |count: usize| format!(r#"{{"enum":[{}]}}"#, list(count, ","));
    answers(SCHEMA, values(5_000), lower.clone());
    refused(SCHEMA, values(5_001), lower, "E-LIMIT-SCHEMA-ENUM");
    for parse in [RUST, ECMA] {
        ends(parse, vec!["ab"; 21_845].join("|"));
        let past = vec!["ab"; 21_846].join("|");
        refused(parse, past, SourceLimits::default(), "E-LIMIT-REGEX-BYTES");
    }
}

#[test]
fn counts_at_the_limit_and_past_it() {
    let bound = (1_000_000, "E-LIMIT-REGEX-REPETITION");
    let product = (100, "E-LIMIT-REGEX-EXPANSION");
    for (parse, (most, code), before, after) in [
        (EBNF, bound, "start ::= \"a\"{0,", "} ;"),
        (
            EBNF,
            bound,
            "start ::= x{0,",
            "} % \",\" ; x ::= \"a\" | \"(\" x \")\" ;",
        ),
        (
            EBNF,
            bound,
            "start ::= x{",
            ",} ; x ::= \"\" | \"(\" x \")\" ;",
        ),
        (EBNF, bound, "start ::= #\"(ab|a)\"{5,", "} \"b\" ;"),
        (EBNF, bound, "start ::= except!(\"bb\", ", ") ;"),
        (GBNF, bound, "root ::= [a-z]{0,", "}"),
        (
            GBNF,
            bound,
            "root ::= x{0,",
            "}\nx ::= \"a\" | \"(\" x \")\"",
        ),
        (LARK, bound, "start: \"a\"{0,", "}"),
        (LARK, bound, "start: x~0..", "\nx: \"a\" | \"(\" x \")\""),
        (RUST, bound, "a{0,", "}b"),
        (RUST, bound, "(?:a|aa){3,", "}"),
        (ECMA, bound, "^a{0,", "}b$"),
        (EBNF, product, "start ::= (\"a\"{100}){", "} ;"),
        (GBNF, product, "root ::= (\"a\"{100}){", "}"),
        (LARK, product, "start: (\"a\"~100)~", ""),
        (RUST, product, "(?:a{100}){", "}"),
        (ECMA, product, "(?:a{100}){", "}"),
    ] {
        let text = |count: u32| format!("{before}{count}{after}");
        answers(parse, text(most), SourceLimits::default());
        refused(parse, text(most + 1), SourceLimits::default(), code);
    }
    for keyword in ["maxLength", "minLength"] {
        ends(
            SCHEMA,
            format!(r#"{{"type":"string","{keyword}":1000000}}"#),
        );
        ends(
            SCHEMA,
            format!(r#"{{"type":"string","{keyword}":1000000000000}}"#),
        );
    }
    for keyword in ["maxItems", "minItems", "maxProperties", "minProperties"] {
        ends(SCHEMA, format!(r#"{{"{keyword}":1000000}}"#));
    }
}

#[test]
fn patterns_that_search_for_ever_elsewhere() {
    for pattern in [
        "(a+)+b",
        "(a*)*b",
        "(a|a)*b",
        "(a|aa)+b",
        "(.*a){20}b",
        "([a-z]+)*[0-9]",
        "(a+a+)+b",
        "(a?){30}a{30}",
        "(.*)(.*)(.*)(.*)(.*)b",
        "a{0,1000}a{0,1000}a{0,1000}b",
        "[ab]*a[ab]{16}",
        "(a*b*)*c",
        "((a{0,9}){0,9}){0,9}b",
        "(x|a|ab|aba|abab)*c",
        "(?i)(\\p{L}+\\s?)*b",
        "(?:(?:(?:a?)?)?)*b",
    ] {
        let quoted = pattern.replace('\\', "\\\\");
        ends(RUST, pattern.to_owned());
        ends(ECMA, pattern.replace("(?i)", ""));
        ends(EBNF, format!("start ::= #\"{pattern}\" ;"));
        ends(
            EBNF,
            format!("start ::= except!(#\"{pattern}\") & ~#\"{pattern}\" ;"),
        );
        ends(
            EBNF,
            format!("start ::= lazy!(#\"{pattern}\") | until!(#\"{pattern}\") ;"),
        );
        ends(LARK, format!("start: /{pattern}/ X\nX: ~/{pattern}/"));
        let ecma = quoted.replace("(?i)", "");
        ends(
            SCHEMA,
            format!(r#"{{"type":"string","pattern":"{ecma}","maxLength":60}}"#),
        );
        ends(
            SCHEMA,
            format!(r#"{{"patternProperties":{{"{ecma}":{{}},"^a":{{"type":"null"}}}}}}"#),
        );
    }
}

#[test]
fn long_chains_of_rules_and_operators() {
    let chain =
        |count: usize, rule: &dyn Fn(usize) -> String| (0..count).map(rule).collect::<String>();
    let names = chain(30_000, &|at| format!("r{at} ::= r{} ;\n", at + 1));
    ends(EBNF, format!("start ::= r0 ;\n{names}r30000 ::= \"a\" ;"));
    let circle = chain(30_000, &|at| {
        format!("r{at} ::= r{} | \"a\"\n", (at + 1) % 30_000)
    });
    ends(GBNF, format!("root ::= r0\n{circle}"));
    // Names in operands nest what they stand for, and multiply it.
    let complements = chain(4_000, &|at| format!("r{at} ::= ~r{} ;\n", at + 1));
    let text = format!("start ::= \"b\" & r0 ;\n{complements}r4000 ::= \"a\" ;");
    refused(
        EBNF,
        text,
        SourceLimits::default(),
        "E-LIMIT-GRAMMAR-NESTING",
    );
    let doubled = chain(60, &|at| format!("r{at} ::= r{0} r{0} ;\n", at + 1));
    let text = format!("start ::= ~r0 ;\n{doubled}r60 ::= \"a\" ;");
    refused(EBNF, text, SourceLimits::default(), "E-LIMIT-FUEL");
    ends(
        EBNF,
        format!("start ::= \"a\"+{} ;", " % \"b\"+".repeat(100_000)),
    );
    ends(
        EBNF,
        format!("start ::= \"a\"{} ;", "{0,1}{1,}".repeat(100_000)),
    );
    ends(
        EBNF,
        format!("start ::= \"a\"{} ;", " & \"a\"".repeat(100_000)),
    );
    let terminals = chain(20_000, &|at| format!("T{at}: \"b\" | T{} \"a\"\n", at + 1));
    let text = format!("start: T0\n{terminals}T20000: \"a\"\n");
    refused(
        LARK,
        text,
        SourceLimits::default(),
        "E-LIMIT-GRAMMAR-NESTING",
    );
    ends(LARK, format!("start: {}\"a\"", "~".repeat(200)));
    // What begins a rule is looked for without reading all that follows.
    let open = within_time(LARK, "a[\n".repeat(300_000), SourceLimits::default());
    assert_eq!(open, Err("E-GRAMMAR-SYNTAX"));
    ends(
        EBNF,
        format!("start ::= #substrs\"{}\" ;", "ab".repeat(32_768)),
    );
    let past = format!("start ::= #substrs\"{}a\" ;", "ab".repeat(32_768));
    refused(EBNF, past, SourceLimits::default(), "E-LIMIT-REGEX-BYTES");
}

#[test]
fn small_sources_that_ask_for_much() {
    let code = "E-LIMIT-COMPILE";
    let pattern = r"\w{261076}:(a\b)?".to_owned();
    refused(RUST, pattern, SourceLimits::default(), code);
    // Each item may be left out, so that each place in the list leads to all that follow.
    let list = "(\"a\"|x)? ".repeat(10_000);
    let text = format!("start ::= {list} ; x ::= \"b\" x \"c\" | \"\" ;");
    refused(EBNF, text, SourceLimits::default(), "E-LIMIT-STEP");
    for pattern in [
        r"(?i)[^a][\s\S]{0,1000000}",
        r"(?=.*a)(?=.*b)(?=.*c)(?=.*d)\w{20,1000}",
        r"\p{L}{0,1000000}\b\P{L}",
    ] {
        ends(RUST, pattern.to_owned());
    }
}
