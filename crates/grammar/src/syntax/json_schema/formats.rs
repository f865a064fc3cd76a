//! Formats of strings as ECMA-262 patterns of whole strings.

use std::fmt::Write as _;

/// What is known of a format's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// Enforced exactly; the name as [`pattern`] takes it.
    Exact(&'static str),
    /// The specification defines it, it is not enforced.
    NotYet,
    /// The specification does not know it: an annotation.
    Annotation,
}

/// The names that [`pattern`] has patterns for.
const EXACT: [&str; 17] = [
    "date",
    "time",
    "date-time",
    "duration",
    "uuid",
    "ipv4",
    "ipv6",
    "email",
    "hostname",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "idn-email",
];

/// Looks a format up.
pub(super) fn known(name: &str) -> Known {
    if let Some(&name) = EXACT.iter().find(|&&known| known == name) {
        return Known::Exact(name);
    }
    match name {
        "idn-hostname" | "regex" => Known::NotYet,
        _ => Known::Annotation,
    }
}

const DATE: &str = concat!(
    r"(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))",
    r"|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)",
);
/// A leap second only where it can be one: at the end of a day in UTC.
const TIME: &str = concat!(
    r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+\-](?:[01]\d|2[0-3]):[0-5]\d)",
    r"|23:59:60(?:\.\d+)?(?:[Zz]|[+\-]00:00))",
);
const CLOCK: &str = r"(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)";
const OCTET: &str = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)";
const LABEL: &str = r"[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?";
/// Characters beyond ASCII that an IRI may hold.
const UCS: &str = concat!(
    r"\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}\u{30000}-\u{3FFFD}",
    r"\u{40000}-\u{4FFFD}\u{50000}-\u{5FFFD}\u{60000}-\u{6FFFD}\u{70000}-\u{7FFFD}\u{80000}-\u{8FFFD}\u{90000}-\u{9FFFD}",
    r"\u{A0000}-\u{AFFFD}\u{B0000}-\u{BFFFD}\u{C0000}-\u{CFFFD}\u{D0000}-\u{DFFFD}\u{E1000}-\u{EFFFD}",
);
/// What a query of an IRI may hold besides.
const PRIVATE: &str = r"\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}";

/// The pattern of a format, for whole strings.
pub(super) fn pattern(name: &str) -> String {
    match name {
        "date" => DATE.to_owned(),
        "time" => TIME.to_owned(),
        "date-time" => format!("{DATE}[Tt]{TIME}"),
        "duration" => {
            let days = r"\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D";
            format!(r"P(?:\d+W|(?:{days})(?:T{CLOCK})?|T{CLOCK})")
        }
        "uuid" => r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
            .to_owned(),
        "ipv4" => ipv4(),
        "ipv6" => ipv6(),
        "hostname" => hostname(),
        "email" => email(""),
        "idn-email" => email(r"\u{80}-\u{10FFFF}"),
        "uri" => uri("", "", true),
        "uri-reference" => uri("", "", false),
        "iri" => uri(UCS, PRIVATE, true),
        "iri-reference" => uri(UCS, PRIVATE, false),
        "uri-template" => uri_template(),
        "json-pointer" => json_pointer().to_owned(),
        "relative-json-pointer" => format!("(?:0|[1-9][0-9]*)(?:#|{})", json_pointer()),
        _ => r"[^]*".to_owned(),
    }
}

fn json_pointer() -> &'static str {
    r"(?:/(?:[^~/]|~[01])*)*"
}

fn ipv4() -> String {
    format!(r"{OCTET}(?:\.{OCTET}){{3}}")
}

fn ipv6() -> String {
    let group = "[0-9A-Fa-f]{1,4}";
    let tail = format!("(?:{group}:{group}|{})", ipv4());
    // RFC 3986: where `::` stands decides how many groups may stand before and after it.
    let mut out = format!("(?:(?:{group}:){{6}}{tail}|::(?:{group}:){{5}}{tail}");
    for before in 0..5usize {
        let after = 4 - before;
        let head = if before == 0 {
            format!("(?:{group})?")
        } else {
            format!("(?:(?:{group}:){{0,{before}}}{group})?")
        };
        let middle = match after {
            0 => String::new(),
            n => format!("(?:{group}:){{{n}}}"),
        };
        let _ = write!(out, "|{head}::{middle}{tail}");
    }
    let _ = write!(
        out,
        "|(?:(?:{group}:){{0,5}}{group})?::{group}|(?:(?:{group}:){{0,6}}{group})?::)"
    );
    out
}

fn hostname() -> String {
    format!(r"(?:{LABEL})(?:\.(?:{LABEL}))*")
}

fn email(more: &str) -> String {
    let atom = format!(r"[A-Za-z0-9!#$%&'*+\-/=?^_`{{|}}~{more}]+");
    let quoted = format!(r#""(?:[ !#-\[\]-~{more}]|\\[ -~])*""#);
    let label = if more.is_empty() {
        LABEL.to_owned()
    } else {
        format!(r"[A-Za-z0-9{more}](?:[A-Za-z0-9\-{more}]{{0,61}}[A-Za-z0-9{more}])?")
    };
    let literal = format!(r"\[(?:{}|IPv6:{})\]", ipv4(), ipv6());
    format!(r"(?:{atom}(?:\.{atom})*|{quoted})@(?:(?:{label})(?:\.(?:{label}))*|{literal})")
}

/// RFC 3986 and RFC 3987: `more` and `private` are what IRIs have beyond URIs.
fn uri(more: &str, private: &str, absolute: bool) -> String {
    let encoded = "%[0-9A-Fa-f]{2}";
    let unreserved = format!(r"A-Za-z0-9\-._~{more}");
    let delimiters = r"!$&'()*+,;=";
    let one = |extra: &str| format!("(?:[{unreserved}{delimiters}{extra}]|{encoded})");
    let character = one(":@");
    let user = format!("{}*", one(":"));
    let name = format!("{}*", one(""));
    let future = format!(r"[vV][0-9A-Fa-f]+\.[A-Za-z0-9\-._~{delimiters}:]+");
    let host = format!(r"(?:\[(?:{}|{future})\]|{name})", ipv6());
    let authority = format!("(?:{user}@)?{host}(?::[0-9]*)?");
    let segments = format!("(?:/{character}*)*");
    let absolute_path = format!("/(?:{character}+{segments})?");
    let rootless = format!("{character}+{segments}");
    let no_scheme = format!("{}+{segments}", one("@"));
    let query = format!(r"(?:\?(?:{character}|[/?{private}])*)?");
    let fragment = format!("(?:#(?:{character}|[/?])*)?");
    let scheme = r"[A-Za-z][A-Za-z0-9+\-.]*";
    let whole = format!(
        "{scheme}:(?://{authority}{segments}|{absolute_path}|{rootless}|){query}{fragment}"
    );
    if absolute {
        return whole;
    }
    format!("(?:{whole}|(?://{authority}{segments}|{absolute_path}|{no_scheme}|){query}{fragment})")
}

/// RFC 6570.
fn uri_template() -> String {
    let name = "(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*";
    let variable = format!(r"{name}(?::[1-9][0-9]{{0,3}}|\*)?");
    let expression = format!(r"\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\}}");
    format!(r#"(?:[^\u0000-\u0020"'<>\\^`{{|}}%\u007F]|%[0-9A-Fa-f]{{2}}|{expression})*"#)
}
