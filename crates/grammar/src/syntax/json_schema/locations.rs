//! Subschemas by number, and what a `$ref` refers to.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::keywords::Keywords;
use crate::error::Error;

/// A subschema: one of the document, or one that a rewriting made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct LocationId(pub(super) u32);

/// What is known of a subschema.
pub(super) struct Location<'d> {
    /// The value in the document; none if a rewriting made it.
    pub(super) value: Option<&'d Value>,
    pub(super) pointer: Rc<str>,
    pub(super) keywords: Option<Rc<Keywords>>,
}

/// All subschemas met so far.
pub(super) struct Locations<'d> {
    document: &'d Value,
    all: Vec<Location<'d>>,
    by_pointer: FxHashMap<Rc<str>, LocationId>,
    /// Pointers of resources and anchors by their URI.
    by_uri: FxHashMap<String, String>,
    /// The URI of each resource by its pointer.
    bases: FxHashMap<String, String>,
}

/// One step of a JSON pointer.
pub(super) fn step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

impl<'d> Locations<'d> {
    pub(super) fn new(document: &'d Value) -> Self {
        let mut locations = Self {
            document,
            all: Vec::new(),
            by_pointer: FxHashMap::default(),
            by_uri: FxHashMap::default(),
            bases: FxHashMap::default(),
        };
        locations.index();
        locations
    }

    /// Finds every `$id` and `$anchor`, without recursion.
    fn index(&mut self) {
        let mut work: Vec<(&'d Value, String, String)> =
            vec![(self.document, String::new(), String::new())];
        self.bases.insert(String::new(), String::new());
        self.by_uri.insert(String::new(), String::new());
        while let Some((value, pointer, mut base)) = work.pop() {
            match value {
                Value::Object(members) => {
                    for key in ["$id", "id"] {
                        let Some(Value::String(id)) = members.get(key) else {
                            continue;
                        };
                        let (uri, fragment) = id.split_once('#').unwrap_or((id, ""));
                        if !uri.is_empty() {
                            base = join(&base, uri);
                            self.by_uri
                                .entry(base.clone())
                                .or_insert_with(|| pointer.clone());
                            self.bases.insert(pointer.clone(), base.clone());
                        }
                        if !fragment.is_empty() {
                            self.by_uri
                                .entry(format!("{base}#{fragment}"))
                                .or_insert_with(|| pointer.clone());
                        }
                    }
                    for key in ["$anchor", "$dynamicAnchor"] {
                        if let Some(Value::String(anchor)) = members.get(key) {
                            self.by_uri
                                .entry(format!("{base}#{anchor}"))
                                .or_insert_with(|| pointer.clone());
                        }
                    }
                    for (name, member) in members {
                        if member.is_object() || member.is_array() {
                            work.push((member, format!("{pointer}{}", step(name)), base.clone()));
                        }
                    }
                }
                Value::Array(items) => {
                    for (at, item) in items
                        .iter()
                        .enumerate()
                        .filter(|(_, item)| item.is_object() || item.is_array())
                    {
                        work.push((item, format!("{pointer}/{at}"), base.clone()));
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn get(&self, id: LocationId) -> &Location<'d> {
        &self.all[id.0 as usize]
    }

    pub(super) fn set_keywords(&mut self, id: LocationId, keywords: Rc<Keywords>) {
        self.all[id.0 as usize].keywords = Some(keywords);
    }

    /// The subschema at a pointer of the document.
    pub(super) fn at(&mut self, pointer: &str, value: &'d Value) -> LocationId {
        if let Some(&id) = self.by_pointer.get(pointer) {
            return id;
        }
        let pointer: Rc<str> = pointer.into();
        let id = LocationId(self.all.len() as u32);
        self.all.push(Location {
            value: Some(value),
            pointer: Rc::clone(&pointer),
            keywords: None,
        });
        self.by_pointer.insert(pointer, id);
        id
    }

    /// A subschema that is not in the document; `pointer` says what it was made from.
    pub(super) fn made(&mut self, pointer: &Rc<str>, keywords: Keywords) -> LocationId {
        let id = LocationId(self.all.len() as u32);
        let keywords = Some(Rc::new(keywords));
        self.all.push(Location {
            value: None,
            pointer: Rc::clone(pointer),
            keywords,
        });
        id
    }

    pub(super) fn root(&mut self) -> LocationId {
        self.at("", self.document)
    }

    /// The pointer of the resource that a pointer lies in.
    fn resource(&self, pointer: &str) -> String {
        let mut resource = pointer;
        while !self.bases.contains_key(resource) {
            resource = &resource[..resource.rfind('/').unwrap_or(0)];
        }
        resource.to_owned()
    }

    /// What `reference`, standing at `pointer`, refers to.
    pub(super) fn resolve(&mut self, reference: &str, pointer: &str) -> Result<LocationId, Error> {
        let refused = |reason: &str| {
            let at = format!("{pointer}/$ref");
            Error::schema(
                "E-SCHEMA-REF",
                format!("the reference {reference:?} {reason}"),
                vec![(at, format!("{reference:?} {reason}"))],
            )
        };
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let own = self.resource(pointer);
        let base = self.bases.get(&own).cloned().unwrap_or_default();
        let full = if uri.is_empty() {
            base
        } else {
            join(&base, uri)
        };
        let resource = if uri.is_empty() {
            Some(own)
        } else {
            self.by_uri.get(&full).cloned()
        };
        let Some(resource) = resource else {
            return Err(refused("leaves the schema")
                .with_hint("only references within the schema are followed"));
        };
        let fragment = percent_decoded(fragment);
        let target = if fragment.is_empty() {
            resource
        } else if fragment.starts_with('/') {
            let inside = format!("{resource}{fragment}");
            // Older schemas write pointers from the document's root below an id of their own.
            if self.document.pointer(&inside).is_some() {
                inside
            } else {
                fragment
            }
        } else {
            match self.by_uri.get(&format!("{full}#{fragment}")) {
                Some(pointer) => pointer.clone(),
                None => return Err(refused("names an anchor that is not there")),
            }
        };
        match self.document.pointer(&target) {
            Some(value @ (Value::Object(_) | Value::Bool(_))) => Ok(self.at(&target, value)),
            Some(_) => Err(refused("points to something that is no schema")),
            None => Err(refused("points to nothing")
                .with_hint("check the pointer and its escapes (~0, ~1)")),
        }
    }
}

/// A relative reference against a base, as far as names need it: paths are taken as they are, without `..`.
fn join(base: &str, uri: &str) -> String {
    let scheme = uri
        .split(['/', '?', '#'])
        .next()
        .is_some_and(|first| first.contains(':'));
    if scheme || base.is_empty() {
        return uri.to_owned();
    }
    let authority_end = base.find("://").map_or(0, |at| {
        let after = at + 3;
        base[after..]
            .find('/')
            .map_or(base.len(), |slash| after + slash)
    });
    if uri.starts_with('/') {
        return format!("{}{uri}", &base[..authority_end]);
    }
    let directory = base
        .rfind('/')
        .filter(|&at| at >= authority_end)
        .map_or(authority_end, |at| at + 1);
    format!("{}{uri}", &base[..directory])
}

fn percent_decoded(text: &str) -> String {
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
