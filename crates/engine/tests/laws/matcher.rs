//! What a matcher promises, one promise a test.
// Symbols of small grammars are called what they are in the grammar.
#![allow(clippy::many_single_char_names)]

use std::sync::Arc;

use crate::reference::Builder;
use syntagma_engine::{
    CompiledGrammar, Error, ErrorKind, GrammarMatcher, Limits, Verdict, Vocabulary,
    VocabularyParts, accept_token_batch, bitmask_words,
};
use syntagma_grammar::ir::{ByteSet, Lnf, Regex, Report, TokenSet};

const EOS: u32 = 0;
const TURN: u32 = 1;
const CALL: u32 = 2;
const ADDED: u32 = 3;
const FIRST_BYTE: u32 = 4;

/// Two ends of the turn, a special and an added token, then every byte, then some words.
fn vocabulary(words: &[&str]) -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = ["<eos>", "<turn>", "<call>", "<added>"]
        .map(|t| t.as_bytes().to_vec())
        .into();
    tokens.extend((0..=u8::MAX).map(|byte| vec![byte]));
    tokens.extend(words.iter().map(|word| word.as_bytes().to_vec()));
    let parts = VocabularyParts {
        tokens,
        special_ids: vec![CALL],
        marker_ids: vec![ADDED],
        eos_ids: vec![EOS, TURN],
        vocab_size: None,
    };
    Arc::new(Vocabulary::new(&parts).unwrap())
}

fn byte(byte: u8) -> u32 {
    FIRST_BYTE + u32::from(byte)
}

fn try_compile(
    lnf: &Lnf,
    limits: &Limits,
    words: &[&str],
) -> Result<Arc<CompiledGrammar>, syntagma_engine::Error> {
    CompiledGrammar::from_lnf(lnf, Report::default(), vocabulary(words), limits, true).map(Arc::new)
}

fn matcher(lnf: &Lnf) -> GrammarMatcher {
    GrammarMatcher::new(
        try_compile(
            lnf,
            &Limits::default(),
            &["hello", "he", "llo", "<ca", "ll>"],
        )
        .unwrap(),
    )
}

fn allowed(matcher: &GrammarMatcher) -> Vec<u32> {
    let size = matcher.compiled().vocabulary().size();
    let mut row = vec![0; bitmask_words(size)];
    matcher.fill_next_token_bitmask(&mut row).unwrap();
    (0..size as u32)
        .filter(|&id| row[id as usize / 32] >> (id % 32) & 1 == 1)
        .collect()
}

fn text(text: &str) -> Lnf {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let symbol = b.text(text);
    b.rule(s, &[symbol]);
    b.finish()
}

#[test]
fn every_end_of_turn_is_open_when_the_grammar_accepts_and_ends_the_text() {
    let mut m = matcher(&text("hello"));
    assert!(!m.accept_token(EOS).unwrap());
    assert!(m.accept_bytes(b"hello").unwrap());
    assert!(m.is_accepting().unwrap() && !m.is_terminated().unwrap());
    assert_eq!(allowed(&m), [EOS, TURN]);
    assert!(m.accept_token(TURN).unwrap());
    assert!(m.is_terminated().unwrap());
    let mut row = vec![0; bitmask_words(m.compiled().vocabulary().size()) + 1];
    m.fill_next_token_bitmask(&mut row).unwrap();
    assert!(row.iter().all(|&word| word == -1));
    assert!(
        !m.accept_token(EOS).unwrap()
            && !m.accepts(byte(b'h')).unwrap()
            && !m.accept_bytes(b"h").unwrap()
    );
    assert_eq!(m.shortest_close(None).unwrap(), Some(vec![]));
    m.rollback(1).unwrap();
    assert!(!m.is_terminated().unwrap());
    assert_eq!(allowed(&m), [EOS, TURN]);
}

#[test]
fn a_grammar_that_ends_in_an_end_of_turn_wants_that_one_only() {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let (word, turn) = (b.text("hello"), b.marker("<turn>"));
    b.rule(s, &[word, turn]);
    let mut m = matcher(&b.finish());
    assert!(m.accept_bytes(b"hello").unwrap());
    assert!(!m.is_accepting().unwrap());
    assert_eq!(allowed(&m), [TURN]);
    assert!(m.accept_token(TURN).unwrap());
    assert!(m.is_terminated().unwrap() && m.is_accepting().unwrap());
}

#[test]
fn an_end_of_turn_inside_the_grammar_goes_on() {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let (word, turn) = (b.text("he"), b.marker("<turn>"));
    b.rule(s, &[word, turn, word]);
    let mut m = matcher(&b.finish());
    assert!(m.accept_bytes(b"he").unwrap() && m.accept_token(TURN).unwrap());
    assert!(!m.is_terminated().unwrap());
    assert!(m.accept_bytes(b"he").unwrap() && m.is_accepting().unwrap());
}

#[test]
fn a_marker_is_its_token_alone_where_there_is_one_and_its_bytes_where_not() {
    for (marker, token) in [
        ("<call>", Some(CALL)),
        ("<added>", Some(ADDED)),
        ("<tool>", None),
    ] {
        let mut b = Builder::default();
        let s = b.nonterminal("s");
        let symbol = b.marker(marker);
        b.rule(s, &[symbol]);
        let mut m = matcher(&b.finish());
        if let Some(id) = token {
            assert_eq!(allowed(&m), [id]);
            assert!(!m.accept_bytes(marker.as_bytes()).unwrap());
            assert_eq!(m.next_symbol_tokens().unwrap(), [(id, id)]);
            assert_eq!(m.find_jump_forward_bytes().unwrap(), b"");
            assert_eq!(m.shortest_close(None).unwrap(), Some(vec![id]));
            assert!(m.accept_token(id).unwrap());
        } else {
            assert_eq!(allowed(&m), [byte(b'<')]);
            assert_eq!(m.find_jump_forward_bytes().unwrap(), marker.as_bytes());
            assert!(m.accept_bytes(marker.as_bytes()).unwrap());
        }
        assert!(m.is_accepting().unwrap());
    }
}

#[test]
fn a_marker_without_a_token_of_its_own_is_the_tokens_inside_of_it() {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let symbol = b.marker("<call>\n<added><call>x");
    b.rule(s, &[symbol]);
    let mut m = matcher(&b.finish());
    for (id, next) in [
        (CALL, byte(b'\n')),
        (byte(b'\n'), ADDED),
        (ADDED, CALL),
        (CALL, byte(b'x')),
    ] {
        assert!(m.accept_token(id).unwrap());
        assert_eq!(allowed(&m), [next]);
    }
    assert!(m.accept_bytes(b"x").unwrap() && m.is_accepting().unwrap());
}

#[test]
fn text_never_matches_a_special_token_but_an_added_one() {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let anything = b.regex(Regex::repeat(Regex::Class(ByteSet::FULL), 1, None));
    b.rule(s, &[anything]);
    let mut m = matcher(&b.finish());
    for id in [EOS, TURN, CALL] {
        assert!(!m.accepts(id).unwrap());
    }
    assert!(m.accepts(ADDED).unwrap());
    // The special token's text as ordinary bytes is text.
    assert!(m.accept_bytes(b"<call>").unwrap());
    assert!(!m.accepts(CALL).unwrap() && m.accepts(EOS).unwrap());
}

#[test]
fn a_token_symbol_needs_the_boundary_of_a_terminal_even_where_a_loop_returns_to_its_start() {
    // `x*` is back where it began after every `x`; yet the token follows only where the terminal is over or not begun.
    let mut b = Builder::default();
    let (s, tail) = (b.nonterminal("s"), b.nonterminal("tail"));
    let loops = b.regex(Regex::concat(vec![
        Regex::repeat(Regex::literal(b"x"), 0, None),
        Regex::literal(b"y"),
    ]));
    let call = b.token(TokenSet::Text("<call>".into()));
    b.rule(s, &[tail]);
    b.rule(s, &[loops, tail]);
    b.rule(tail, &[call]);
    let mut m = matcher(&b.finish());
    assert!(m.accepts(CALL).unwrap());
    assert!(m.accept_bytes(b"x").unwrap());
    assert!(!m.accepts(CALL).unwrap());
    assert!(m.accept_bytes(b"y").unwrap());
    assert!(m.accepts(CALL).unwrap());
}

#[test]
fn the_end_of_text_belongs_to_the_place_and_not_to_the_residual() {
    // After `(`, the loop is where it is after `( )`; only the latter accepts.
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let pair = b.regex(Regex::concat(vec![
        Regex::repeat(Regex::literal(b" "), 0, None),
        Regex::literal(b"a"),
    ]));
    b.rule(s, &[]);
    b.rule(s, &[s, pair]);
    let mut m = matcher(&b.finish());
    assert!(m.is_accepting().unwrap());
    assert!(m.accept_bytes(b" ").unwrap() && !m.is_accepting().unwrap());
    assert!(!m.accepts(EOS).unwrap());
    assert!(m.accept_bytes(b"a").unwrap() && m.is_accepting().unwrap());
}

#[test]
fn ranges_of_ids_match_tokens_as_tokens() {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let any = b.token(TokenSet::Ids(
        [(byte(b'a'), byte(b'c')), (CALL, CALL), (100_000, u32::MAX)].into(),
    ));
    b.rule(s, &[any, any]);
    let mut m = matcher(&b.finish());
    assert_eq!(allowed(&m), [CALL, byte(b'a'), byte(b'b'), byte(b'c')]);
    assert!(!m.accept_bytes(b"a").unwrap());
    assert!(
        m.accept_token(CALL).unwrap()
            && m.accept_token(byte(b'b')).unwrap()
            && m.is_accepting().unwrap()
    );
}

#[test]
fn tokens_that_the_vocabulary_lacks_are_an_error() {
    for token in [
        TokenSet::Text("<nope>".into()),
        TokenSet::Text("he".into()),
        TokenSet::Ids([(9_999, 10_000)].into()),
    ] {
        let mut b = Builder::default();
        let s = b.nonterminal("s");
        let token = b.token(token);
        b.rule(s, &[token]);
        let error = try_compile(&b.finish(), &Limits::default(), &["he"]).unwrap_err();
        assert_eq!(
            (error.code(), error.kind()),
            ("E-VOCAB-TOKEN", ErrorKind::Grammar)
        );
    }
}

#[test]
fn vocabularies_that_contradict_themselves_are_refused() {
    let tokens = vec![b"a".to_vec()];
    let bad = [
        VocabularyParts {
            tokens: tokens.clone(),
            special_ids: vec![1],
            ..VocabularyParts::default()
        },
        VocabularyParts {
            tokens: tokens.clone(),
            eos_ids: vec![7],
            ..VocabularyParts::default()
        },
        VocabularyParts {
            tokens,
            vocab_size: Some(0),
            ..VocabularyParts::default()
        },
    ];
    let codes = bad.map(|parts| Vocabulary::new(&parts).unwrap_err().code());
    assert_eq!(codes, ["E-VOCAB-ID", "E-VOCAB-ID", "E-VOCAB-SIZE"]);
}

#[test]
fn unknown_ids_are_an_error_that_changes_nothing() {
    let mut m = matcher(&text("hello"));
    let size = m.compiled().vocabulary().size() as u32;
    assert_eq!(m.accept_token(size).unwrap_err().code(), "E-TOKEN-ID");
    assert_eq!(m.accepts(u32::MAX).unwrap_err().code(), "E-TOKEN-ID");
    assert_eq!(
        m.fill_next_token_bitmask(&mut [0]).unwrap_err().code(),
        "E-BITMASK-SIZE"
    );
    assert!(m.accept_bytes(b"hello").unwrap());
}

#[test]
fn jump_forward_goes_as_far_as_there_is_no_choice() {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let (start, end) = (
        b.text("hello "),
        b.regex(Regex::alt(vec![
            Regex::literal(b"you"),
            Regex::literal(b"yes"),
        ])),
    );
    b.rule(s, &[start, end]);
    let mut m = matcher(&b.finish());
    assert_eq!(m.find_jump_forward_bytes().unwrap(), b"hello y");
    assert!(m.accept_bytes(b"hello yo").unwrap());
    assert_eq!(m.find_jump_forward_bytes().unwrap(), b"u");
    assert!(m.accept_bytes(b"u").unwrap());
    assert_eq!(m.find_jump_forward_bytes().unwrap(), b"");
}

#[test]
fn closing_takes_the_shortest_way_and_keeps_to_the_budget() {
    let mut b = Builder::default();
    let (s, list) = (b.nonterminal("s"), b.nonterminal("list"));
    let (open, close, item) = (b.text("["), b.text("]"), b.text("hello"));
    b.rule(s, &[open, list, close]);
    b.rule(list, &[]);
    b.rule(list, &[s]);
    b.rule(list, &[item]);
    b.rule(list, &[list, item]);
    let mut m = matcher(&b.finish());
    assert!(m.accept_bytes(b"[[[[he").unwrap());
    let tokens = m.shortest_close(None).unwrap().unwrap();
    let spelled: Vec<u8> = tokens
        .iter()
        .flat_map(|&id| m.compiled().vocabulary().token(id).to_vec())
        .collect();
    assert_eq!(spelled, b"llo]]]]");
    assert_eq!(tokens.len(), 5);
    assert_eq!(m.shortest_close(Some(4)).unwrap(), None);
    assert_eq!(m.shortest_close(Some(5)).unwrap(), Some(tokens));
}

#[test]
fn closing_finds_a_way_where_the_shortest_bytes_cannot_be_spelled() {
    let parts = VocabularyParts {
        tokens: vec![b"a".to_vec(), b"bb".to_vec()],
        ..VocabularyParts::default()
    };
    let vocabulary = Arc::new(Vocabulary::new(&parts).unwrap());
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let (a, one, three) = (b.text("a"), b.text("b"), b.text("bbbb"));
    b.rule(s, &[a, one]);
    b.rule(s, &[a, three]);
    let compiled = CompiledGrammar::from_lnf(
        &b.finish(),
        Report::default(),
        vocabulary,
        &Limits::default(),
        false,
    )
    .unwrap();
    let m = GrammarMatcher::new(Arc::new(compiled));
    assert_eq!(m.shortest_close(None).unwrap(), Some(vec![0, 1, 1]));
    assert_eq!(m.shortest_close(Some(2)).unwrap(), None);
}

#[test]
fn explanations_name_rules_and_the_byte_where_a_token_dies() {
    let mut b = Builder::default();
    let (s, greeting) = (b.nonterminal("answer"), b.nonterminal("greeting"));
    let (hello, call) = (b.text("hello"), b.marker("<call>"));
    b.rule(s, &[greeting, call]);
    b.rule(greeting, &[hello]);
    let mut m = matcher(&b.finish());
    let words = FIRST_BYTE + 256;
    let explanation = m.explain(Some(words + 3)).unwrap();
    assert_eq!(explanation.token, Some(Verdict::Dies { at: 0 }));
    assert_eq!(&*explanation.expected[0].rule, "greeting");
    assert_eq!(explanation.expected[0].symbol, "\"hello\"");
    assert!(!explanation.expected[0].begun);
    assert_eq!(
        m.explain(Some(words)).unwrap().token,
        Some(Verdict::Allowed)
    );
    assert!(m.accept_bytes(b"h").unwrap());
    assert!(m.explain(None).unwrap().expected[0].begun);
    assert!(m.accept_bytes(b"e").unwrap());
    assert_eq!(
        m.explain(Some(CALL)).unwrap().token,
        Some(Verdict::NotExpected)
    );
    assert!(m.accept_bytes(b"llo").unwrap());
    let explanation = m.explain(Some(byte(b'x'))).unwrap();
    assert_eq!(
        (
            &*explanation.expected[0].rule,
            &*explanation.expected[0].symbol
        ),
        ("answer", "token \"<call>\"")
    );
    assert_eq!(explanation.token, Some(Verdict::Dies { at: 0 }));
}

#[test]
fn spent_fuel_fails_the_matcher_for_good() {
    let mut limits = Limits::default();
    limits.step_fuel = 200;
    let mut m =
        GrammarMatcher::new(try_compile(&text(&"hello".repeat(100)), &limits, &[]).unwrap());
    assert!(m.accept_bytes(b"hello").unwrap());
    let error = m.accept_bytes("hello".repeat(99).as_bytes()).unwrap_err();
    assert_eq!(
        (error.code(), error.kind()),
        ("E-LIMIT-STEP", ErrorKind::Limit)
    );
    assert_eq!(error.limit_detail(), Some(("step_fuel", 200)));
    assert_eq!(m.is_accepting().unwrap_err(), error);
    assert_eq!(m.accept_token(byte(b'h')).unwrap_err(), error);
    assert_eq!(m.rollback(1).unwrap_err(), error);
    assert_eq!(m.fork().accepts(EOS).unwrap_err(), error);
    m.reset();
    assert!(m.accept_bytes(b"hello").unwrap());
}

#[test]
fn what_was_refused_is_refused_again() {
    type Question = fn(&GrammarMatcher) -> Result<(), Error>;
    let questions: [Question; 3] = [
        |m| m.shortest_close(None).map(|_| ()),
        |m| m.closes_within(3).map(|_| ()),
        |m| m.next_mask().map(|_| ()),
    ];
    let lnf = text(&"hello".repeat(100));
    let mut refused = 0;
    for fuel in (1..3_000).step_by(53) {
        let mut limits = Limits::default();
        limits.step_fuel = fuel;
        let report = Report::default();
        let compiled = CompiledGrammar::from_lnf(&lnf, report, vocabulary(&[]), &limits, false);
        let compiled = Arc::new(compiled.unwrap());
        for question in questions {
            let answer = || question(&GrammarMatcher::new(Arc::clone(&compiled)));
            let first = answer();
            refused += usize::from(first.is_err());
            for _ in 0..3 {
                assert_eq!(answer(), first, "{fuel}");
            }
        }
    }
    assert!(refused > 3);
}

#[test]
fn compile_fuel_and_residual_caps_are_errors() {
    let mut limits = Limits::default();
    limits.compile_fuel = 10;
    let error = try_compile(&text(&"hello".repeat(4)), &limits, &["hello"]);
    assert!(error.is_ok(), "a literal is one residual");
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let words: Vec<Regex> = (0..100)
        .map(|index| Regex::literal(format!("{index}").as_bytes()))
        .collect();
    let symbol = b.regex(Regex::alt(words));
    b.rule(s, &[symbol]);
    let lnf = b.finish();
    assert_eq!(
        try_compile(&lnf, &limits, &[]).unwrap_err().code(),
        "E-LIMIT-COMPILE"
    );

    // (a|b)* a (a|b){40} needs 2^40 residuals; the cap stops it.
    let ab = Regex::Class(ByteSet::range(b'a', b'b'));
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let many = Regex::concat(vec![
        Regex::repeat(ab.clone(), 0, None),
        Regex::literal(b"a"),
        Regex::repeat(Regex::concat(vec![ab.clone(), ab]), 20, Some(20)),
    ]);
    let symbol = b.regex(many);
    b.rule(s, &[symbol]);
    let mut limits = Limits::default();
    limits.terminal_residuals = 100;
    let mut m = GrammarMatcher::new(try_compile(&b.finish(), &limits, &[]).unwrap());
    let mut noise = 1_u32;
    let error = (0..10_000).find_map(|_| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        m.accept_bytes(&[b'a' + (noise >> 31) as u8]).err()
    });
    assert_eq!(error.unwrap().code(), "E-LIMIT-RESIDUALS");
}

#[test]
fn batches_accept_one_token_each() {
    let start = matcher(&text("hello"));
    let (mut one, mut two) = (start.fork(), start.fork());
    let answers =
        accept_token_batch(&mut [&mut one, &mut two], &[byte(b'h'), byte(b'x')], None).unwrap();
    assert_eq!(answers, [Ok(true), Ok(false)]);
    assert_eq!((one.steps(), two.steps()), (1, 0));
    assert_eq!(
        accept_token_batch(&mut [&mut one], &[], Some(2))
            .unwrap_err()
            .code(),
        "E-BATCH-SIZE"
    );
}

#[test]
fn a_mask_is_known_once_it_was_filled() {
    let [m, verified] = [false, true].map(|verify| {
        let vocabulary = vocabulary(&["hello"]);
        let (report, limits) = (Report::default(), Limits::default());
        let compiled =
            CompiledGrammar::from_lnf(&text("hello"), report, vocabulary, &limits, verify);
        GrammarMatcher::new(Arc::new(compiled.unwrap()))
    });
    // Where masks are verified, each is found anew.
    allowed(&verified);
    assert!(verified.known_mask().is_none());
    assert!(m.known_mask().is_none());
    allowed(&m);
    assert!(m.known_mask().is_some());
    let mut further = m.fork();
    assert!(further.known_mask().is_some());
    assert!(further.accept_token(byte(b'h')).unwrap());
    assert!(further.known_mask().is_none());
}

#[test]
fn a_step_is_known_once_it_was_asked_for() {
    let [mut m, mut verified] = [false, true].map(|verify| {
        let vocabulary = vocabulary(&["hello"]);
        let (report, limits) = (Report::default(), Limits::default());
        let compiled = CompiledGrammar::from_lnf(&text("ab"), report, vocabulary, &limits, verify);
        GrammarMatcher::new(Arc::new(compiled.unwrap()))
    });
    let mut again = m.fork();
    let (a, b) = (byte(b'a'), byte(b'b'));
    assert_eq!(m.accept_known(a), None);
    assert_eq!(m.steps(), 0);
    for id in [a, b, EOS] {
        let refused = if id == a { b } else { a };
        assert!(!m.accept_token(refused).unwrap());
        assert_eq!(again.accept_known(refused), Some(false));
        assert!(m.accept_token(id).unwrap());
        assert_eq!(again.accept_known(id), Some(true));
        assert_eq!(again.steps(), m.steps());
    }
    assert!(again.is_terminated().unwrap());
    assert_eq!(again.accept_known(EOS), None);
    // Where steps are verified, each is taken anew.
    let start = verified.fork();
    assert!(verified.accept_token(a).unwrap());
    assert_eq!(start.clone().accept_known(a), None);
}

#[test]
fn a_mask_that_was_found_is_written_later() {
    let mut m = matcher(&text("h"));
    let words = bitmask_words(m.compiled().vocabulary().size());
    let filled = |m: &GrammarMatcher| {
        let mut row = vec![7; words + 2];
        m.fill_next_token_bitmask(&mut row).unwrap();
        row
    };
    let mut row = vec![5; words + 2];
    let first = m.next_mask().unwrap();
    let expected = filled(&m);
    for id in [byte(b'h'), EOS] {
        assert!(m.accept_token(id).unwrap());
        let next = m.next_mask().unwrap();
        next.write(&mut row[..]).unwrap();
        assert_eq!(row, filled(&m));
    }
    // Behind the end nothing is refused.
    assert_eq!(row, vec![-1; words + 2]);
    // It stays what it was.
    first.write(&mut row[..]).unwrap();
    assert_eq!(row, expected);
    let short = first.write(&mut row[1..words]).unwrap_err();
    assert_eq!(short.code(), "E-BITMASK-SIZE");
}
