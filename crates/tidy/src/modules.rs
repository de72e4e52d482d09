//! The modules of a crate as a graph: which file imports which.
//!
//! A path of `use`, and one written out in code, leads to the longest part of it that is a file: `crate::a::b::C` leads to `a/b.rs`
//! if there is such a file. Test modules at the end of a file, files of tests, comments and `mod` lines lead nowhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::Source;

/// The files of one crate by the paths of their modules, each with the modules that it imports.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

/// The graph of every crate, by the crate's folder.
pub(crate) fn graphs(sources: &[Source]) -> BTreeMap<&str, Graph> {
    let mut crates: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        if let Some((folder, module)) = module_of(&source.path) {
            crates.entry(folder).or_default().push((module, code_of(&source.text)));
        }
    }
    crates.into_iter().map(|(folder, files)| (folder, graph(&files))).collect()
}

/// The crate's folder and the path of the module that a file is; none for tests and what is not in `src`.
fn module_of(path: &str) -> Option<(&str, String)> {
    let (folder, file) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let file = file.strip_suffix(".rs")?;
    let module = file.strip_suffix("/mod").unwrap_or(file);
    let is_test = module.split('/').any(|part| part == "tests");
    (!is_test && !folder.contains('/')).then(|| (folder, module.replace('/', "::")))
}

/// The code without the tests at its end and without comments.
fn code_of(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let lines = text[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn graph(files: &[(String, String)]) -> Graph {
    let names: BTreeSet<&str> = files.iter().map(|(module, _)| &**module).collect();
    let imports = |module: &str, code: &str| {
        let paths = paths_in(code).into_iter().filter_map(|path| absolute(module, &path));
        let files = paths.filter_map(|path| file_of(&path, &names));
        files.filter(|file| file != module).collect()
    };
    files.iter().map(|(module, code)| (module.clone(), imports(module, code))).collect()
}

/// Every path of this crate that is imported or written out, groups taken apart.
fn paths_in(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(root).filter(|(at, _)| !code[..*at].ends_with([':', '_'])) {
            expand(&code[at..], &mut paths);
        }
    }
    paths
}

/// Appends the paths that begin with this text: one, or those of its group.
fn expand(text: &str, paths: &mut Vec<String>) {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(text.len());
    let (path, rest) = text.split_at(end);
    match rest.strip_prefix('{').and_then(|group| group.get(..closing(group)?)) {
        Some(group) if path.ends_with("::") => {
            let parts = parts_of(group).map(str::trim).filter(|part| !part.is_empty());
            parts.for_each(|part| expand(&format!("{path}{part}"), paths));
        }
        _ => paths.push(path.trim_end_matches(':').to_owned()),
    }
}

/// The place of the brace that closes a group which was opened before.
fn closing(group: &str) -> Option<usize> {
    let mut depth = 1;
    group.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        (depth == 0).then_some(at)
    })
}

/// The parts of a group, which commas outside of inner groups separate.
fn parts_of(group: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    group.split(move |c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    })
}

/// The path from the root of the crate.
fn absolute(module: &str, path: &str) -> Option<String> {
    // A glob imports the module itself.
    let (root, rest) = path.split_once("::").unwrap_or((path, ""));
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let base = match root {
        "crate" => "",
        "self" => module,
        _ => parent,
    };
    match rest.strip_prefix("super::") {
        Some(_) if root == "super" => absolute(parent, rest),
        _ if rest.is_empty() => Some(base.to_owned()),
        _ if base.is_empty() => Some(rest.to_owned()),
        _ => Some(format!("{base}::{rest}")),
    }
}

/// The file that a path leads to.
fn file_of(path: &str, files: &BTreeSet<&str>) -> Option<String> {
    let mut path = path;
    loop {
        if files.contains(path) {
            return Some(path.to_owned());
        }
        path = path.rsplit_once("::")?.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(files: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        let source = |(path, text): &(&str, &str)| Source {
            path: format!("crates/x/src/{path}"),
            text: (*text).into(),
        };
        let sources: Vec<_> = files.iter().map(source).collect();
        let graph = graphs(&sources).remove("x").expect("it has files");
        graph.into_iter().map(|(file, imports)| (file, imports.into_iter().collect())).collect()
    }

    fn of_a(text: &str) -> Vec<String> {
        let files =
            [("a.rs", text), ("b.rs", ""), ("c.rs", ""), ("c/d.rs", ""), ("c/e.rs", ""), ("b/tests.rs", "")];
        imports(&files).remove(0).1
    }

    #[test]
    fn paths_lead_to_the_longest_part_that_is_a_file() {
        assert_eq!(of_a("use crate::{b::{X, Y}, c::d::Z as W};"), ["b", "c::d"]);
        assert_eq!(of_a("use crate::c::{d, e::{self, f}};\nuse std::b::X;"), ["c::d", "c::e"]);
        assert_eq!(of_a("let x = crate::b::new(); crate::c::Unit;"), ["b", "c"]);
        assert_eq!(
            of_a("use crate::{\n    c::{\n        d::X,\n    },\n};\nuse crate::b::*;"),
            ["b", "c::d"]
        );
        assert_eq!(of_a("pub(crate) fn x() {} pub(in crate::b) fn y() {} Self::b()"), ["b"]);
    }

    #[test]
    fn comments_and_tests_lead_nowhere() {
        assert!(
            of_a("mod b;\n/// [`X`](crate::b::X)\n#[cfg(test)]\nmod tests {\nuse crate::b::X;\n}").is_empty()
        );
    }

    #[test]
    fn parents_are_found() {
        let files = [
            ("b.rs", ""),
            ("c/mod.rs", ""),
            ("c/d.rs", "use super::{e::X, Y};\nuse super::super::b::Z;"),
            ("c/e.rs", ""),
        ];
        assert_eq!(imports(&files)[2], ("c::d".into(), vec!["b".into(), "c".into(), "c::e".into()]));
    }
}
