//! No schema takes memory or time that no fuel pays for: random ones, of every keyword, with references in cycles.
#![allow(missing_docs)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use syntagma_grammar::Limits;
use syntagma_grammar::syntax::json_schema::{self, Options};

/// Without optimisation, a schema takes ten times as long.
const SCHEMAS: u64 = if cfg!(debug_assertions) {
    4_000
} else {
    20_000
};
/// Bytes that one schema may take.
const BYTES: usize = 1 << 30;

/// The system's allocator, with a bound.
struct Bounded;

static ALIVE: AtomicUsize = AtomicUsize::new(0);
static SEED: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is done by the system's allocator.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let alive = ALIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        if alive > BYTES && alive - layout.size() <= BYTES {
            eprintln!(
                "seed {}: more than {BYTES} bytes",
                SEED.load(Ordering::Relaxed)
            );
            std::process::abort();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Bounded = Bounded;

/// A schema being written.
struct Writer {
    state: u64,
    out: String,
}

const NAMES: [&str; 5] = ["a", "b", "c", "d~", "e/"];
const REFERENCES: [&str; 14] = [
    "#",
    "#/$defs/a",
    "#/$defs/b",
    "#/$defs/c",
    "#/$defs/d~0",
    "#/properties/a",
    "#/items",
    "#x",
    "#y",
    "n.json",
    "n.json#x",
    "n.json#/$defs/a",
    "#/$defs/a/allOf/0",
    "#/not",
];

impl Writer {
    fn below(&mut self, bound: usize) -> usize {
        // SplitMix64
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % bound as u64) as usize
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn key(&mut self, keyword: &str) {
        if !self.out.ends_with('{') {
            self.write(",");
        }
        write!(self.out, "\"{keyword}\":").unwrap();
    }

    /// A list of one to three of something.
    fn list(&mut self, depth: usize, mut each: impl FnMut(&mut Self, usize)) {
        self.write("[");
        for at in 0..=self.below(3) {
            self.write(if at > 0 { "," } else { "" });
            each(self, depth);
        }
        self.write("]");
    }

    /// An object of something by name.
    fn named(&mut self, names: &[&str], depth: usize, mut each: impl FnMut(&mut Self, usize)) {
        self.write("{");
        for name in names {
            if self.below(3) > 0 {
                self.key(name);
                each(self, depth);
            }
        }
        self.write("}");
    }

    fn value(&mut self, depth: usize) {
        match self.below(if depth == 0 { 6 } else { 8 }) {
            0 => self.write("null"),
            1 => self.write("true"),
            2 => self.write("0"),
            3 => self.write("1.0"),
            4 => self.write("\"a\""),
            5 => self.write("\"\""),
            6 => self.list(depth - 1, Self::value),
            _ => self.named(&NAMES, depth - 1, Self::value),
        }
    }

    fn name(&mut self) {
        let name = self.one_of(&NAMES);
        write!(self.out, "\"{name}\"").unwrap();
    }

    fn number(&mut self, bound: usize) {
        let number = self.below(bound);
        write!(self.out, "{number}").unwrap();
    }

    fn schema(&mut self, depth: usize) {
        if depth == 0 || self.below(8) == 0 {
            match self.below(4) {
                0 => self.write("true"),
                1 => self.write("false"),
                2 => self.write("{}"),
                _ => {
                    self.write("{");
                    self.reference();
                    self.write("}");
                }
            }
            return;
        }
        self.write("{");
        for _ in 0..=self.below(4) {
            self.keyword(depth - 1);
        }
        self.write("}");
    }

    fn reference(&mut self) {
        let keyword = self.one_of(&["$ref", "$ref", "$ref", "$dynamicRef", "$recursiveRef"]);
        let target = self.one_of(&REFERENCES);
        self.key(keyword);
        write!(self.out, "\"{target}\"").unwrap();
    }

    #[allow(clippy::too_many_lines)] // a table
    fn keyword(&mut self, depth: usize) {
        const ONE: [&str; 13] = [
            "not",
            "not",
            "if",
            "then",
            "else",
            "items",
            "contains",
            "additionalProperties",
            "propertyNames",
            "unevaluatedItems",
            "unevaluatedProperties",
            "additionalItems",
            "not",
        ];
        const COUNTS: [&str; 8] = [
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
            "minContains",
            "maxContains",
        ];
        const NUMBERS: [&str; 4] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
        const TYPES: [&str; 7] = [
            "null", "boolean", "object", "array", "string", "number", "integer",
        ];
        match self.below(20) {
            0..=2 => self.reference(),
            3..=5 => {
                let keyword = self.one_of(&["allOf", "anyOf", "oneOf", "prefixItems"]);
                self.key(keyword);
                self.list(depth, Self::schema);
            }
            6..=9 => {
                let keyword = self.one_of(&ONE);
                self.key(keyword);
                self.schema(depth);
            }
            10 => {
                let keyword = self.one_of(&["$defs", "properties", "dependentSchemas"]);
                self.key(keyword);
                self.named(&NAMES, depth, Self::schema);
            }
            11 => {
                self.key("patternProperties");
                self.named(&["^a", "b$", "c"], depth, Self::schema);
            }
            12 => {
                let keyword = self.one_of(&["required", "required", "enum", "dependentRequired"]);
                self.key(keyword);
                match keyword {
                    "required" => self.list(0, |writer, _| writer.name()),
                    "enum" => self.list(2, Self::value),
                    _ => self.named(&NAMES, 0, |writer, _| {
                        writer.list(0, |writer, _| writer.name());
                    }),
                }
            }
            13 => {
                self.key("const");
                self.value(2);
            }
            14 => {
                let keyword = self.one_of(&COUNTS);
                self.key(keyword);
                self.number(5);
            }
            15 => {
                let keyword = self.one_of(&NUMBERS);
                self.key(keyword);
                self.number(100);
            }
            16 => {
                let (keyword, value) = [
                    ("multipleOf", "3"),
                    ("uniqueItems", "true"),
                    ("pattern", "\"^a+b?$\""),
                    ("format", "\"date\""),
                    ("format", "\"ipv4\""),
                ][self.below(5)];
                self.key(keyword);
                self.write(value);
            }
            17 => {
                let (keyword, value) = [
                    ("$anchor", "\"x\""),
                    ("$dynamicAnchor", "\"x\""),
                    ("$dynamicAnchor", "\"y\""),
                    ("$id", "\"n.json\""),
                    ("$id", "\"m.json\""),
                    ("$recursiveAnchor", "true"),
                ][self.below(6)];
                self.key(keyword);
                self.write(value);
            }
            _ => {
                let name = self.one_of(&TYPES);
                self.key("type");
                write!(self.out, "\"{name}\"").unwrap();
            }
        }
    }

    /// A whole document: what references lead to is there, mostly.
    fn document(&mut self) {
        self.write("{");
        if self.below(3) == 0 {
            let draft = self.one_of(&[
                "http://json-schema.org/draft-07/schema#",
                "https://json-schema.org/draft/2019-09/schema",
            ]);
            self.key("$schema");
            write!(self.out, "\"{draft}\"").unwrap();
        }
        for _ in 0..=self.below(4) {
            self.keyword(3);
        }
        self.key("$defs");
        self.named(&NAMES, 3, Self::schema);
        self.write("}");
    }
}

fn schema(seed: u64) -> String {
    let mut writer = Writer {
        state: seed,
        out: String::new(),
    };
    writer.document();
    writer.out
}

/// Time that this thread has worked, where that is known.
fn worked() -> Duration {
    let known = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let worked = known.and_then(|text| text.split(' ').next()?.parse().ok());
    Duration::from_nanos(worked.unwrap_or_default())
}

#[test]
fn no_schema_takes_what_is_not_paid_for() {
    // Without optimisation, all fuel takes some seconds.
    let most = Duration::from_secs(if cfg!(debug_assertions) { 30 } else { 1 });
    let only: Option<u64> = std::env::var("SCHEMA_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let mut read = 0;
    for seed in only.map_or(0..SCHEMAS, |seed| seed..seed + 1) {
        SEED.store(seed, Ordering::Relaxed);
        let text = schema(seed);
        let start = worked();
        let parsed = json_schema::parse(&text, &Options::default(), &Limits::default());
        let took = worked().saturating_sub(start);
        assert!(took < most, "seed {seed}: {took:?} for {text}");
        read += u64::from(parsed.is_ok());
        if only.is_some() {
            println!("{text}\n{took:?} {:?}", parsed.err());
        }
    }
    assert!(
        only.is_some() || read > SCHEMAS / 10,
        "only {read} schemas are read"
    );
}
