//! URI references, as far as names of schemas need them (RFC 3986, section 5).

/// A reference against a base.
pub(super) fn join(base: &str, reference: &str) -> String {
    if scheme(reference).is_some() || base.is_empty() {
        return reference.to_owned();
    }
    let scheme_end = scheme(base).map_or(0, |scheme| scheme.len() + 1);
    let (head, path) = split_authority(base, scheme_end);
    if reference.starts_with("//") {
        return format!("{}{reference}", &base[..scheme_end]);
    }
    let path = path.split('?').next().unwrap_or("");
    let whole = if reference.starts_with('/') {
        reference.to_owned()
    } else {
        let directory = path.rfind('/').map_or("", |at| &path[..=at]);
        format!("{directory}{reference}")
    };
    format!("{head}{}", without_dots(&whole))
}

/// The scheme that a URI begins with.
fn scheme(uri: &str) -> Option<&str> {
    let end = uri.find(':')?;
    let scheme = &uri[..end];
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(plain))
        .then_some(scheme)
}

/// Scheme with authority, and the rest.
fn split_authority(uri: &str, scheme_end: usize) -> (&str, &str) {
    let rest = &uri[scheme_end..];
    let Some(authority) = rest.strip_prefix("//") else {
        return uri.split_at(scheme_end);
    };
    let length = authority.find('/').unwrap_or(authority.len());
    uri.split_at(scheme_end + 2 + length)
}

fn without_dots(path: &str) -> String {
    let (path, query) = path.find('?').map_or((path, ""), |at| path.split_at(at));
    let mut out: Vec<&str> = Vec::new();
    let steps: Vec<&str> = path.split('/').collect();
    for (at, &step) in steps.iter().enumerate() {
        let last = at + 1 == steps.len();
        match step {
            "." => {}
            ".." => {
                if out.len() > 1 {
                    out.pop();
                }
            }
            step => {
                out.push(step);
                continue;
            }
        }
        if last {
            out.push("");
        }
    }
    format!("{}{query}", out.join("/"))
}

/// Text with its `%xx` replaced by the bytes they stand for.
pub(super) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = hex
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .filter(|_| *first == b'%');
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
