//! Bounds on labelled parts: compared with a reference that knows every text of a small grammar, and by their promises.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use syntagma_engine::{
    Bound, CompiledGrammar, GrammarCompiler, GrammarMatcher, Limits, Unit, Verdict, Vocabulary,
    VocabularyParts, bitmask_words,
};
use syntagma_grammar::syntax::ebnf;

const EOS: u32 = 256;
const CLOSE: u32 = 257;

/// Every byte, an end of the turn, a special token, and words.
fn vocabulary(words: &[&str]) -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    tokens.push(b"<eos>".to_vec());
    tokens.push(b"</t>".to_vec());
    tokens.extend(words.iter().map(|word| word.as_bytes().to_vec()));
    let parts = VocabularyParts {
        tokens,
        special_ids: vec![CLOSE],
        eos_ids: vec![EOS],
        ..VocabularyParts::default()
    };
    Arc::new(Vocabulary::new(&parts).unwrap())
}

fn compile(grammar: &str, words: &[&str]) -> Arc<CompiledGrammar> {
    let compiler = GrammarCompiler::new(vocabulary(words), Limits::default()).with_verify(true);
    let grammar = ebnf::parse(grammar, "start", &syntagma_grammar::Limits::default()).unwrap();
    compiler.compile(&Arc::new(grammar)).unwrap()
}

fn bound(label: &str, unit: Unit, most: u32) -> Bound {
    Bound {
        label: label.into(),
        unit,
        most,
    }
}

fn tokens(most: u32) -> Vec<Bound> {
    vec![bound("a", Unit::Tokens, most)]
}

fn bytes(most: u32) -> Vec<Bound> {
    vec![bound("a", Unit::Bytes, most)]
}

fn matcher(grammar: &str, words: &[&str], bounds: Vec<Bound>) -> GrammarMatcher {
    GrammarMatcher::with_bounds(compile(grammar, words), bounds).unwrap()
}

/// The ids that the mask allows; every bit is what `accepts` says.
fn allowed(matcher: &GrammarMatcher) -> Vec<u32> {
    let size = matcher.compiled().vocabulary().size();
    let mut row = vec![0; bitmask_words(size)];
    matcher.fill_next_token_bitmask(&mut row).unwrap();
    let ids: Vec<u32> = (0..size as u32)
        .filter(|&id| row[id as usize / 32] >> (id % 32) & 1 == 1)
        .collect();
    for id in 0..size as u32 {
        assert_eq!(
            ids.contains(&id),
            matcher.accepts(id).unwrap(),
            "token {id} after {} steps",
            matcher.steps()
        );
    }
    ids
}

fn take(matcher: &mut GrammarMatcher, text: &str) {
    for byte in text.bytes() {
        assert!(matcher.accept_token(u32::from(byte)).unwrap(), "{text}");
    }
}

#[test]
fn thoughts_end_with_the_last_token_that_is_theirs() {
    let grammar = "start ::= @a(except!('</t>')) @marker('</t>') answer ; answer ::= #'[a-z]+'";
    let mut m = matcher(grammar, &["word"], tokens(3));
    take(&mut m, "xy");
    // No first byte of a longer character: it could not be finished.
    assert_eq!(allowed(&m).iter().filter(|&&id| id < 256).max(), Some(&127));
    assert!(m.accept_token(CLOSE + 1).unwrap());
    assert_eq!(allowed(&m), [CLOSE]);
    assert_eq!(m.explain(Some(65)).unwrap().token, Some(Verdict::Spent));
    assert!(!m.accept_token(65).unwrap());
    assert!(m.accept_token(CLOSE).unwrap());
    take(&mut m, "abcdefgh");
    assert!(m.accept_token(EOS).unwrap() && m.is_terminated().unwrap());
}

#[test]
fn a_closer_in_letters_is_not_counted() {
    let grammar = "start ::= @a(except!('</t>')) '</t>' #'[a-z]+'";
    let mut m = matcher(grammar, &["</", "t>"], tokens(4));
    // Two letters, and what turns out to be text after all.
    take(&mut m, "xy<-");
    assert_eq!(allowed(&m), [u32::from(b'<'), CLOSE + 1]);
    assert_eq!(m.find_jump_forward_bytes().unwrap(), b"</t>");
    take(&mut m, "</t>abc");
    let mut m = matcher(grammar, &["</", "t>"], tokens(4));
    take(&mut m, "xy</t>");
    assert!(m.find_jump_forward_bytes().unwrap().is_empty());
}

#[test]
fn the_way_out_is_kept_open() {
    let grammar = "start ::= 'f(' @a(value) ')' ; value ::= '[' [ value { ',' value } ] ']' | #'\"[a-z]*\"' | #'[0-9]+'";
    let mut m = matcher(grammar, &["[[", "]]", "[["], bytes(8));
    take(&mut m, "f([[[");
    // Three more bytes close it; two more could open and close another, or be a text.
    assert!(allowed(&m).contains(&u32::from(b'[')));
    assert!(!allowed(&m).contains(&(CLOSE + 1)));
    take(&mut m, "[");
    assert_eq!(allowed(&m), [u32::from(b']'), CLOSE + 2]);
    assert_eq!(
        m.shortest_close(None).unwrap().unwrap(),
        [CLOSE + 2, CLOSE + 2, u32::from(b')')]
    );
    take(&mut m, "]]]])");
    assert_eq!(allowed(&m), [EOS]);
}

#[test]
fn what_must_be_longer_than_its_bound_is_as_short_as_it_can_be() {
    let grammar = "start ::= @a('\"' #'[a-z]{3,9}' '\"') | @a('\"' #'[A-Z]{4}' '\"')";
    let mut m = matcher(grammar, &["abc"], bytes(2));
    take(&mut m, "\"ab");
    assert!(!allowed(&m).contains(&u32::from(b'"')));
    take(&mut m, "c");
    assert_eq!(allowed(&m), [u32::from(b'"')]);
    let m = matcher(grammar, &["abc"], tokens(1));
    assert_eq!(allowed(&m), [u32::from(b'"')]);
}

#[test]
fn closing_goes_byte_by_byte_where_a_token_would_write_too_much() {
    let grammar = "start ::= ',' @a('y' | 'yxxx' 'z') '!'";
    let m = matcher(grammar, &[",yxxxz!", ",yx"], bytes(1));
    let close = m.shortest_close(None).unwrap().unwrap();
    assert_eq!(close, [b',', b'y', b'!'].map(u32::from));
    let grammar = "start ::= ',' @a('yx') @b('z') | 'w'";
    let bounds = vec![bound("a", Unit::Tokens, 2), bound("b", Unit::Tokens, 1)];
    let m = matcher(grammar, &[",yx", "xz"], bounds);
    assert_eq!(allowed(&m), [u32::from(b','), u32::from(b'w'), CLOSE + 1]);
}

#[test]
fn a_part_that_need_not_be_is_left_out() {
    let grammar = "start ::= [ @a(#'[a-z]+') ] '!'";
    let m = matcher(grammar, &[], tokens(0));
    assert_eq!(allowed(&m), [u32::from(b'!')]);
}

#[test]
fn tokens_are_counted_over_the_text_and_bytes_in_each_place() {
    let grammar = "start ::= { '(' @a(#'[a-z]*') ')' }";
    let mut m = matcher(grammar, &[], tokens(3));
    take(&mut m, "(ab)(c");
    assert_eq!(allowed(&m), [u32::from(b')')]);
    take(&mut m, ")()");
    let mut m = matcher(grammar, &[], bytes(2));
    take(&mut m, "(ab)(cd");
    assert_eq!(allowed(&m), [u32::from(b')')]);
}

#[test]
fn saved_matchers_keep_their_bounds() {
    let grammar = "start ::= @a(#'[a-z]*') '!'";
    let compiled = compile(grammar, &[]);
    let mut m = GrammarMatcher::with_bounds(Arc::clone(&compiled), tokens(2)).unwrap();
    take(&mut m, "ab");
    let again = GrammarMatcher::from_state_bytes(compiled, &m.state_bytes().unwrap()).unwrap();
    assert_eq!(again.bounds(), m.bounds());
    assert_eq!(allowed(&again), [u32::from(b'!')]);
}

#[test]
fn bounds_that_could_do_nothing_are_refused() {
    let plain = compile("start ::= 'x'", &[]);
    let error = GrammarMatcher::with_bounds(plain, tokens(2)).unwrap_err();
    assert_eq!(error.code(), "E-BUDGET-LABEL");
    let labelled = compile("start ::= @a('x')", &[]);
    let twice = [tokens(2), tokens(3)].concat();
    let error = GrammarMatcher::with_bounds(labelled, twice).unwrap_err();
    assert_eq!(error.code(), "E-BUDGET-BOUNDS");
}

/// A grammar of finitely many short texts.
#[derive(Debug, Clone)]
enum Shape {
    Text(String),
    Seq(Vec<Shape>),
    Alt(Vec<Shape>),
    Times(Box<Shape>, u32, u32),
    Part(char, Box<Shape>),
    /// Anything else, as it is written, with its texts.
    Written(&'static str, &'static [&'static [u8]]),
}

/// A text with the part of each byte.
type Marked = Vec<(u8, char)>;

const NONE: char = '-';

/// Stands in a text for the special token, which is no text.
const SPECIAL: u8 = 255;

fn id(letter: u8) -> u32 {
    if letter == SPECIAL {
        CLOSE
    } else {
        u32::from(letter)
    }
}

impl Shape {
    fn ebnf(&self) -> String {
        match self {
            Self::Text(text) => format!("'{text}'"),
            Self::Seq(parts) => {
                let parts: Vec<_> = parts.iter().map(Self::ebnf).collect();
                format!("({})", parts.join(" "))
            }
            Self::Alt(parts) => {
                let parts: Vec<_> = parts.iter().map(Self::ebnf).collect();
                format!("({})", parts.join(" | "))
            }
            Self::Times(part, min, max) => format!("({}){{{min},{max}}}", part.ebnf()),
            Self::Part(label, part) => format!("@{label}({})", part.ebnf()),
            Self::Written(ebnf, _) => (*ebnf).to_owned(),
        }
    }

    /// All texts, with what bounded parts the bytes are in; None if there are too many.
    fn texts(&self, label: char, bounded: &str) -> Option<BTreeSet<Marked>> {
        let joined = |a: &BTreeSet<Marked>, b: &BTreeSet<Marked>| -> Option<BTreeSet<Marked>> {
            let all = a
                .iter()
                .flat_map(|a| b.iter().map(move |b| [&a[..], b].concat()));
            let all: BTreeSet<Marked> = all.collect();
            (all.len() <= 3000).then_some(all)
        };
        let empty = BTreeSet::from([Marked::new()]);
        match self {
            Self::Text(text) => Some([text.bytes().map(|byte| (byte, label)).collect()].into()),
            Self::Seq(parts) => parts.iter().try_fold(empty, |all, part| {
                joined(&all, &part.texts(label, bounded)?)
            }),
            Self::Alt(parts) => parts.iter().try_fold(BTreeSet::new(), |mut all, part| {
                all.extend(part.texts(label, bounded)?);
                Some(all)
            }),
            Self::Times(part, min, max) => {
                let one = part.texts(label, bounded)?;
                let (mut all, mut now) = (BTreeSet::new(), empty);
                for count in 0..=*max {
                    if count >= *min {
                        all.extend(now.iter().cloned());
                    }
                    now = joined(&now, &one)?;
                }
                Some(all)
            }
            // The outermost label says which part it is.
            Self::Part(own, part) => {
                let outermost = label == NONE && bounded.contains(*own);
                part.texts(if outermost { *own } else { label }, bounded)
            }
            Self::Written(_, texts) => {
                let mark = |text: &&[u8]| text.iter().map(|&byte| (byte, label)).collect();
                Some(texts.iter().map(mark).collect())
            }
        }
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        4 => "[xy]{1,3}|[xyz]".prop_map(Shape::Text),
        1 => prop::sample::select(vec![
            Shape::Written("<[257]>", &[&[SPECIAL]]),
            Shape::Written("#'x?y'", &[b"y", b"xy"]),
            Shape::Written("#'x{2,3}y?'", &[b"xx", b"xxx", b"xxy", b"xxxy"]),
        ]),
    ];
    leaf.prop_recursive(4, 14, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Shape::Seq),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Shape::Alt),
            (inner.clone(), 0..2_u32, 1..3_u32).prop_map(|(s, min, max)| Shape::Times(
                s.into(),
                min,
                max
            )),
            ("[ab]", inner)
                .prop_map(|(label, s)| Shape::Part(label.chars().next().unwrap(), s.into())),
        ]
    })
}

/// A way of reading the text so far: its beginning of a text of the grammar, and the part of the next byte.
type Reading = (Marked, char);

/// What bounds mean, said with all texts of a grammar at hand and tokens of one byte.
struct Reference {
    texts: Vec<Marked>,
    bounds: BTreeMap<char, (Unit, usize)>,
    readings: BTreeSet<Reading>,
    excess: usize,
}

impl Reference {
    fn new(texts: BTreeSet<Marked>, bounds: BTreeMap<char, (Unit, usize)>) -> Self {
        let mut reference = Self {
            texts: texts.into_iter().collect(),
            bounds,
            readings: BTreeSet::new(),
            excess: 0,
        };
        let start = reference.followed(&Marked::new());
        reference.choose(start);
        reference
    }

    /// Parts without a bound are none.
    fn part(&self, label: char) -> char {
        if self.bounds.contains_key(&label) {
            label
        } else {
            NONE
        }
    }

    /// A beginning with each part that may follow it.
    fn followed(&self, beginning: &Marked) -> BTreeSet<Reading> {
        let texts = self.texts.iter().filter(|text| text.starts_with(beginning));
        texts
            .map(|text| {
                let next = text.get(beginning.len()).map_or(NONE, |&(_, label)| label);
                (beginning.clone(), self.part(next))
            })
            .collect()
    }

    fn count(&self, beginning: &Marked, part: char) -> usize {
        let is_in = |&&(_, label): &&(u8, char)| label == part;
        match self.bounds[&part].0 {
            Unit::Tokens => beginning.iter().filter(is_in).count(),
            Unit::Bytes => beginning.iter().rev().take_while(is_in).count(),
        }
    }

    fn excess(&self, (beginning, part): &Reading) -> usize {
        if *part == NONE {
            return 0;
        }
        let texts = self.texts.iter().filter(|text| text.starts_with(beginning));
        let runs = texts.map(|text| {
            text[beginning.len()..]
                .iter()
                .take_while(|(_, label)| label == part)
                .count()
        });
        let need = runs.filter(|&run| run > 0).min().unwrap();
        (self.count(beginning, *part) + need).saturating_sub(self.bounds[part].1)
    }

    fn choose(&mut self, readings: BTreeSet<Reading>) {
        let excess = readings.iter().map(|reading| self.excess(reading)).min();
        self.excess = excess.unwrap_or(0);
        self.readings = readings
            .into_iter()
            .filter(|reading| self.excess(reading) == self.excess)
            .collect();
    }

    /// Where a byte leads; empty where it is refused.
    fn behind(&self, byte: u8) -> BTreeSet<Reading> {
        let mut behind = BTreeSet::new();
        for (beginning, part) in &self.readings {
            let next: BTreeSet<(u8, char)> = self
                .texts
                .iter()
                .filter(|text| text.starts_with(beginning))
                .filter_map(|text| text.get(beginning.len()).copied())
                .filter(|&(next, label)| next == byte && self.part(label) == *part)
                .collect();
            for letter in next {
                let mut longer = beginning.clone();
                longer.push(letter);
                for reading in self.followed(&longer) {
                    let fits = if reading.1 == *part {
                        self.excess(&reading) <= self.excess
                    } else if *part != NONE {
                        self.count(&longer, *part)
                            .saturating_sub(self.bounds[part].1)
                            <= self.excess
                    } else {
                        true
                    };
                    if fits || *part == NONE {
                        behind.insert(reading);
                    }
                }
            }
        }
        behind
    }

    fn accepts(&self) -> bool {
        self.readings
            .iter()
            .any(|(beginning, part)| *part == NONE && self.texts.contains(beginning))
    }
}

/// A walk of a matcher beside the reference.
fn compare(shape: &Shape, bounds: &[(char, Unit, usize)], ways: &[u8]) {
    let bounded: String = bounds.iter().map(|&(label, ..)| label).collect();
    let Some(texts) = shape.texts(NONE, &bounded) else {
        return;
    };
    let compiled = compile(&format!("start ::= @c({})", shape.ebnf()), &[]);
    let own = bounds
        .iter()
        .map(|&(label, unit, most)| bound(&label.to_string(), unit, most as u32));
    let mut matcher = GrammarMatcher::with_bounds(compiled, own.collect()).unwrap();
    let bounds = bounds
        .iter()
        .map(|&(label, unit, most)| (label, (unit, most)));
    let mut reference = Reference::new(texts, bounds.collect());
    for &way in ways {
        let letters: Vec<u8> = [b'x', b'y', b'z', SPECIAL]
            .into_iter()
            .filter(|&byte| !reference.behind(byte).is_empty())
            .collect();
        let mut expected: Vec<u32> = letters.iter().map(|&byte| id(byte)).collect();
        expected.extend(reference.accepts().then_some(EOS));
        expected.sort_unstable();
        let grammar = shape.ebnf();
        assert_eq!(allowed(&matcher), expected, "{grammar}");
        assert_eq!(matcher.is_accepting().unwrap(), reference.accepts());
        if letters.is_empty() {
            assert!(matcher.is_accepting().unwrap(), "a dead end: {grammar}");
            break;
        }
        let byte = letters[usize::from(way) % letters.len()];
        let readings = reference.behind(byte);
        reference.choose(readings);
        assert!(matcher.accept_token(id(byte)).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn matchers_are_the_reference(
        shape in shapes(),
        (first, second) in (0..6_usize, prop::option::of(0..6_usize)),
        (in_bytes, ways) in (any::<bool>(), prop::collection::vec(any::<u8>(), 40)),
    ) {
        let unit = if in_bytes { Unit::Bytes } else { Unit::Tokens };
        let mut bounds = vec![('a', unit, first)];
        bounds.extend(second.map(|second| ('b', Unit::Tokens, second)));
        compare(&shape, &bounds, &ways);
    }
}

/// Between parts of one kind that stand side by side there is no end of the part.
#[test]
fn parts_side_by_side_are_one() {
    let part = |text: &str| Shape::Part('a', Box::new(Shape::Text(text.into())));
    let times = |shape: &Shape, min, max| Shape::Times(Box::new(shape.clone()), min, max);
    let pair = Shape::Seq(vec![part("xx"), part("xx")]);
    let shapes = [
        // Leaving takes one letter more, or two.
        Shape::Seq(vec![times(&part("x"), 1, 2), part("yy")]),
        Shape::Seq(vec![
            times(&part("x"), 0, 2),
            part("yx"),
            Shape::Text("y".into()),
        ]),
        // What looks short enough is not.
        times(&pair, 0, 1),
        Shape::Alt(vec![pair, Shape::Text("xy".into())]),
        // The next part is inside of rules of its own, or may be left out.
        Shape::Seq(vec![
            part("x"),
            Shape::Alt(vec![
                Shape::Seq(vec![times(&part("yy"), 0, 1), times(&part("x"), 1, 2)]),
                Shape::Seq(vec![
                    part("xyx"),
                    Shape::Part('b', Box::new(Shape::Text("z".into()))),
                ]),
            ]),
        ]),
    ];
    for shape in &shapes {
        for most in 0..5 {
            for unit in [Unit::Tokens, Unit::Bytes] {
                for way in 0..2 {
                    compare(shape, &[('a', unit, most)], &[way; 8]);
                    compare(
                        shape,
                        &[('a', unit, most), ('b', unit, 0)],
                        &[0, way, way, 1, 1],
                    );
                }
            }
        }
    }
}

#[test]
fn a_jump_is_taken_at_once_or_not_at_all() {
    let grammar = "start ::= @a('x' 'xx' #'x?y') '!'";
    let mut m = matcher(grammar, &["xx", "xy"], tokens(0));
    assert!(m.accept_token(CLOSE + 1).unwrap());
    // Another `x` comes, but not as a token of its own.
    assert_eq!(allowed(&m), [CLOSE + 2]);
    assert!(!m.fork().accept_bytes(b"x").unwrap());
    assert!(m.find_jump_forward_bytes().unwrap().is_empty());
    assert!(m.accept_token(CLOSE + 2).unwrap());
    assert_eq!(m.find_jump_forward_bytes().unwrap(), b"!");
}

/// The same text in two parts and in none, for all small bounds.
#[test]
fn what_may_be_in_several_parts_is_counted_in_each() {
    let part = |label, shape: &Shape| Shape::Part(label, Box::new(shape.clone()));
    let text = |text: &str| Shape::Text(text.into());
    let shapes = [
        text("y"),
        text("yx"),
        Shape::Times(text("y").into(), 1, 3),
        Shape::Seq(vec![Shape::Alt(vec![text("x"), text("y")]), text("z")]),
    ];
    for shape in &shapes {
        let (a, b) = (part('a', shape), part('b', shape));
        for parts in [
            vec![a.clone(), b.clone()],
            vec![text("x"), b.clone(), a.clone()],
            vec![b.clone(), shape.clone(), part('a', &a)],
            vec![Shape::Seq(vec![a.clone(), text("x")]), b],
        ] {
            let shape = Shape::Alt(parts);
            for first in 0..4 {
                for (second, unit) in [(0, Unit::Tokens), (1, Unit::Bytes), (2, Unit::Tokens)] {
                    for way in 0..3 {
                        let bounds = [('a', Unit::Tokens, first), ('b', unit, second)];
                        compare(&shape, &bounds, &[way; 8]);
                    }
                }
            }
        }
    }
}

/// Values between `f(` and `)`, which occur nowhere in them.
const CALL: &str = r#"
start ::= 'f(' @a(value) ')' ;
value ::= '[' [ value { ',' value } ] ']' | object | '"' #'[a-z]*' '"' | #'[0-9]+' | 'true' ;
object ::= '{"name":' value ',"more":' value '}' ;
"#;

const WORDS: &[&str] = &[
    "f(", "(\"", "[[", "]]", "]])", "\"abc", "abc\"", "\",\"", "name", "{\"", "\":", "true", "ru",
    "12", "f([[", "\"})", "})",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Tokens of any length: what may come next, the way to the end, jumps and saved states are of one mind.
    #[test]
    fn long_tokens_keep_every_promise(
        shape in shapes(),
        (in_bytes, most, others) in (any::<bool>(), 0..6_u32, 0..6_u32),
        ways in prop::collection::vec(any::<u8>(), 40),
    ) {
        let Some(texts) = shape.texts(NONE, "") else {
            return Ok(());
        };
        let words = ["xx", "xy", "yx", "xyx", "yy", "zx", "xxx", "yz"];
        let compiled = compile(&format!("start ::= @c({})", shape.ebnf()), &words);
        let unit = if in_bytes { Unit::Bytes } else { Unit::Tokens };
        let bounds = vec![bound("a", unit, most), bound("b", Unit::Tokens, others)];
        let mut m = GrammarMatcher::with_bounds(Arc::clone(&compiled), bounds).unwrap();
        let (mut text, mut masks) = (Marked::new(), Vec::new());
        for way in ways {
            let ids = allowed(&m);
            prop_assert!(!ids.is_empty(), "a dead end behind {text:?}");
            prop_assert_eq!(m.is_accepting().unwrap(), texts.contains(&text) && ids.contains(&EOS));
            let close = m.shortest_close(None).unwrap().unwrap();
            prop_assert_eq!(m.validate_tokens(&close).unwrap(), close.len());
            let jump = m.find_jump_forward_bytes().unwrap();
            prop_assert!(jump.is_empty() || m.fork().accept_bytes(&jump).unwrap());
            let saved = m.state_bytes().unwrap();
            let again = GrammarMatcher::from_state_bytes(Arc::clone(&compiled), &saved).unwrap();
            prop_assert_eq!(&allowed(&again), &ids);
            let id = ids[usize::from(way) % ids.len()];
            masks.push(ids);
            prop_assert!(m.accept_token(id).unwrap());
            let letters = match id {
                EOS => break,
                CLOSE => &[SPECIAL],
                _ => compiled.vocabulary().token(id),
            };
            text.extend(letters.iter().map(|&byte| (byte, NONE)));
        }
        for ids in masks.iter().rev() {
            m.rollback(1).unwrap();
            prop_assert_eq!(&allowed(&m), ids);
        }
    }

    #[test]
    fn bounds_hold_whatever_comes_and_leave_a_way_to_the_end(
        in_bytes in any::<bool>(),
        most in 0..24_u32,
        ways in prop::collection::vec(any::<u16>(), 120),
    ) {
        let bounds = if in_bytes { bytes(most) } else { tokens(most) };
        let compiled = compile(CALL, WORDS);
        let mut m = GrammarMatcher::with_bounds(Arc::clone(&compiled), bounds).unwrap();
        let mut taken: Vec<u32> = Vec::new();
        let mut masks = vec![allowed(&m)];
        let vocabulary = Arc::clone(compiled.vocabulary());
        let mut ways = ways.into_iter();
        while !m.is_terminated().unwrap() {
            let ids = masks.last().unwrap();
            prop_assert!(!ids.is_empty(), "a dead end behind {taken:?}");
            let close = m.shortest_close(None).unwrap().unwrap();
            prop_assert_eq!(m.validate_tokens(&close).unwrap(), close.len());
            let id = match ways.next() {
                Some(way) => ids[usize::from(way) % ids.len()],
                None => close.first().copied().unwrap_or(EOS),
            };
            prop_assert!(m.accept_token(id).unwrap());
            taken.push(id);
            masks.push(if id == EOS { Vec::new() } else { allowed(&m) });
        }
        // The grammar alone takes it, too.
        prop_assert_eq!(GrammarMatcher::new(compiled).validate_tokens(&taken).unwrap(), taken.len());
        // Every byte of the value lies behind the first two and before the last.
        let texts: Vec<&[u8]> = taken[..taken.len() - 1].iter().map(|&id| vocabulary.token(id)).collect();
        let whole = texts.concat().len();
        let mut at = 0;
        let mut count = 0;
        for text in texts {
            let (from, to) = (at.max(2), (at + text.len()).min(whole - 1));
            at += text.len();
            count += if in_bytes { to.saturating_sub(from) } else { usize::from(from < to) };
        }
        // The shortest value has one byte.
        prop_assert!(count <= most.max(1) as usize, "{count} of {most} in {taken:?}");
        // Going back leads to the same masks.
        for steps in (0..taken.len()).rev() {
            m.rollback(1).unwrap();
            prop_assert_eq!(&allowed(&m), &masks[steps]);
        }
        m.reset();
        prop_assert_eq!(&allowed(&m), &masks[0]);
    }
}
