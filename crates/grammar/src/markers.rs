//! Where the tokens of a vocabulary lie in the text of a marker.

/// A part of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The text of a token.
    Token(&'a str),
    /// What lies between tokens.
    Text(&'a str),
}

/// A marker as a vocabulary writes it: the token of exactly its text; without one, the tokens inside of it, the longest at
/// each place, and the text between them.
///
/// Inside, a token counts if it has two characters or more and no whitespace at its edges: anything less may be ordinary
/// text.
pub fn pieces(text: &str, longest: usize, is_token: impl Fn(&str) -> bool) -> Vec<Piece<'_>> {
    if is_token(text) {
        return vec![Piece::Token(text)];
    }
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < text.len() {
        let most = longest.min(text.len() - at);
        let found = (2..=most)
            .rev()
            .filter_map(|size| text.get(at..at + size))
            .find(|part| stands_alone(part) && is_token(part));
        let Some(part) = found else {
            at += 1;
            continue;
        };
        if start < at {
            pieces.push(Piece::Text(&text[start..at]));
        }
        pieces.push(Piece::Token(part));
        at += part.len();
        start = at;
    }
    if start < text.len() {
        pieces.push(Piece::Text(&text[start..]));
    }
    pieces
}

/// Whether a token of this text can only be meant as a token.
fn stands_alone(text: &str) -> bool {
    text.trim() == text && text.chars().nth(1).is_some()
}
