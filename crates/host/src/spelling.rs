//! How vocabularies spell bytes as text.

/// What a token's text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Byte-level BPE: every character is one byte of an alphabet.
    ByteLevel,
    /// `SentencePiece` with byte tokens: `<0x0A>` is one byte, `▁` a space.
    ByteFallback,
    /// `SentencePiece` without byte tokens: `▁` is a space.
    Metaspace,
}

impl Spelling {
    /// The bytes of a token; None if the text cannot be such a token.
    #[must_use]
    pub fn bytes(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::ByteLevel => text.chars().map(byte_of).collect(),
            Self::ByteFallback => {
                Some(byte_token(text).map_or_else(|| spaced(text), |byte| vec![byte]))
            }
            Self::Metaspace => Some(spaced(text)),
        }
    }
}

fn spaced(text: &str) -> Vec<u8> {
    text.replace('▁', " ").into_bytes()
}

fn byte_token(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    let hexadecimal = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u8::from_str_radix(digits, 16).ok().filter(|_| hexadecimal)
}

/// The byte of a character of the byte-level alphabet: printable characters of Latin-1 mean themselves, U+0100 and those
/// behind it the other bytes in their order.
///
/// Source: the published table of the GPT-2 encoder, which all byte-level tokenizers use.
fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    let printable = |code: u32| matches!(code, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    if code < 0x100 {
        return u8::try_from(code).ok().filter(|_| printable(code));
    }
    let place = usize::try_from(code - 0x100).ok()?;
    (0..=255)
        .filter(|&byte| !printable(u32::from(byte)))
        .nth(place)
}
