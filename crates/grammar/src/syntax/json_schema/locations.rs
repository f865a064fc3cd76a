//! Subschemas by number, and what a reference refers to.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::json::Value;

use super::equality::{Hashes, KeywordKind, same, under};
use super::keywords::{Keywords, LocationId};
use super::options::Draft;
use super::pointers::{below, pay_for_beginnings, pay_for_pointers};
use super::uri::{join, percent_decoded};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{IdMap, SeededIndexMap, SeededIndexSet, SeededMap};
use crate::tuning::SCOPES_PER_UNIT;

/// The resources that led to a subschema, as far as dynamic references depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Scope(u32);

/// What is known of a subschema.
pub(super) struct Location<'d> {
    /// The value in the document; none if a rewriting made it.
    pub(super) value: Option<&'d Value>,
    pub(super) pointer: Rc<str>,
    pub(super) scope: Scope,
    pub(super) keywords: Option<Rc<Keywords>>,
    /// What this one is the negation of.
    pub(super) negates: Option<LocationId>,
    /// Whether a negation made it.
    pub(super) negative: bool,
}

/// All subschemas met so far.
pub(super) struct Locations<'d> {
    document: &'d Value,
    /// Whether anything asks what other keywords have evaluated.
    pub(super) tracks_evaluation: bool,
    all: Vec<Location<'d>>,
    /// The pointers of keywords that are null, and say nothing.
    pub(super) nulls: SeededIndexSet<String>,
    /// Keywords that JSON Schema does not have: where each was met first, and what to write instead.
    pub(super) foreign: SeededIndexMap<&'d str, (String, &'static str)>,
    /// By the address of the value in the document.
    by_value: IdMap<(*const Value, Scope), LocationId>,
    /// What each subschema hashes to, where those that say the same are one.
    hashes: Hashes,
    by_hash: IdMap<(u64, Scope), LocationId>,
    negations: SeededMap<(LocationId, Rc<str>), LocationId>,
    /// What references lead to, where that does not depend on where they stand.
    resolved: SeededMap<&'d str, LocationId>,
    /// Pointers of resources and anchors by their URI.
    by_uri: SeededMap<String, String>,
    /// The URI of each resource by its pointer.
    bases: SeededMap<String, String>,
    /// Dynamic anchors by the pointer of their resource: their names and pointers. A recursive anchor has no name.
    dynamic: SeededMap<String, Vec<(String, String)>>,
    /// For each scope, the pointer that each dynamic anchor leads to.
    scopes: Vec<BTreeMap<String, String>>,
}

impl<'d> Locations<'d> {
    /// Those of a document; `given`: pointers of schemas in it by URIs that they may be referred to by.
    pub(super) fn new(
        document: &'d Value,
        given: &[(String, String)],
        draft: Draft,
        fuel: &mut Fuel,
    ) -> Result<Self, Error> {
        let mut locations = Self {
            document,
            tracks_evaluation: false,
            all: Vec::new(),
            nulls: SeededIndexSet::default(),
            foreign: SeededIndexMap::default(),
            by_value: IdMap::default(),
            hashes: Hashes::default(),
            by_hash: IdMap::default(),
            negations: SeededMap::default(),
            resolved: SeededMap::default(),
            by_uri: SeededMap::default(),
            bases: SeededMap::default(),
            dynamic: SeededMap::default(),
            scopes: vec![BTreeMap::new()],
        };
        locations.index(draft, fuel)?;
        for (uri, pointer) in given {
            let known = locations.by_uri.entry(uri.clone());
            known.or_insert_with(|| pointer.clone());
        }
        // References mean the same everywhere in one resource, and what is evaluated depends on where it is asked.
        if locations.bases.len() == 1 && !locations.tracks_evaluation {
            locations.hashes = Hashes::of(document);
        }
        Ok(locations)
    }

    /// Finds every `$id` and anchor, without recursion.
    fn index(&mut self, draft: Draft, fuel: &mut Fuel) -> Result<(), Error> {
        let root = String::new();
        if !self.has_names() {
            self.bases.insert(root.clone(), root.clone());
            self.by_uri.insert(root.clone(), root);
            return Ok(());
        }
        // (value, its pointer, the URI and the pointer of its resource)
        let mut work = vec![(self.document, root.clone(), root.clone(), root.clone())];
        self.bases.insert(root.clone(), root.clone());
        self.by_uri.insert(root.clone(), root);
        // What stands under names that are no keywords comes last: it gives way to what certainly is a schema.
        let mut unknown = Vec::new();
        loop {
            let next = work.pop().or_else(|| unknown.pop());
            let Some((value, pointer, mut base, mut resource)) = next else {
                return Ok(());
            };
            let children = match value {
                Value::Object(members) => members.len(),
                Value::Array(items) => items.len(),
                _ => 0,
            };
            let written = pointer.len() + base.len() + resource.len();
            pay_for_pointers(written.saturating_mul(children + 2), fuel)?;
            match value {
                Value::Object(members) => {
                    self.tracks_evaluation |= members.contains_key("unevaluatedProperties")
                        || members.contains_key("unevaluatedItems");
                    for key in ["$id", "id"] {
                        let Some(Value::String(id)) = members.get(key) else {
                            continue;
                        };
                        if draft.ref_alone() && members.get("$ref").is_some_and(Value::is_string) {
                            continue;
                        }
                        let (uri, fragment) = id.split_once('#').unwrap_or((id, ""));
                        if !uri.is_empty() {
                            base = join(&base, uri);
                            resource.clone_from(&pointer);
                            self.by_uri
                                .entry(base.clone())
                                .or_insert_with(|| pointer.clone());
                            self.bases.insert(pointer.clone(), base.clone());
                        }
                        if !fragment.is_empty() {
                            self.anchor(&base, fragment, &pointer);
                        }
                    }
                    for key in ["$anchor", "$dynamicAnchor"] {
                        if let Some(Value::String(anchor)) = members.get(key) {
                            self.anchor(&base, anchor, &pointer);
                            if key == "$dynamicAnchor" {
                                self.dynamic
                                    .entry(resource.clone())
                                    .or_default()
                                    .push((anchor.clone(), pointer.clone()));
                            }
                        }
                    }
                    if members.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
                        self.dynamic
                            .entry(resource.clone())
                            .or_default()
                            .push((String::new(), pointer.clone()));
                    }
                    for (name, member) in members {
                        // Values are no schemas.
                        let schema = member.is_object() || member.is_array();
                        if !schema || name == "enum" || name == "const" {
                            continue;
                        }
                        let pointer = below(&pointer, name);
                        let place = (member, pointer, base.clone(), resource.clone());
                        let kind = under(name);
                        if let (KeywordKind::Named, Value::Object(named)) = (kind, member) {
                            pay_for_pointers(written.saturating_mul(named.len()), fuel)?;
                            work.extend(named.iter().map(|(name, member)| {
                                let pointer = below(&place.1, name);
                                (member, pointer, base.clone(), resource.clone())
                            }));
                        } else if kind == KeywordKind::Schemas {
                            work.push(place);
                        } else {
                            unknown.push(place);
                        }
                    }
                }
                Value::Array(items) => {
                    for (at, item) in items
                        .iter()
                        .enumerate()
                        .filter(|(_, item)| item.is_object() || item.is_array())
                    {
                        let pointer = format!("{pointer}/{at}");
                        work.push((item, pointer, base.clone(), resource.clone()));
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether any subschema has a name; finds out whether anything asks what was evaluated, too.
    fn has_names(&mut self) -> bool {
        const NAMES: [&str; 5] = ["$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"];
        let mut any = false;
        let mut work = vec![self.document];
        while let Some(value) = work.pop() {
            match value {
                Value::Object(members) => {
                    for (name, member) in members {
                        match member {
                            Value::Object(_) | Value::Array(_) => work.push(member),
                            _ => any |= NAMES.contains(&name.as_str()),
                        }
                        self.tracks_evaluation |=
                            matches!(name.as_str(), "unevaluatedProperties" | "unevaluatedItems");
                    }
                }
                Value::Array(items) => work.extend(items),
                _ => {}
            }
        }
        any
    }

    fn anchor(&mut self, base: &str, name: &str, pointer: &str) {
        self.by_uri
            .entry(format!("{base}#{name}"))
            .or_insert_with(|| pointer.to_owned());
    }

    pub(super) fn get(&self, id: LocationId) -> &Location<'d> {
        &self.all[id.0 as usize]
    }

    pub(super) fn set_keywords(&mut self, id: LocationId, keywords: Rc<Keywords>) {
        self.all[id.0 as usize].keywords = Some(keywords);
    }

    /// Where a keyword of a subschema stands, if it is there; of one that a rewriting made, the keyword that asked for it.
    pub(super) fn place(&self, id: LocationId, keyword: &str) -> Option<String> {
        let location = self.get(id);
        match location.value {
            Some(value) => {
                let there = value.get(keyword).is_some();
                there.then(|| below(&location.pointer, keyword))
            }
            None => Some(location.pointer.to_string()),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    fn add(&mut self, location: Location<'d>) -> LocationId {
        let id = LocationId(self.all.len() as u32);
        self.all.push(location);
        id
    }

    /// The subschema at a pointer of the document, reached from within a scope.
    pub(super) fn at(
        &mut self,
        pointer: impl Fn() -> Rc<str>,
        value: &'d Value,
        scope: Scope,
    ) -> LocationId {
        let scope = if self.dynamic.is_empty() {
            scope
        } else {
            self.entered(scope, &pointer())
        };
        let key = (std::ptr::from_ref(value), scope);
        if let Some(&id) = self.by_value.get(&key) {
            return id;
        }
        let content = self.hashes.get(value).map(|hash| (hash, scope));
        if let Some(&id) = content.and_then(|content| self.by_hash.get(&content))
            && self.get(id).value.is_some_and(|known| same(known, value))
        {
            self.by_value.insert(key, id);
            return id;
        }
        let id = self.add(Location {
            value: Some(value),
            pointer: pointer(),
            scope,
            keywords: None,
            negates: None,
            negative: false,
        });
        self.by_value.insert(key, id);
        if let Some(content) = content {
            self.by_hash.entry(content).or_insert(id);
        }
        id
    }

    /// Where subschemas stand that are read as another one that says the same, by the pointer of that one.
    pub(super) fn twins(&self, fuel: &mut Fuel) -> Result<SeededMap<Rc<str>, Vec<String>>, Error> {
        let mut twins: SeededMap<Rc<str>, Vec<String>> = SeededMap::default();
        let mut work = vec![(self.document, String::new())];
        while let Some((value, pointer)) = work.pop() {
            let children = match value {
                Value::Object(members) => members.len(),
                Value::Array(items) => items.len(),
                _ => 0,
            };
            pay_for_pointers(pointer.len().saturating_mul(children + 2), fuel)?;
            for scope in (0..self.scopes.len() as u32).map(Scope) {
                let id = self.by_value.get(&(std::ptr::from_ref(value), scope));
                if let Some(known) = id.map(|&id| &self.get(id).pointer)
                    && **known != pointer
                {
                    twins
                        .entry(Rc::clone(known))
                        .or_default()
                        .push(pointer.clone());
                }
            }
            match value {
                Value::Object(members) => work.extend(
                    members
                        .iter()
                        .rev()
                        .map(|(name, member)| (member, below(&pointer, name))),
                ),
                Value::Array(items) => work.extend(
                    items
                        .iter()
                        .enumerate()
                        .rev()
                        .map(|(at, item)| (item, format!("{pointer}/{at}"))),
                ),
                _ => {}
            }
        }
        Ok(twins)
    }

    /// The scope within the resource that a pointer lies in: the first resource to have a dynamic anchor keeps it.
    fn entered(&mut self, scope: Scope, pointer: &str) -> Scope {
        let Some(anchors) = self.dynamic.get(&self.resource(pointer)) else {
            return scope;
        };
        let known = &self.scopes[scope.0 as usize];
        if anchors.iter().all(|(name, _)| known.contains_key(name)) {
            return scope;
        }
        let mut inner = known.clone();
        for (name, pointer) in anchors {
            inner.entry(name.clone()).or_insert_with(|| pointer.clone());
        }
        let at = self.scopes.iter().position(|other| *other == inner);
        let at = at.unwrap_or_else(|| {
            self.scopes.push(inner);
            self.scopes.len() - 1
        });
        Scope(at as u32)
    }

    /// A subschema that is not in the document; `pointer` says what it was made from.
    pub(super) fn made(&mut self, pointer: &Rc<str>, keywords: Keywords) -> LocationId {
        self.add(Location {
            value: None,
            pointer: Rc::clone(pointer),
            scope: Scope(0),
            keywords: Some(Rc::new(keywords)),
            negates: None,
            negative: false,
        })
    }

    /// A part of a negation.
    pub(super) fn made_by_negation(&mut self, pointer: &Rc<str>, keywords: Keywords) -> LocationId {
        let id = self.made(pointer, keywords);
        self.all[id.0 as usize].negative = true;
        id
    }

    /// A subschema that holds where `id` does not; `pointer` is the keyword that asks for it.
    pub(super) fn negation(&mut self, id: LocationId, pointer: &Rc<str>) -> LocationId {
        // What is evaluated under one negation does not count, so that the third says the same as the first.
        if let Some(twice) = self.get(id).negates
            && (!self.tracks_evaluation || self.get(twice).negates.is_some())
        {
            return twice;
        }
        let key = (id, Rc::clone(pointer));
        if let Some(&known) = self.negations.get(&key) {
            return known;
        }
        let negation = self.add(Location {
            value: None,
            pointer: Rc::clone(pointer),
            scope: Scope(0),
            keywords: None,
            negates: Some(id),
            negative: true,
        });
        self.negations.insert(key, negation);
        negation
    }

    pub(super) fn root(&mut self) -> LocationId {
        self.at(|| "".into(), self.document, Scope(0))
    }

    /// The pointer of the resource that a pointer lies in.
    fn resource(&self, pointer: &str) -> String {
        let mut resource = pointer;
        while !self.bases.contains_key(resource) {
            resource = &resource[..resource.rfind('/').unwrap_or(0)];
        }
        resource.to_owned()
    }

    /// Pays for finding the scope within a resource.
    pub(super) fn pay_for_scope(&self, fuel: &mut Fuel) -> Result<(), Error> {
        if self.dynamic.is_empty() {
            Ok(())
        } else {
            fuel.spend(1 + self.scopes.len() / SCOPES_PER_UNIT)
        }
    }

    /// Pays for following a reference from the subschema at a pointer.
    pub(super) fn pay_for_reference(
        &self,
        reference: &str,
        pointer: &str,
        fuel: &mut Fuel,
    ) -> Result<(), Error> {
        self.pay_for_scope(fuel)?;
        pay_for_pointers(reference.len(), fuel)?;
        if self.bases.len() == 1 {
            pay_for_pointers(pointer.len(), fuel)
        } else {
            pay_for_beginnings(pointer, fuel)
        }
    }

    /// What `reference`, under `keyword` of the subschema at `pointer`, refers to.
    pub(super) fn resolve(
        &mut self,
        reference: &'d str,
        pointer: &str,
        scope: Scope,
        keyword: &str,
    ) -> Result<LocationId, Error> {
        let anywhere = self.bases.len() == 1 && self.dynamic.is_empty();
        if let Some(&known) = self.resolved.get(reference).filter(|_| anywhere) {
            return Ok(known);
        }
        let target = self.resolve_from(reference, pointer, scope, keyword)?;
        if anywhere {
            self.resolved.insert(reference, target);
        }
        Ok(target)
    }

    fn resolve_from(
        &mut self,
        reference: &str,
        pointer: &str,
        scope: Scope,
        keyword: &str,
    ) -> Result<LocationId, Error> {
        let refused = |reason: &str| {
            let at = format!("{pointer}/{keyword}");
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
                .with_hint("only references within the schema, and to the meta-schemas of draft-04 to 2020-12, are followed"));
        };
        let fragment = percent_decoded(fragment);
        let mut target = if fragment.is_empty() {
            resource
        } else if fragment.starts_with('/') {
            let inside = format!("{resource}{fragment}");
            // Older schemas write pointers from the document's root below an id of their own.
            if self.document.pointer(&inside).is_some() {
                inside
            } else {
                fragment.clone()
            }
        } else {
            match self.by_uri.get(&format!("{full}#{fragment}")) {
                Some(pointer) => pointer.clone(),
                None => return Err(refused("names an anchor that is not there")),
            }
        };
        // Where it leads to a dynamic anchor, the first resource on the way that has one of the same name decides.
        let name = match keyword {
            "$dynamicRef" => Some(fragment),
            "$recursiveRef" => Some(String::new()),
            _ => None,
        };
        if let Some(name) = name {
            let anchors = self.dynamic.get(&self.resource(&target));
            let known = anchors.and_then(|all| all.iter().find(|(own, _)| *own == name));
            if known.is_some_and(|(_, at)| *at == target) {
                let scope = self.entered(scope, &target);
                if let Some(first) = self.scopes[scope.0 as usize].get(&name) {
                    target.clone_from(first);
                }
            }
        }
        match self.document.pointer(&target) {
            Some(value @ (Value::Object(_) | Value::Bool(_))) => {
                Ok(self.at(|| target.as_str().into(), value, scope))
            }
            Some(_) => Err(refused("points to something that is no schema")),
            None => Err(refused("points to nothing")
                .with_hint("check the pointer and its escapes (~0, ~1)")),
        }
    }
}
