//! What a schema refers to outside of itself: the published meta-schemas, which it is given where it names them, and
//! schemas that were given along with it. Nothing is asked of a network.
//!
//! They come last, under a name that is no keyword: what the document itself declares under the same URI wins.

use crate::json::{self, Map, Value};

use super::pointers::{below, pay_for_pointers};
use crate::error::Error;
use crate::limits::Fuel;

/// The meta-schemas of one version.
struct Version {
    /// What their URIs begin with.
    uri: &'static str,
    files: &'static [&'static str],
}

/// The files are those that json-schema.org publishes; their licence stands beside them.
macro_rules! published {
    ($version:literal: $($file:literal),+) => {
        &[$(include_str!(concat!("../../../data/metaschemas/", $version, "/", $file, ".json"))),+]
    };
}

const VERSIONS: [Version; 5] = [
    Version {
        uri: "http://json-schema.org/draft-04/",
        files: published!("draft-04": "schema"),
    },
    Version {
        uri: "http://json-schema.org/draft-06/",
        files: published!("draft-06": "schema"),
    },
    Version {
        uri: "http://json-schema.org/draft-07/",
        files: published!("draft-07": "schema"),
    },
    Version {
        uri: "https://json-schema.org/draft/2019-09/",
        files: published!(
            "2019-09": "schema", "meta/core", "meta/applicator", "meta/validation", "meta/meta-data", "meta/format",
            "meta/content"
        ),
    },
    Version {
        uri: "https://json-schema.org/draft/2020-12/",
        files: published!(
            "2020-12": "schema", "meta/core", "meta/applicator", "meta/unevaluated", "meta/validation",
            "meta/meta-data", "meta/format-annotation", "meta/format-assertion", "meta/content"
        ),
    },
];

/// A document that holds the schemas it refers to.
pub(super) struct Bundled {
    pub(super) document: Value,
    /// The URI of each schema that was given along with it, and where that stands.
    pub(super) given: Vec<(String, String)>,
    /// The member that holds the others, where there are any.
    member: String,
    /// Where the meta-schemas of a version stand, and what their URIs begin with.
    added: Vec<(String, &'static str)>,
}

impl Bundled {
    /// Adds the meta-schemas that `document` and the schemas given along with it name, and these, by their URIs.
    pub(super) fn new(mut document: Value, resources: Vec<(String, Value)>) -> Self {
        let mut named = versions(&document);
        for (_, resource) in &resources {
            let more = versions(resource);
            named
                .iter_mut()
                .zip(more)
                .for_each(|(named, more)| *named |= more);
        }
        let mut added = Vec::new();
        let mut others = Vec::new();
        let mut member = "$resources".to_owned();
        if let Value::Object(root) = &document {
            while root.contains_key(&member) {
                member.push('_');
            }
        }
        for (at, version) in VERSIONS.iter().enumerate().filter(|(at, _)| named[*at]) {
            let files = version.files.iter().enumerate().filter_map(|(at, text)| {
                // They nest less than any limit; a test reads each.
                let schema = json::read(text, usize::MAX).ok()?;
                Some((at.to_string(), schema))
            });
            let pointer = below(&below("", &member), &at.to_string());
            added.push((pointer, version.uri));
            others.push((at.to_string(), Value::Object(files.collect())));
        }
        let mut given = Vec::with_capacity(resources.len());
        for (at, (uri, mut resource)) in resources.into_iter().enumerate() {
            let name = format!("given {at}");
            let uri = uri.split('#').next().unwrap_or_default().to_owned();
            given.push((uri.clone(), below(&below("", &member), &name)));
            if let Value::Object(members) = &mut resource
                && !["$id", "id"]
                    .iter()
                    .any(|id| members.get(*id).is_some_and(Value::is_string))
            {
                members.insert("$id".to_owned(), Value::String(uri));
            }
            others.push((name, resource));
        }
        if let (Value::Object(root), false) = (&mut document, others.is_empty()) {
            root.insert(
                member.clone(),
                Value::Object(others.into_iter().collect::<Map>()),
            );
        }
        Self {
            document,
            given,
            member,
            added,
        }
    }

    /// A place, as the user knows it: in a schema that was given along, by its URI.
    pub(super) fn place(&self, pointer: &str) -> String {
        let inside = |at: &str| {
            pointer
                .strip_prefix(at)
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let found = self
            .given
            .iter()
            .find_map(|(uri, at)| Some(format!("{uri}#{}", inside(at)?)));
        found.unwrap_or_else(|| pointer.to_owned())
    }

    /// What is said of places, each named by where it stands in the user's document: what lies in a meta-schema, by the
    /// references to it.
    pub(super) fn in_document(
        &self,
        reported: Vec<(String, String)>,
        fuel: &mut Fuel,
    ) -> Result<Vec<(String, String)>, Error> {
        let mut placed = Vec::new();
        // By version, once somebody asks.
        let mut known: Vec<Option<Vec<String>>> = vec![None; self.added.len()];
        for (pointer, reason) in reported {
            let version = self.added.iter().position(|(at, _)| {
                pointer
                    .strip_prefix(at.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
            match version {
                None => placed.push((self.place(&pointer), reason)),
                Some(version) => {
                    if known[version].is_none() {
                        known[version] = Some(self.references(self.added[version].1, fuel)?);
                    }
                    for at in known[version].iter().flatten() {
                        pay_for_pointers(2 * (at.len() + reason.len()), fuel)?;
                        placed.push((at.clone(), reason.clone()));
                    }
                }
            }
        }
        let mut seen = crate::maps::SeededSet::default();
        placed.retain(|place| seen.insert(place.clone()));
        Ok(placed)
    }

    /// The pointers of references to URIs that begin so; the root's where the references are relative ones.
    fn references(&self, uri: &str, fuel: &mut Fuel) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        let mut work = vec![(&self.document, String::new())];
        while let Some((value, pointer)) = work.pop() {
            match value {
                Value::Object(members) => {
                    let at_root = pointer.is_empty();
                    let own = |name: &str| !(at_root && name == self.member);
                    for (name, member) in members.iter().rev().filter(|(name, _)| own(name)) {
                        let refers = name.ends_with("Ref") || name == "$ref";
                        match member {
                            Value::Object(_) | Value::Array(_) => {
                                pay_for_pointers(pointer.len() + name.len(), fuel)?;
                                work.push((member, below(&pointer, name)));
                            }
                            Value::String(text) if refers && text.starts_with(uri) => {
                                pay_for_pointers(pointer.len() + name.len(), fuel)?;
                                found.push(below(&pointer, name));
                            }
                            _ => {}
                        }
                    }
                }
                Value::Array(items) => {
                    pay_for_pointers(pointer.len().saturating_mul(items.len()), fuel)?;
                    let items = items.iter().enumerate().rev();
                    work.extend(items.map(|(at, item)| (item, format!("{pointer}/{at}"))));
                }
                _ => {}
            }
        }
        if found.is_empty() {
            found.push(String::new());
        }
        Ok(found)
    }
}

/// What names a schema, and what refers to one: a relative reference is resolved against such a name.
const NAMES: [&str; 5] = ["$ref", "$dynamicRef", "$recursiveRef", "$id", "id"];

/// Which versions anything in a document names or refers to.
fn versions(document: &Value) -> [bool; VERSIONS.len()] {
    let mut named = [false; VERSIONS.len()];
    let mut work = vec![document];
    while let Some(value) = work.pop() {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match member {
                        Value::Object(_) | Value::Array(_) => work.push(member),
                        Value::String(text)
                            if text.starts_with("http") && NAMES.contains(&name.as_str()) =>
                        {
                            for (version, named) in VERSIONS.iter().zip(&mut named) {
                                *named |= text.starts_with(version.uri);
                            }
                        }
                        _ => {}
                    }
                }
            }
            Value::Array(items) => work.extend(items),
            _ => {}
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_file_is_read_and_named_as_its_version() {
        for version in &VERSIONS {
            for text in version.files {
                let schema = json::read(text, 100).expect("JSON");
                let id = schema.get("$id").or_else(|| schema.get("id"));
                let id = id.and_then(Value::as_str).expect("a name");
                assert!(id.starts_with(version.uri), "{id}");
            }
        }
    }
}
