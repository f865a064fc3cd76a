//! Masks that are put together from what is known of terminals, compared with the judge and with acceptance: schemas and a programming
//! language over a vocabulary whose tokens cross every boundary, one compiler for all of them.

use crate::vocabularies;

use std::sync::Arc;

use syntagma_engine::{
    GrammarCompiler, GrammarMatcher, Layer, Layers, Limits, Vocabulary, bitmask_words,
};
use syntagma_grammar::Grammar;
use syntagma_grammar::syntax::{ebnf, json_schema};

/// Numbers without a pattern, the same in every run.
struct Noise(u64);

impl Noise {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Every byte; long runs of blanks; words with and without a blank before; what closes a string and goes on; numbers;
/// parts of characters; random strings over the signs of JSON and of programs; very long tokens; duplicates.
fn vocabulary() -> Arc<Vocabulary> {
    let mut tokens = vocabularies::bytes();
    for length in 2..140 {
        tokens.push(vec![b' '; length]);
        tokens.push([b"\n".as_slice(), &vec![b'\t'; length]].concat());
    }
    let words = [
        "a", "b", "name", "value", "true", "false", "null", "x1", "café", "日本", "if", "while",
        "int", "return",
    ];
    let joins = [
        "\"", "\":", "\": ", "\": \"", "\",", "\", \"", "\"}", "\"},", "\"]", "\": {\"", ",", " ,",
        "}", "  }", "]", ";", "; ", " = ", "(", ")", ");\n", "\\", "\\\"", "\\u00",
    ];
    for word in words {
        for join in joins {
            for text in [
                format!("{word}{join}"),
                format!("{join}{word}"),
                format!(" {word}{join}"),
                format!("{word}{join}{word}"),
            ] {
                tokens.push(text.into_bytes());
            }
        }
    }
    tokens.extend((0..120).map(|number| (number * 37).to_string().into_bytes()));
    tokens.extend(["0.5", "1e", "-1", "12,", "3}", "00"].map(|text| text.as_bytes().to_vec()));
    let signs = b"ab1 \"\\:,{}[]\xc3\xa9e-.;()=";
    let mut noise = Noise(7);
    for _ in 0..2_500 {
        let length = 2 + noise.below(6);
        tokens.push(
            (0..length)
                .map(|_| signs[noise.below(signs.len())])
                .collect(),
        );
    }
    tokens.extend([
        vec![b'a'; 40],
        vec![b'b'; 300],
        "a\u{2003}a".into(),
        "\u{3000}本".into(),
        "日本b日本".into(),
        "né".repeat(90).into_bytes(),
        "日本".repeat(7).into_bytes(),
    ]);
    vocabularies::with_end(tokens, b"<end>")
}

const SCHEMAS: &[&str] = &[
    r#"{"type": "object", "properties": {"a": {"type": "string"}, "name": {"type": "integer"}, "value": {}}}"#,
    r#"{"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}, "additionalProperties": false}"#,
    r#"{"type": "string", "maxLength": 45}"#,
    r#"{"type": "string", "minLength": 2, "maxLength": 200}"#,
    r#"{"type": "string", "minLength": 20}"#,
    r#"{"type": "string", "pattern": "a.*b", "maxLength": 190}"#,
    r#"{"type": "string", "pattern": "^([ab1]+ ){0,3}[ab1]+$", "maxLength": 60}"#,
    r#"{"type": "string", "pattern": "^[a-z]{2,4}$|^x", "maxLength": 9, "minLength": 3}"#,
    r#"{"type": "object", "additionalProperties": {"type": "number"}, "properties": {"a": {}, "ab": {}, "name": {}}}"#,
    r#"{"type": "object", "patternProperties": {"a": {"type": "number"}, "^b": {"type": "boolean"}},
        "additionalProperties": {"type": "string"}}"#,
    r#"{"type": "object", "allOf": [{"patternProperties": {"a": {"type": "number"}}}, {"patternProperties": {"b": {"type": "null"}}}]}"#,
    r#"{"type": "object", "patternProperties": {"name:.*": {}}, "properties": {"value": {}}, "additionalProperties": {"type": "null"}}"#,
    r#"{"type": "string", "pattern": "^(\\S+\\s+){0,9}\\S+$"}"#,
    r#"{"type": "string", "pattern": "^[^b]*$"}"#,
    r#"{"type": "string", "pattern": "^[^b本]*$", "minLength": 2}"#,
    r#"{"type": "string", "pattern": "^[ -~]*$"}"#,
    r#"{"type": "string", "pattern": "^[+--.0-9A-Z_a-z]+$"}"#,
    r#"{"type": "string", "minLength": 36, "maxLength": 36}"#,
    r#"{"type": "string", "maxLength": 3}"#,
    r#"{"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}}"#,
    r#"{"type": "array", "items": {"type": "string", "maxLength": 12}, "maxItems": 4}"#,
    r#"{"enum": ["a", "ab", "name", "value", "x1", "true", "b", "ba", "bb", 1, 12, null]}"#,
    r#"{"type": "number", "minimum": 3, "maximum": 450}"#,
    r#"{"not": {"type": "object"}}"#,
    r##"{"type": "object", "properties": {"child": {"$ref": "#"}, "if": {"const": 1}}, "required": ["if"]}"##,
];

const PROGRAM: &str = r#"
program ::= (function)+ ;
function ::= ws #"(int|void)" #"[ ]+" name ws "(" ws ")" ws block ;
block ::= ws "{" (statement)* ws "}" ;
statement ::= ws name ws "=" expression ws ";" | ws "if" ws "(" expression ws ")" block | ws "return" expression ws ";" | ws "//" #"[^\n]*" "\n" ;
expression ::= term (ws #"[-+*/<>]" term)* ;
term ::= ws name | ws #"[0-9]+(\\.[0-9]+)?" | ws "(" expression ws ")" | ws name ws "(" (expression (ws "," expression)*)? ws ")" | ws #"\"[^\"\n]*\"" ;
name ::= #"[A-Za-z_][A-Za-z0-9_]*" ;
ws ::= #"[ \t\n]*" ;
start ::= program ;
"#;

/// Free text with calls in it: a wide terminal, then a narrow one, then values that nest.
const CALLS: &str = r#"
start ::= (#"[^<]+" | "<call>" call "</call>")* ;
call ::= "{\"name\": \"" #"[a-z_]{1,20}" "\", \"value\": " value "}" ;
value ::= #"\"[^\"\\\\]{0,30}\"" | #"-?[0-9]{1,9}" | "[" (value ("," #"[ ]{0,3}" value)*)? "]" | "(" value ")" ;
"#;

/// Names that may be followed by words of the same letters, with no blank between; blanks are a rule of their own.
const WORDS: &str = r#"
start ::= gap (statement gap)* "end." ;
statement ::= name gap "=" gap value gap ";" | "if" gap "(" gap value gap ")" gap "{" gap (statement gap)* "}" ;
value ::= both (gap "or" space both)* ;
both ::= atom (gap "and" space atom)* ;
atom ::= #"[0-9]+([.][0-9]+)?" | #"\"[^\"\n]*\"" | name gap "(" gap value gap ")" | name | "(" gap value gap ")" ;
name ::= #"[a-z_][a-z0-9_]*" ;
gap ::= #"[ \n]*" ;
space ::= #"[ \n]+" ;
"#;

fn grammars() -> Vec<Arc<Grammar>> {
    let limits = syntagma_grammar::Limits::default();
    let options = json_schema::Options::default();
    let schemas = SCHEMAS
        .iter()
        .map(|schema| json_schema::parse(schema, &options, &limits).unwrap());
    let program = ebnf::parse(PROGRAM, "start", &limits).unwrap();
    let calls = ebnf::parse(CALLS, "start", &limits).unwrap();
    let words = ebnf::parse(WORDS, "start", &limits).unwrap();
    schemas
        .chain([program, calls, words])
        .map(Arc::new)
        .collect()
}

/// Follows random tokens, and compares every bit of every mask with simulated acceptance where there is a judge.
fn follow(
    maker: &GrammarCompiler,
    grammar: &Arc<Grammar>,
    judge: Option<&GrammarCompiler>,
    noise: &mut Noise,
    steps: usize,
) {
    let compiled = maker.compile(grammar).unwrap();
    let mut matcher = GrammarMatcher::new(compiled);
    let mut judge = judge.map(|judge| GrammarMatcher::new(judge.compile(grammar).unwrap()));
    let mut row = vec![0; bitmask_words(maker.vocabulary().size())];
    for _ in 0..steps {
        matcher.fill_next_token_bitmask(&mut row).unwrap();
        let mut allowed: Vec<u32> = Vec::new();
        for id in 0..maker.vocabulary().size() as u32 {
            let bit = row[id as usize / 32] >> (id % 32) & 1 == 1;
            if let Some(judge) = &judge {
                assert_eq!(bit, judge.accepts(id).unwrap(), "token {id}");
            }
            if bit {
                allowed.push(id);
            }
        }
        // Long tokens lead to more places than short ones.
        let longest = (0..4)
            .map(|_| allowed[noise.below(allowed.len())])
            .max_by_key(|&id| maker.vocabulary().token(id).len().min(9))
            .unwrap();
        assert!(matcher.accept_token(longest).unwrap());
        if let Some(judge) = &mut judge {
            assert!(judge.accept_token(longest).unwrap());
        }
        if matcher.is_terminated().unwrap() {
            break;
        }
    }
}

#[test]
fn masks_are_those_of_the_judge() {
    let vocabulary = vocabulary();
    let compiler = |verify| {
        GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default())
            .with_verify(verify)
            .with_cache(false)
    };
    let mut noise = Noise(1);
    // What the second round finds was found out under other grammars; reading texts and the vocabulary again takes long.
    for (compiler, steps) in [(compiler(false), 24), (compiler(true), 6)] {
        for grammar in grammars() {
            follow(&compiler, &grammar, None, &mut noise, steps);
        }
    }
}

#[test]
fn bits_are_what_acceptance_says() {
    let vocabulary = vocabulary();
    let compiler =
        GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default()).with_cache(false);
    let mut noise = Noise(2);
    for grammar in grammars() {
        let judge = GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default());
        follow(&compiler, &grammar, Some(&judge), &mut noise, 24);
    }
}

#[test]
fn strings_of_up_to_so_many_characters_have_exact_masks() {
    let vocabulary = vocabulary();
    let maker = GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default()).with_cache(false);
    let alone = GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default())
        .with_cache(false)
        .with_layers(Layers::default().without(Layer::Delta));
    let judges = GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default());
    let mut noise = Noise(4);
    // The longest token has 300 characters.
    for most in (0..12).chain([20, 63, 64, 65, 130, 200, 254, 255, 256, 280, 299, 300]) {
        for least in [0, most / 2] {
            let schema =
                format!(r#"{{"type": "string", "minLength": {least}, "maxLength": {most}}}"#);
            let limits = syntagma_grammar::Limits::default();
            let options = json_schema::Options::default();
            let grammar = Arc::new(json_schema::parse(&schema, &options, &limits).unwrap());
            for maker in [&maker, &alone] {
                follow(maker, &grammar, Some(&judges), &mut noise, 24);
            }
        }
    }
}

#[test]
fn forgetting_changes_nothing() {
    let mut limits = Limits::default();
    limits.grammar_cache_bytes = 20_000;
    let compiler = GrammarCompiler::new(vocabulary(), limits)
        .with_verify(true)
        .with_cache(false);
    let mut noise = Noise(3);
    for grammar in grammars() {
        follow(&compiler, &grammar, None, &mut noise, 6);
        compiler.clear();
    }
}

/// All layers, none, and each one missing.
fn layers() -> Vec<Layers> {
    let none = Layer::ALL
        .into_iter()
        .fold(Layers::default(), Layers::without);
    let missing = Layer::ALL.map(|layer| Layers::default().without(layer));
    [Layers::default(), none]
        .into_iter()
        .chain(missing)
        .collect()
}

#[test]
fn no_layer_changes_a_bit() {
    let vocabulary = vocabulary();
    let compilers: Vec<GrammarCompiler> = layers()
        .into_iter()
        .map(|layers| {
            GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default())
                .with_cache(false)
                .with_layers(layers)
        })
        .collect();
    let mut noise = Noise(4);
    let words = bitmask_words(vocabulary.size());
    for grammar in grammars() {
        let compiled: Vec<_> = compilers
            .iter()
            .map(|compiler| compiler.compile(&grammar).unwrap())
            .collect();
        // The second text meets masks that the first one left behind.
        for _ in 0..2 {
            let mut matchers: Vec<_> = compiled
                .iter()
                .map(|compiled| GrammarMatcher::new(Arc::clone(compiled)))
                .collect();
            for _ in 0..12 {
                let mut rows = vec![vec![0; words]; matchers.len()];
                for (matcher, row) in matchers.iter().zip(&mut rows) {
                    matcher.fill_next_token_bitmask(row).unwrap();
                }
                for (row, layers) in rows.iter().zip(layers()) {
                    assert!(*row == rows[0], "{layers:?}");
                }
                let allowed: Vec<u32> = (0..vocabulary.size() as u32)
                    .filter(|&id| rows[0][id as usize / 32] >> (id % 32) & 1 == 1)
                    .collect();
                let id = allowed[noise.below(allowed.len())];
                for matcher in &mut matchers {
                    assert!(matcher.accept_token(id).unwrap());
                }
                if matchers[0].is_terminated().unwrap() {
                    break;
                }
            }
        }
    }
}

/// Texts that nest, come back to where they were, and go on at another depth.
fn nested() -> Vec<(&'static str, Vec<u8>)> {
    let depth = 9;
    let mut program = vec!["int name(){".to_owned()];
    let mut words = Vec::new();
    let mut calls = Vec::new();
    for level in 0..depth {
        let (open, close) = ("(".repeat(level), ")".repeat(level));
        program.push(format!(
            "a = {open}name{close} + value({open}b(1, x1){close});\n if (x1) {{ "
        ));
        words.push(format!(
            " name = {open}value or b and (\"a b\" {close} ) ; if ({open}xor x1{close}) {{\n  "
        ));
        let (open, close) = ("[(".repeat(level), ")]".repeat(level));
        let text = "a".repeat(level * 2);
        calls.push(format!(
            "text <call>{{\"name\": \"value\", \"value\": {open}\"{text}\"{close}}}</call>"
        ));
    }
    program.push("return 12;".to_owned() + &"} ".repeat(depth) + "}");
    words.push("a = aor b0and nd_;".to_owned() + &"}".repeat(depth) + "end.");
    let [program, words, calls] = [program, words, calls].map(|parts| parts.concat());
    vec![
        (PROGRAM, program.into()),
        (WORDS, words.into()),
        (CALLS, calls.into()),
    ]
}

/// The longest token at every place.
fn tokens_of(vocabulary: &Vocabulary, text: &[u8]) -> Vec<u32> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let ids = 0..vocabulary.size() as u32;
        let longest = ids
            .filter(|&id| !vocabulary.token(id).is_empty())
            .filter(|&id| {
                !vocabulary.is_special(id) && text[at..].starts_with(vocabulary.token(id))
            })
            .max_by_key(|&id| vocabulary.token(id).len())
            .unwrap();
        at += vocabulary.token(longest).len();
        tokens.push(longest);
    }
    tokens
}

#[test]
fn no_layer_changes_a_bit_where_masks_are_shared() {
    let vocabulary = vocabulary();
    let words = bitmask_words(vocabulary.size());
    let limits = syntagma_grammar::Limits::default();
    for (source, text) in nested() {
        let grammar = Arc::new(ebnf::parse(source, "start", &limits).unwrap());
        let mut matchers: Vec<_> = layers()
            .into_iter()
            .map(|layers| {
                let compiler = GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default());
                GrammarMatcher::new(compiler.with_layers(layers).compile(&grammar).unwrap())
            })
            .collect();
        for token in tokens_of(&vocabulary, &text) {
            let mut first = vec![0; words];
            matchers[0].fill_next_token_bitmask(&mut first).unwrap();
            for (matcher, layers) in matchers.iter_mut().zip(layers()) {
                let mut row = vec![0; words];
                matcher.fill_next_token_bitmask(&mut row).unwrap();
                assert!(row == first, "{layers:?}");
                assert!(matcher.accept_token(token).unwrap());
            }
        }
        assert!(matchers[0].is_accepting().unwrap());
        let masks = |without: Layer| {
            let place = layers()
                .into_iter()
                .position(|layers| layers == Layers::default().without(without));
            matchers[place.unwrap()].compiled().stats().masks
        };
        let (shared, alone) = (masks(Layer::LoopAlphabets), masks(Layer::StackSuffixes));
        assert!(shared < alone, "{shared} masks, {alone} without sharing");
    }
}
