//! Files of a crate that import each other in a circle: whoever reads one of them has to read them all.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Source,
    modules::{Graph, graphs},
};

/// The files that a circle may have.
pub const CIRCLE_MAX: usize = 3;

/// Circles of more than [`CIRCLE_MAX`] files, each with the imports within it.
#[must_use]
pub fn check_circles(sources: &[Source]) -> Vec<String> {
    let graphs = graphs(sources);
    graphs.iter().flat_map(|(folder, graph)| check(folder, graph)).collect()
}

fn check(folder: &str, graph: &Graph) -> Vec<String> {
    let circles = circles(graph).into_iter().filter(|circle| circle.len() > CIRCLE_MAX);
    circles.flat_map(|circle| shown(folder, &circle, graph)).collect()
}

fn shown(folder: &str, circle: &BTreeSet<&str>, graph: &Graph) -> Vec<String> {
    let what = format!("crates/{folder}: a circle of {} files, {CIRCLE_MAX} may be", circle.len());
    std::iter::once(what).chain(circle.iter().map(|file| line(file, circle, graph))).collect()
}

fn line(file: &str, circle: &BTreeSet<&str>, graph: &Graph) -> String {
    let within = graph[file].iter().filter(|other| circle.contains(&***other)).map(String::as_str);
    format!("    {file} -> {}", within.collect::<Vec<_>>().join(", "))
}

/// The sets of files of which each leads to each other, the largest first.
fn circles(graph: &Graph) -> Vec<BTreeSet<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|file| (&**file, reached_from(file, graph))).collect();
    let circle = |file: &str| -> BTreeSet<&str> {
        reached[file].iter().copied().filter(|other| reached[other].contains(file)).collect()
    };
    let distinct: BTreeSet<BTreeSet<&str>> = graph.keys().map(|file| circle(file)).collect();
    let mut circles: Vec<_> = distinct.into_iter().filter(|circle| circle.len() > 1).collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

/// The files that a file imports, and those that they import, and so on.
fn reached_from<'g>(file: &'g str, graph: &'g Graph) -> BTreeSet<&'g str> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![file]);
    while let Some(file) = next.pop() {
        next.extend(graph[file].iter().map(String::as_str).filter(|other| reached.insert(*other)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(imports: &[(&str, &[&str])]) -> Graph {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        imports.iter().map(|(file, names)| (file.to_string(), owned(names))).collect()
    }

    #[test]
    fn files_that_lead_to_each_other_are_a_circle() {
        let graph = graph(&[
            ("a", &["b"]),
            ("b", &["c"]),
            ("c", &["a", "d"]),
            ("d", &["e"]),
            ("e", &["d"]),
            ("f", &["a"]),
        ]);
        assert_eq!(circles(&graph), [BTreeSet::from(["a", "b", "c"]), BTreeSet::from(["d", "e"])]);
    }

    #[test]
    fn a_circle_that_is_too_large_is_shown_with_its_imports() {
        let graph = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["d"]), ("d", &["a", "e"]), ("e", &[])]);
        let found = check("x", &graph);
        assert_eq!(found[0], "crates/x: a circle of 4 files, 3 may be");
        assert_eq!(found[1..], ["    a -> b", "    b -> c", "    c -> d", "    d -> a"]);
    }

    #[test]
    fn a_circle_that_is_small_enough_is_let_be() {
        assert!(check("x", &graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"])])).is_empty());
    }
}
