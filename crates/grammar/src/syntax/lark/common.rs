//! The terminals that `%import common` knows, in Rust's regex syntax.

const DIGITS: &str = "[0-9]+";

/// The pattern of a terminal.
pub(super) fn common(name: &str) -> Option<String> {
    let decimal = format!(r"(?:{DIGITS}\.[0-9]*|\.{DIGITS})");
    let exponent = format!("[eE][+-]?{DIGITS}");
    let float = format!("(?:{DIGITS}{exponent}|{decimal}(?:{exponent})?)");
    Some(match name {
        "DIGIT" => "[0-9]".to_owned(),
        "HEXDIGIT" => "[0-9a-fA-F]".to_owned(),
        "INT" => DIGITS.to_owned(),
        "SIGNED_INT" => format!("[+-]?{DIGITS}"),
        "DECIMAL" => decimal,
        "_EXP" => exponent,
        "FLOAT" => float,
        "SIGNED_FLOAT" => format!("[+-]?{float}"),
        "NUMBER" => format!("(?:{float}|{DIGITS})"),
        "SIGNED_NUMBER" => format!("[+-]?(?:{float}|{DIGITS})"),
        "ESCAPED_STRING" => r#""(?:[^"\\\n]|\\[^\n])*""#.to_owned(),
        "_STRING_INNER" => r"[^\n]*".to_owned(),
        // Its last backslashes are pairs, so that a quote may follow.
        "_STRING_ESC_INNER" => r"(?:[^\n]*[^\\\n])?(?:\\\\)*".to_owned(),
        "LCASE_LETTER" => "[a-z]".to_owned(),
        "UCASE_LETTER" => "[A-Z]".to_owned(),
        "LETTER" => "[a-zA-Z]".to_owned(),
        "WORD" => "[a-zA-Z]+".to_owned(),
        "CNAME" => "[_a-zA-Z][_a-zA-Z0-9]*".to_owned(),
        "WS_INLINE" => r"[ \t]+".to_owned(),
        "WS" => r"[ \t\f\r\n]+".to_owned(),
        "CR" => r"\r".to_owned(),
        "LF" => r"\n".to_owned(),
        "NEWLINE" => r"(?:\r?\n)+".to_owned(),
        "SH_COMMENT" => r"#[^\n]*".to_owned(),
        "CPP_COMMENT" => r"//[^\n]*".to_owned(),
        "SQL_COMMENT" => r"--[^\n]*".to_owned(),
        "C_COMMENT" => r"/\*(?:[^*]|\*+[^*/])*\*+/".to_owned(),
        _ => return None,
    })
}
