//! Compilation of the trie of routes: first with maps, then flat.

use std::collections::BTreeMap;

use super::builder::Route;
use super::cut::{Cut, KEY_BYTES, key};
use super::pattern::Part;
use super::segments::Segments;
use super::table::{Edge, Leaf, Node, Table};

/// A node under construction: its children and ends by their numbers.
#[derive(Default)]
struct Draft {
    literals: BTreeMap<Vec<u8>, usize>,
    capture: Option<usize>,
    rest: Option<usize>,
    end: Option<usize>,
    end_slash: Option<usize>,
}

/// Compiles routes; no two may match the same paths.
pub(super) fn table<T>(options: Segments, routes: Vec<Route<T>>) -> Table<T> {
    let mut drafts = vec![Draft::default()];
    for (leaf, route) in routes.iter().enumerate() {
        add(&mut drafts, leaf, route);
    }
    Table {
        options,
        cut: Cut::of(options),
        nodes: drafts.iter().map(node).collect(),
        leaves: routes.into_iter().map(leaf).collect(),
    }
}

fn add<T>(drafts: &mut Vec<Draft>, leaf: usize, route: &Route<T>) {
    let (mut at, fresh) = (0, |drafts: &Vec<Draft>| drafts.len());
    for part in &route.pattern.parts {
        let next = fresh(drafts);
        let draft = &mut drafts[at];
        at = match part {
            Part::Literal(literal) => *draft.literals.entry(literal.clone()).or_insert(next),
            Part::Capture(_) => *draft.capture.get_or_insert(next),
            Part::Rest(_) => {
                draft.rest = Some(leaf);
                return;
            }
        };
        if at == next {
            drafts.push(Draft::default());
        }
    }
    let end = if route.pattern.has_slash { &mut drafts[at].end_slash } else { &mut drafts[at].end };
    *end = Some(leaf);
}

fn leaf<T>(route: Route<T>) -> Leaf<T> {
    let names = route.pattern.names().map(Into::into).collect();
    Leaf { value: route.value, pattern: route.pattern.text.into(), names, options: route.options }
}

/// Sorts the literals by their keys.
fn node(draft: &Draft) -> Node {
    let edge = |literal: &[u8], node| Edge {
        len: literal.len(),
        tail: literal.get(KEY_BYTES..).unwrap_or_default().into(),
        node,
    };
    let keyed = |(literal, &node): (&Vec<u8>, &usize)| (key(literal), edge(literal, node));
    let mut all: Vec<(u64, Edge)> = draft.literals.iter().map(keyed).collect();
    all.sort_by_key(|(key, _)| *key);
    let (keys, literals): (Vec<u64>, Vec<Edge>) = all.into_iter().unzip();
    let Draft { capture, rest, end, end_slash, .. } = *draft;
    Node { keys: keys.into(), literals: literals.into(), capture, rest, end, end_slash }
}
