//! Routes found by paths, without requests: the routers below axum and others.

use std::hint::black_box;

use alula_testkit::routes;
use matchit::Router;
use path_tree::PathTree;

use crate::measure::Run;

/// Makes so many units of searches, one path for each route in turns. `find` returns the number of the route,
/// and how long all captures are together; it is called directly, as in `crates/bench`.
fn in_turns<F>(count: &str, prepare: impl FnOnce(&[String]) -> F) -> Run
where
    F: Fn(&str) -> (usize, usize) + 'static,
{
    let patterns = routes::routes(count.parse().expect("a number of routes"));
    let paths: Vec<String> = patterns.iter().map(|pattern| routes::path(pattern)).collect();
    let find = prepare(&patterns);
    let mut number = 0;
    Box::new(move |units| {
        for _ in 0..units {
            let (value, bytes) = find(black_box(&paths[number]));
            assert_eq!(value, number, "{}", paths[number]);
            black_box(bytes);
            number = if number + 1 == paths.len() { 0 } else { number + 1 };
        }
    })
}

/// axum's.
pub(crate) fn matchit(count: &str) -> Run {
    in_turns(count, |patterns| {
        let mut router = Router::new();
        for (number, pattern) in patterns.iter().enumerate() {
            router.insert(pattern, number).expect("a good pattern");
        }
        move |path: &str| {
            let found = router.at(path).expect("a route");
            (*found.value, found.params.iter().map(|(_, value)| value.len()).sum())
        }
    })
}

/// The router of viz.
pub(crate) fn path_tree(count: &str) -> Run {
    in_turns(count, |patterns| {
        let mut tree = PathTree::new();
        for (number, pattern) in patterns.iter().enumerate() {
            let _ = tree.insert(&by_colons(pattern), number);
        }
        move |path: &str| {
            let (value, found) = tree.find(path).expect("a route");
            (*value, found.params_iter().map(|(_, value)| value.len()).sum())
        }
    })
}

/// `:name` for `{name}`, and `:name+` for `{*name}`.
fn by_colons(pattern: &str) -> String {
    let segment = |segment: &str| match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        None => segment.to_owned(),
        Some(name) => match name.strip_prefix('*') {
            None => format!(":{name}"),
            Some(rest) => format!(":{rest}+"),
        },
    };
    let segments: Vec<String> = pattern.split('/').map(segment).collect();
    segments.join("/")
}
