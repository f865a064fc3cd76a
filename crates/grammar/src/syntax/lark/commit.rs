//! What a lazy terminal takes, nobody else takes. Where it and another terminal may begin at the same place, the text from
//! there is the lazy one's as soon as it matches: the other matches no text that begins with such a match.
//!
//! Which terminals may begin together is found on the places between them (Glushkov, The abstract theory of automata, 1961):
//! what follows the end of a rule is what follows it anywhere. Where a terminal begins beside a lazy one in some places and
//! without it in others, one language does not do for both, and the lowering refuses it unless the two share no text.

use super::lexer::unsupported;
use super::places::{Net, Occurrence, Place, forward, plain, reached, spread};
use crate::error::Error;
use crate::limits::{Fuel, Limits};
use crate::maps::{IdIndexMap, IdIndexSet, IdMap, IdSet, SeededIndexMap, SeededMap};
use crate::syntax::rules::{Ast, Constant, Node, NodeId, Without};

/// Lazy terminals that differ, of one source: each is a bit.
const MAX_LAZY: usize = 64;

/// A lazy terminal.
#[derive(Debug, Clone, Copy)]
struct Lazy {
    /// The texts that begin with a match.
    begun: NodeId,
    /// Those that are longer than it.
    longer: NodeId,
}

/// The lazy terminals of a source.
#[derive(Debug, Default)]
pub(super) struct Lazies {
    /// By how they are written: those that are written alike match together.
    known: SeededIndexMap<String, Lazy>,
    /// What they match, with their number and with the text that is to follow.
    matches: IdMap<u32, (usize, Option<Vec<u8>>)>,
}

impl Lazies {
    /// Adds one that is written so, and matches the shortest of `whole`; says its number.
    pub(super) fn add(&mut self, ast: &mut Ast, written: String, whole: NodeId) -> usize {
        let offset = ast.nodes[whole.0 as usize].1;
        let entry = self.known.entry(written);
        let number = entry.index();
        entry.or_insert_with(|| {
            let mut begun = |min| {
                let byte = ast.add(Node::Constant(Constant::Byte), offset);
                let rest = Node::Repeat {
                    inner: byte,
                    min,
                    max: None,
                    separator: None,
                };
                let rest = ast.add(rest, offset);
                ast.add(Node::Seq(vec![whole, rest]), offset)
            };
            Lazy {
                begun: begun(0),
                longer: begun(1),
            }
        });
        number
    }

    /// Says what one matches; where it ends before a text, that.
    pub(super) fn matched(&mut self, number: usize, id: NodeId, before: Option<Vec<u8>>) {
        self.matches.insert(id.0, (number, before));
    }

    /// The texts that begin with a match of one.
    pub(super) fn begun(&self, number: usize) -> NodeId {
        self.known[number].begun
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The number of a lazy terminal, and what is to follow.
    pub(super) fn of(&self, ast: &Ast, id: NodeId) -> Option<(usize, Option<&[u8]>)> {
        let id = match &ast.nodes[id.0 as usize].0 {
            Node::Without(Without { inner, .. }) if !self.matches.contains_key(&id.0) => *inner,
            _ => id,
        };
        let (number, before) = self.matches.get(&id.0)?;
        Some((*number, before.as_deref()))
    }
}

/// Takes from every terminal what a lazy one takes where both may begin. `terminals` are the nodes that are one, whatever
/// they are made of.
pub(super) fn commit(
    ast: &mut Ast,
    lazies: &Lazies,
    terminals: (&IdSet<u32>, Option<NodeId>),
    (text, start, limits): (&str, &str, &Limits),
) -> Result<(), Error> {
    let Some(start) = ast.rules.iter().position(|rule| rule.name == start) else {
        return Ok(());
    };
    if lazies.known.len() > MAX_LAZY {
        let (_, last) = lazies.known.last().expect("there are some");
        let offset = ast.nodes[last.begun.0 as usize].1;
        return Err(unsupported(
            text,
            offset,
            "more than 64 different lazy terminals are",
        ));
    }
    let net = Net::new(ast, terminals, |id| {
        matches!(lazies.of(ast, id), Some((_, Some(_))))
    });
    let mut graph = net.graph();
    let mut fuel = Fuel::new(limits);
    join_alike(ast, &net, &mut graph, net.beginning(start), &mut fuel)?;
    let begin = net.begin();
    let ways = Ways {
        net: &net,
        graph: &graph,
        begin: &begin,
        start,
    };
    for occurrence in &net.occurrences {
        if let Some((_, Some(stop))) = lazies.of(ast, occurrence.node)
            && !ways.all_follow(ast, occurrence, stop)
        {
            let offset = ast.nodes[occurrence.node.0 as usize].1;
            return Err(unsupported(text, offset, "a stop that is not the beginning of all that may follow is")
                .with_hint("write the stop behind the rule, or use suffix=…, which keeps what ends the text as a part of it"));
        }
    }
    let numbers: Vec<u64> = (net.occurrences.iter())
        .map(|occurrence| (lazies.of(ast, occurrence.node)).map_or(0, |(number, _)| 1 << number))
        .collect();
    // A terminal of a rule that is named in several places has several.
    let mut found: IdIndexMap<u32, (u64, u64, u64)> = IdIndexMap::default();
    for (at, (some, all)) in ways.beside(&numbers).into_iter().enumerate() {
        let entry = found.entry(net.occurrences[at].node.0);
        let known = entry.or_insert((0, u64::MAX, numbers[at]));
        *known = (known.0 | some, known.1 & all, known.2);
    }
    for (id, (some, all, own)) in found {
        let id = NodeId(id);
        // What ends before a text is beside the others with that text.
        let is_whole = matches!(lazies.of(ast, id), Some((_, None)));
        let chosen = |bits: u64| -> Vec<NodeId> {
            (lazies.known.values().enumerate())
                .filter(|(number, _)| bits & !own & (1 << number) != 0)
                .map(|(_, lazy)| if is_whole { lazy.longer } else { lazy.begun })
                .collect()
        };
        leave_out(text, ast, id, (chosen(some & all), chosen(some & !all)))?;
    }
    Ok(())
}

/// Takes texts from a terminal in one place: those that lazy ones take, and those that they take in some places.
fn leave_out(
    text: &str,
    ast: &mut Ast,
    id: NodeId,
    (excluded, partly): (Vec<NodeId>, Vec<NodeId>),
) -> Result<(), Error> {
    if excluded.is_empty() && partly.is_empty() {
        return Ok(());
    }
    let (what, hint) = match &mut ast.nodes[id.0 as usize].0 {
        Node::Without(without) => {
            without.excluded = excluded;
            without.partly = partly;
            return Ok(());
        }
        Node::Token(_) | Node::Name(_) => return Ok(()),
        Node::Grammar(_) => (
            "a whole grammar that may begin where a lazy terminal does is",
            "let a text of its own stand before it",
        ),
        _ => (
            "an operator of terminals where a lazy terminal may begin is",
            "give it a name: terminals begin with a capital letter",
        ),
    };
    Err(unsupported(text, ast.nodes[id.0 as usize].1, what).with_hint(hint))
}

/// The places of a grammar with the steps between them and what begins there.
struct Ways<'n> {
    net: &'n Net,
    graph: &'n [Vec<Place>],
    begin: &'n [Vec<u32>],
    start: usize,
}

impl Ways<'_> {
    /// By occurrence: the lazy terminals that may begin beside it in some place where a text may go on, and in all of them,
    /// as bits. `numbers` has the bit of each lazy one.
    fn beside(&self, numbers: &[u64]) -> Vec<(u64, u64)> {
        let Self {
            net,
            graph,
            begin,
            start,
        } = *self;
        let mut beside: Vec<u64> = (begin.iter())
            .map(|here| here.iter().fold(0, |bits, &at| bits | numbers[at as usize]))
            .collect();
        let mut back = vec![Vec::new(); graph.len()];
        for (from, targets) in graph.iter().enumerate() {
            for &to in targets {
                back[to as usize].push(from as u32);
            }
        }
        spread(&back, &mut beside, |before, after| before | after);
        let beginning = net.beginning(start);
        let reached = reached(graph, net, begin, beginning);
        let mut some = vec![0u64; graph.len()];
        let mut all = vec![u64::MAX; graph.len()];
        let after = net.occurrences.iter().map(Occurrence::after);
        for context in std::iter::once(beginning).chain(after) {
            if reached[context as usize] {
                some[context as usize] |= beside[context as usize];
                all[context as usize] &= beside[context as usize];
            }
        }
        spread(graph, &mut some, |from, to| from | to);
        spread(graph, &mut all, |from, to| from & to);
        let of = |occurrence: &Occurrence| {
            let places = occurrence.places().into_iter().map(|place| place as usize);
            let places = places.filter(|&place| reached[place]);
            places.fold((0, u64::MAX), |(any, every), place| {
                (any | some[place], every & all[place])
            })
        };
        net.occurrences.iter().map(of).collect()
    }

    /// Whether all that may stand behind a terminal begins with a text.
    fn all_follow(&self, ast: &Ast, occurrence: &Occurrence, text: &[u8]) -> bool {
        let mut seen: IdSet<Place> = IdSet::default();
        let mut work = vec![occurrence.after()];
        while let Some(place) = work.pop() {
            if !seen.insert(place) {
                continue;
            }
            let begins = |&at: &u32| {
                let id = plain(ast, self.net.occurrences[at as usize].node);
                matches!(&ast.nodes[id.0 as usize].0, Node::Bytes(bytes) if bytes.starts_with(text))
            };
            if place == self.net.end(self.start) || !self.begin[place as usize].iter().all(begins) {
                return false;
            }
            work.extend(&self.graph[place as usize]);
        }
        true
    }
}

/// After two terminals that begin together and are written alike, a text may go on as after either.
fn join_alike(
    ast: &Ast,
    net: &Net,
    graph: &mut [Vec<Place>],
    beginning: Place,
    fuel: &mut Fuel,
) -> Result<(), Error> {
    let mut spelt: SeededMap<String, u32> = SeededMap::default();
    let spellings: Vec<u32> = (net.occurrences.iter())
        .map(|occurrence| {
            let count = spelt.len() as u32;
            *spelt.entry(spelling(ast, occurrence.node)).or_insert(count)
        })
        .collect();
    if spelt.len() == spellings.len() {
        return Ok(());
    }
    let begin = net.begin();
    let after = net.occurrences.iter().map(Occurrence::after);
    let contexts: Vec<Place> = std::iter::once(beginning).chain(after).collect();
    let mut joined: IdSet<(Place, Place)> = IdSet::default();
    loop {
        let mut found = Vec::new();
        let places = contexts
            .iter()
            .map(|&place| forward(net, graph, &begin, place));
        let places: IdIndexSet<Place> = places.collect();
        for context in places {
            let mut first: IdMap<u32, Place> = IdMap::default();
            let mut seen: IdSet<Place> = IdSet::default();
            let mut work = vec![context];
            while let Some(place) = work.pop() {
                if !seen.insert(place) {
                    continue;
                }
                fuel.spend(1 + graph[place as usize].len() + begin[place as usize].len())?;
                work.extend(&graph[place as usize]);
                for &at in &begin[place as usize] {
                    let to = net.occurrences[at as usize].after();
                    let known = *first.entry(spellings[at as usize]).or_insert(to);
                    if known != to && joined.insert((known, to)) {
                        found.push((known, to));
                    }
                }
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        for (one, other) in found {
            graph[one as usize].push(other);
            graph[other as usize].push(one);
        }
    }
}

/// What a terminal is written as; those that are written alike match alike.
fn spelling(ast: &Ast, id: NodeId) -> String {
    let id = plain(ast, id);
    match &ast.nodes[id.0 as usize].0 {
        Node::Pattern(pattern) => format!("/{}", pattern.text),
        node @ (Node::Bytes(_) | Node::Token(_)) => format!("{node:?}"),
        _ => id.0.to_string(),
    }
}
