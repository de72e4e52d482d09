//! The modules of a crate as a graph: which file imports which.
//!
//! A path of `use`, and one written out in code, leads to the longest part of it that is a file:
//! `crate::a::b::C` leads to `a/b.rs` if there is such a file. A name that a file hands on with `pub use`
//! leads to where that comes from, and handing it on is no import. Test modules at the end of a file, files
//! of tests, comments and `mod` lines lead nowhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::Source;

/// The files of one crate by the paths of their modules, each with the modules that it imports.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

/// The times that a name may be handed on.
const EXPORTS_MAX: usize = 8;

/// The graph of every crate, by the crate's folder.
pub(crate) fn graphs(sources: &[Source]) -> BTreeMap<&str, Graph> {
    let mut crates: BTreeMap<&str, Vec<File>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        if let Some((folder, module)) = module_of(&source.path) {
            crates.entry(folder).or_default().push(File::new(module, &source.text));
        }
    }
    crates.into_iter().map(|(folder, files)| (folder, graph(&files))).collect()
}

/// The crate's folder and the path of the module that a file is, which is empty for the root of the library;
/// none for tests and what is not in `src`.
fn module_of(path: &str) -> Option<(&str, String)> {
    let (folder, file) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let file = file.strip_suffix(".rs")?;
    let is_root = matches!(file, "lib" | "main");
    let module = file.strip_suffix("/mod").or(file.strip_suffix("/main")).unwrap_or(file);
    let is_test = module.split('/').any(|part| part == "tests");
    let module = if is_root { String::new() } else { module.replace('/', "::") };
    (!is_test && !folder.contains('/')).then_some((folder, module))
}

/// One file: what it hands on, and the rest of its code.
struct File {
    module: String,
    exports: Vec<String>,
    code: String,
}

impl File {
    fn new(module: String, text: &str) -> Self {
        let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
        let lines = text[..end].lines().map(|line| line.split("// ").next().unwrap_or_default());
        let code = lines.filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let (exports, code) = split_exports(&without_scopes(&code));
        Self { module, exports, code }
    }

    /// The root of the crate that the file belongs to: a program in `bin` is one of its own.
    fn root(&self) -> &str {
        let in_bin = self.module.strip_prefix("bin::");
        in_bin.map_or("", |rest| &self.module[..5 + rest.find("::").unwrap_or(rest.len())])
    }

    fn parent(&self) -> &str {
        self.module.rsplit_once("::").map_or("", |(parent, _)| parent)
    }
}

/// The code without the scopes of its items: `pub(in crate::x)` says who may see one, and imports nothing.
fn without_scopes(code: &str) -> String {
    let mut parts = code.split("pub(in ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |code, part| code + "pub" + part.split_once(')').map_or("", |(_, rest)| rest))
}

/// The statements that hand names on, and the code without them.
fn split_exports(code: &str) -> (Vec<String>, String) {
    let (mut exports, mut rest, mut at) = (Vec::new(), String::new(), 0);
    for (begin, _) in code.match_indices("use ") {
        let line = code[..begin].rfind('\n').map_or(0, |end| end + 1);
        let is_export = begin >= at && code[line..begin].trim_start().starts_with("pub");
        if let (true, Some(end)) = (is_export, code[begin..].find(';')) {
            rest.push_str(&code[at..line]);
            exports.push(code[begin + 4..begin + end].to_owned());
            at = begin + end + 1;
        }
    }
    rest.push_str(&code[at..]);
    (exports, rest)
}

/// All files of a crate, and where the names lead that each hands on.
struct Files<'f> {
    names: BTreeSet<&'f str>,
    exports: BTreeMap<(&'f str, String), String>,
}

fn graph(files: &[File]) -> Graph {
    let mut all = Files { names: files.iter().map(|file| &*file.module).collect(), exports: BTreeMap::new() };
    for file in files {
        for export in &file.exports {
            let paths = all.paths_in(file, export).into_iter();
            let named = paths.filter_map(|path| Some((path.rsplit("::").next()?.to_owned(), path)));
            all.exports.extend(named.map(|(name, path)| ((&*file.module, name), path)).collect::<Vec<_>>());
        }
    }
    files.iter().map(|file| (shown(&file.module), all.imports(file))).collect()
}

/// The root of a library has no name of its own.
fn shown(module: &str) -> String {
    if module.is_empty() { "the root".to_owned() } else { module.to_owned() }
}

impl Files<'_> {
    fn imports(&self, file: &File) -> BTreeSet<String> {
        let paths = self.paths_in(file, &file.code).into_iter();
        let files = paths.filter_map(|path| self.file_of(path)).filter(|other| *other != file.module);
        files.map(|other| shown(&other)).collect()
    }

    /// Every path of this crate in some code, from the root, with groups taken apart.
    fn paths_in(&self, file: &File, code: &str) -> Vec<String> {
        let (mut found, mut before, mut done) = (Vec::new(), ' ', 0);
        for (at, c) in code.char_indices() {
            let begins =
                (c.is_alphabetic() || c == '_') && !(before.is_alphanumeric() || "_:".contains(before));
            if begins && at >= done && is_path(&code[at..]) {
                done = at + extent(&code[at..]);
                expand(&code[at..], &mut found);
            }
            before = c;
        }
        found.into_iter().filter_map(|path| self.absolute(file, &path)).collect()
    }

    /// The path from the root of the library, of a path that begins with a keyword or with a child of the
    /// file.
    fn absolute(&self, file: &File, path: &str) -> Option<String> {
        let (first, mut rest) = path.split_once("::").unwrap_or((path, ""));
        let mut base = match first {
            "crate" => file.root(),
            "self" => &file.module,
            "super" => file.parent(),
            child => return Some(join(&file.module, path)).filter(|_| self.has_child(&file.module, child)),
        };
        while let Some(above) = rest.strip_prefix("super::") {
            (base, rest) = (base.rsplit_once("::").map_or("", |(parent, _)| parent), above);
        }
        Some(join(base, rest))
    }

    fn has_child(&self, module: &str, child: &str) -> bool {
        self.names.contains(&*join(module, child))
    }

    /// The file that a path leads to.
    fn file_of(&self, mut path: String) -> Option<String> {
        for _ in 0..EXPORTS_MAX {
            let file = self.longest_file(&path)?.to_owned();
            let rest = path[file.len()..].trim_start_matches("::");
            let (name, beyond) = rest.split_once("::").unwrap_or((rest, ""));
            match self.exports.get(&(&*file, name.to_owned())) {
                Some(export) if *export != path => path = join(export, beyond),
                _ => return Some(file),
            }
        }
        None
    }

    fn longest_file<'p>(&self, path: &'p str) -> Option<&'p str> {
        let mut file = path;
        while !self.names.contains(file) {
            file = file.rsplit_once("::").map_or("", |(parent, _)| parent);
            if file.is_empty() {
                return self.names.contains("").then_some("");
            }
        }
        Some(file)
    }
}

fn join(base: &str, rest: &str) -> String {
    match (base, rest) {
        ("", rest) => rest.to_owned(),
        (base, "") => base.to_owned(),
        (base, rest) => format!("{base}::{rest}"),
    }
}

/// Returns true if a path of more than one part begins here.
fn is_path(text: &str) -> bool {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    text[end..].starts_with("::")
}

/// The bytes of the path that begins with this text, and of its group.
fn extent(text: &str) -> usize {
    let end = path_end(text);
    let group = text[end..].strip_prefix('{').and_then(closing);
    end + group.map_or(0, |group| group + 2)
}

fn path_end(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(text.len())
}

/// Appends the paths that begin with this text: one, or those of its group.
fn expand(text: &str, paths: &mut Vec<String>) {
    let (path, rest) = text.split_at(path_end(text));
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
        let files = [
            ("lib.rs", "mod a;\npub use c::Deep;\npub use b::Shallow;"),
            ("a.rs", text),
            ("b.rs", ""),
            ("c.rs", "pub use d::Deep;\npub(crate) use self::e::Other;"),
            ("c/d.rs", ""),
            ("c/e.rs", ""),
            ("b/tests.rs", ""),
        ];
        imports(&files).into_iter().find(|(file, _)| file == "a").expect("a.rs").1
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
        assert!(of_a("pub(crate) fn x() {} pub(in crate::b) fn y() {} Self::b()").is_empty());
    }

    #[test]
    fn names_that_are_handed_on_lead_to_where_they_come_from() {
        assert_eq!(of_a("use crate::{Deep, Shallow};"), ["b", "c::d"]);
        assert_eq!(of_a("use crate::c::Deep;\nfn x() { crate::Own::new() }"), ["c::d", "the root"]);
    }

    #[test]
    fn children_are_found_by_their_names_and_programs_have_roots_of_their_own() {
        let files = [
            ("bin/p/main.rs", "mod x;\nx::run();"),
            ("bin/p/x.rs", "use crate::Failure;"),
            ("lib.rs", "pub struct Failure;"),
        ];
        let expected =
            [("bin::p".into(), vec!["bin::p::x".into()]), ("bin::p::x".into(), vec!["bin::p".into()])];
        assert_eq!(imports(&files)[..2], expected);
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
