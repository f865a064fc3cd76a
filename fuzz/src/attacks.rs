//! JSON Schemas that are short and stand for much: every keyword that multiplies, in any size.

use std::fmt::Write as _;

use crate::noise::Noise;

/// A way to make a schema large: its name, and the schema of a size.
pub type Attack = (&'static str, fn(usize) -> String);

/// Sizes in which they are looked at.
pub const SIZES: [usize; 8] = [2, 4, 7, 12, 40, 150, 1_000, 8_000];

/// All of them.
pub const ATTACKS: &[Attack] = &[
    ("all of any", |n| {
        each("allOf", n, |at| {
            format!(r#"{{"anyOf":[{{"required":["p{at}"]}},{{"required":["q{at}"]}}]}}"#)
        })
    }),
    ("all of one", |n| {
        each("allOf", n, |at| {
            format!(r#"{{"oneOf":[{{"required":["p{at}"]}},{{"minProperties":{at}}}]}}"#)
        })
    }),
    ("all of not", |n| {
        each("allOf", n, |at| {
            format!(r#"{{"not":{{"required":["p{at}","q{at}"]}}}}"#)
        })
    }),
    ("all of conditions", |n| {
        each("allOf", n, |at| {
            format!(
                r#"{{"if":{{"properties":{{"p":{{"const":{at}}}}}}},"then":{{"required":["q{at}"]}},"else":{{"minProperties":2}}}}"#
            )
        })
    }),
    ("all of patterns", |n| {
        each("allOf", n, |at| {
            format!(r#"{{"pattern":"a{{{at}}}[b-z]"}}"#)
        })
    }),
    ("all of contains", |n| {
        each("allOf", n, |at| {
            format!(r#"{{"contains":{{"const":{at}}},"maxContains":3}}"#)
        })
    }),
    ("one of objects", |n| {
        each("oneOf", n, |at| {
            format!(r#"{{"properties":{{"p{at}":{{"type":"integer"}}}},"required":["p{at}"]}}"#)
        })
    }),
    ("one of multiples", |n| {
        each("oneOf", n, |at| format!(r#"{{"multipleOf":{}}}"#, at + 2))
    }),
    ("one of small multiples", |n| {
        each("oneOf", n, |at| {
            format!(r#"{{"multipleOf":{}e-4}}"#, 2 * at + 3)
        })
    }),
    ("one of lengths", |n| {
        each("oneOf", n, |at| {
            format!(
                r#"{{"minLength":{},"maxLength":{}}}"#,
                at * 1_000,
                at * 2_000
            )
        })
    }),
    ("no multiple", |n| {
        format!(
            r#"{{"type":"number","not":{}}}"#,
            each("anyOf", n, |at| format!(r#"{{"multipleOf":{}}}"#, at + 2))
        )
    }),
    ("no listed number", |n| {
        format!(
            r#"{{"multipleOf":0.37,"not":{{"enum":[{}]}}}}"#,
            list(n, |at| format!("{}", at * 37))
        )
    }),
    ("not unevaluated", |n| {
        let branches = each("anyOf", n, |at| {
            format!(r#"{{"properties":{{"p{at}":{{"type":"integer"}}}}}}"#)
        });
        format!(
            r#"{{"allOf":[{{"not":{{"unevaluatedProperties":false}}}},{branches}],"unevaluatedProperties":false}}"#
        )
    }),
    ("unevaluated beside choices", |n| {
        let choices = list(n, |at| {
            format!(
                r#"{{"anyOf":[{{"properties":{{"p{at}":true}}}},{{"patternProperties":{{"^q{at}":true}}}}]}}"#
            )
        });
        format!(
            r#"{{"unevaluatedProperties":false,"allOf":[{choices}],"not":{{"required":["p0","p1"]}}}}"#
        )
    }),
    ("unevaluated items", |n| {
        let choices = list(n, |at| {
            format!(r#"{{"prefixItems":[true,{{"minimum":{at}}}],"contains":{{"const":{at}}}}}"#)
        });
        format!(
            r#"{{"unevaluatedItems":false,"anyOf":[{choices}],"not":{{"contains":{{"const":3}}}}}}"#
        )
    }),
    ("dependent schemas in each other", |n| {
        nested(n.min(10), |inner, at| {
            format!(
                r#"{{"dependentSchemas":{{"a{at}":{inner},"b{at}":{inner},"c{at}":{{"minProperties":2}}}}}}"#
            )
        })
    }),
    ("dependent schemas", |n| {
        named("dependentSchemas", n, |at| {
            format!(r#"{{"properties":{{"p{}":{{"const":{at}}}}}}}"#, at + 1)
        })
    }),
    ("dependent names", |n| {
        named("dependentRequired", n, |at| format!(r#"["q{at}"]"#))
    }),
    ("nested not", |n| {
        nested(n.min(80), |inner, at| {
            format!(r#"{{"not":{{"properties":{{"p{at}":{inner}}},"required":["p{at}"]}}}}"#)
        })
    }),
    ("nested one of", |n| {
        nested(n.min(80), |inner, at| {
            format!(r#"{{"oneOf":[{inner},{{"required":["p{at}"]}},{{"minProperties":{at}}}]}}"#)
        })
    }),
    ("nested conditions", |n| {
        nested(n.min(80), |inner, at| {
            format!(
                r#"{{"if":{{"required":["p{at}"]}},"then":{{"minProperties":{at}}},"else":{inner}}}"#
            )
        })
    }),
    ("nested conditions of conditions", |n| {
        nested(n.min(80), |inner, at| {
            format!(
                r#"{{"if":{inner},"then":{{"required":["p{at}"]}},"else":{{"maxProperties":{}}}}}"#,
                at + 1
            )
        })
    }),
    ("nested contains", |n| {
        nested(n.min(80), |inner, _| {
            format!(r#"{{"contains":{inner},"minContains":2,"maxContains":3}}"#)
        })
    }),
    ("references to all of", |n| {
        doubled(n, |to| format!(r#"{{"allOf":[{to},{to}]}}"#))
    }),
    ("references to any of", |n| {
        doubled(n, |to| {
            format!(r#"{{"anyOf":[{{"properties":{{"x":{to}}}}},{{"items":{to}}}]}}"#)
        })
    }),
    ("references to one of", |n| {
        doubled(n, |to| {
            format!(r#"{{"oneOf":[{{"properties":{{"x":{to}}}}},{{"properties":{{"y":{to}}}}}]}}"#)
        })
    }),
    ("references to properties", |n| {
        doubled(n, |to| {
            format!(r#"{{"properties":{{"x":{to},"y":{to}}},"not":{to}}}"#)
        })
    }),
    ("references to conditions", |n| {
        doubled(n, |to| format!(r#"{{"if":{to},"then":{to},"else":{to}}}"#))
    }),
    ("references to items", |n| {
        doubled(n, |to| {
            format!(r#"{{"prefixItems":[{to},{to}],"contains":{to},"uniqueItems":true}}"#)
        })
    }),
    ("references to what is unevaluated", |n| {
        doubled(n, |to| {
            format!(r#"{{"unevaluatedProperties":{to},"anyOf":[{to},{{"required":["x"]}}]}}"#)
        })
    }),
    ("dynamic references", |n| {
        let n = n.min(40);
        let all = list(n, |at| {
            let ways = list(n, |to| format!(r#""k{to}":{{"$ref":"d{to}"}}"#));
            format!(
                r##""d{at}":{{"$id":"d{at}","$dynamicAnchor":"x{at}","properties":{{{ways},"k":{{"$dynamicRef":"#x{at}"}}}}}}"##
            )
        });
        format!(r#"{{"$defs":{{{all}}},"properties":{{"q":{{"$ref":"d0"}}}}}}"#)
    }),
    ("patterns of names", |n| {
        named("patternProperties", n, |at| {
            format!(r#"{{"minimum":{at}}}"#)
        })
    }),
    ("patterns beside names", |n| {
        let names = list(n, |at| format!(r#"{{"pattern":"{at}.*z"}}"#));
        let patterns = list(n.min(20), |at| {
            format!(r#""^.{{0,{at}}}{at}":{{"minimum":{at}}}"#)
        });
        format!(
            r#"{{"propertyNames":{{"anyOf":[{names}]}},"patternProperties":{{{patterns}}},"minProperties":3}}"#
        )
    }),
    ("counts", |n| {
        let count = 10usize.saturating_pow(n.min(18) as u32);
        let all = ["Length", "Items", "Properties"]
            .map(|of| format!(r#""min{of}":{count},"max{of}":{count}9"#))
            .join(",");
        format!(
            r#"{{{all},"contains":{{"const":1}},"minContains":{count},"patternProperties":{{"a":true}},"uniqueItems":true,"items":{{"enum":[1,2,3]}},"pattern":"^(a|bc)*"}}"#
        )
    }),
    ("counted items", |n| {
        format!(
            r#"{{"contains":{{"multipleOf":3}},"minContains":{n},"maxContains":{},"prefixItems":[{{"const":1}}]}}"#,
            n + 3
        )
    }),
    ("counted properties", |n| {
        let names = list(n, |at| format!(r#""p{at}":true"#));
        format!(
            r#"{{"properties":{{{names}}},"minProperties":{},"maxProperties":{}}}"#,
            n / 3,
            n / 2
        )
    }),
    ("different items", |n| {
        format!(
            r#"{{"uniqueItems":true,"minItems":4,"maxItems":5,"items":{{"enum":[{}]}}}}"#,
            list(n, |at| at.to_string())
        )
    }),
    ("listed twice", |n| {
        let [left, right] = [0, 1].map(|by| list(n, |at| format!("{}.5", at + by)));
        format!(
            r#"{{"allOf":[{{"enum":[{left}]}},{{"enum":[{right}]}}],"not":{{"enum":[{left}]}}}}"#
        )
    }),
    ("listed beside patterns", |n| {
        format!(
            r#"{{"enum":[{}],"allOf":[{{"pattern":"(a|aa)*b?5$"}},{{"pattern":"^.*1"}}]}}"#,
            list(n, |at| format!(r#""{}{at}""#, "a".repeat(200)))
        )
    }),
    ("listed objects", |n| {
        format!(
            r#"{{"not":{{"enum":[{}]}}}}"#,
            list(n, |at| format!(r#"{{"a":{at},"b":[{at}]}}"#))
        )
    }),
    ("long names above many", |n| {
        let inner = named("properties", n, |at| {
            format!(r#"{{"minimum":{at},"not":{{"multipleOf":0.00001}}}}"#)
        });
        (0..40).fold(inner, |inner, _| {
            format!(r#"{{"properties":{{"{}":{inner}}}}}"#, "k".repeat(2_000))
        })
    }),
    ("long names above identifiers", |n| {
        let inner = named("properties", n, |at| {
            format!(r#"{{"$anchor":"a{at}","minimum":{at}}}"#)
        });
        (0..40).fold(inner, |inner, _| {
            format!(r#"{{"properties":{{"{}":{inner}}}}}"#, "k".repeat(2_000))
        })
    }),
];

/// A schema that is one of them, or several at once.
pub fn draw(noise: &mut Noise) -> String {
    let one = |noise: &mut Noise| {
        let (_, make) = ATTACKS[noise.below(ATTACKS.len())];
        make(SIZES[noise.below(SIZES.len())])
    };
    match noise.below(6) {
        0..=2 => one(noise),
        3 => format!(r#"{{"allOf":[{},{}]}}"#, one(noise), one(noise)),
        4 => format!(r#"{{"oneOf":[{},{},true]}}"#, one(noise), one(noise)),
        _ => format!(r#"{{"not":{},"items":{}}}"#, one(noise), one(noise)),
    }
}

fn list(count: usize, make: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    for at in 0..count {
        let _ = write!(out, "{}{}", if at > 0 { "," } else { "" }, make(at));
    }
    out
}

fn each(keyword: &str, count: usize, make: impl Fn(usize) -> String) -> String {
    format!(r#"{{"{keyword}":[{}]}}"#, list(count.max(1), make))
}

fn named(keyword: &str, count: usize, make: impl Fn(usize) -> String) -> String {
    format!(
        r#"{{"{keyword}":{{{}}}}}"#,
        list(count, |at| format!(r#""p{at}":{}"#, make(at)))
    )
}

fn nested(depth: usize, make: impl Fn(&str, usize) -> String) -> String {
    (0..depth).fold(r#"{"minProperties":2}"#.to_owned(), |inner, at| {
        make(&inner, at)
    })
}

/// Definitions that each refer to the next one, twice or more.
fn doubled(count: usize, make: impl Fn(&str) -> String) -> String {
    let all = list(count, |at| {
        format!(
            r#""d{at}":{}"#,
            make(&format!(r##"{{"$ref":"#/$defs/d{}"}}"##, at + 1))
        )
    });
    let comma = if count > 0 { "," } else { "" };
    format!(
        r##"{{"$defs":{{{all}{comma}"d{count}":{{"type":["object","integer","array"]}}}},"$ref":"#/$defs/d0"}}"##
    )
}
