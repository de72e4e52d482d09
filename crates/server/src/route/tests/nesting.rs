//! Routes below prefixes, and values that are merged before a table is built.

use super::{found, table};
use crate::route::{Builder, EmptySegments, RouteError, Segments, Table, TrailingSlash, below};

fn builder(options: Segments, patterns: &[&'static str]) -> Builder<&'static str> {
    let mut builder = Table::builder(options);
    for pattern in patterns {
        builder.insert(pattern, *pattern).expect("a good pattern");
    }
    builder
}

/// Adds patterns below a prefix as a router does, under options of their own.
fn nest(
    outer: &mut Builder<&'static str>,
    prefix: &str,
    options: Segments,
    patterns: &[&'static str],
) -> Result<(), RouteError> {
    let never = |_: &mut &'static str, _| false;
    patterns.iter().try_for_each(|pattern| outer.put(&below(prefix, pattern), options, pattern, never))
}

/// Returns the patterns of these below a prefix, as they are found by paths.
fn nested(prefix: &str, patterns: &[&'static str], paths: &[&str]) -> Vec<String> {
    let mut outer = builder(Segments::STRICT, &[]);
    nest(&mut outer, prefix, Segments::STRICT, patterns).expect("no conflict");
    let table = outer.build();
    paths.iter().map(|path| found(&table, path)).collect()
}

#[test]
fn prefixes_go_in_front() {
    let patterns = ["/", "/users/{id}", "/files/{*rest}", "/end/"];
    let paths = ["/api", "/api/", "/api/users/7", "/api/files/a/b", "/api/end/", "/users/7"];
    let expected = ["/api", "-", "/api/users/{id} id=7", "/api/files/{*rest} rest=a/b", "/api/end/", "-"];
    assert_eq!(nested("/api", &patterns, &paths), expected);
    assert_eq!(nested("/api/", &patterns, &paths), expected);
    assert_eq!(nested("/", &patterns, &["/", "/users/7"]), ["/", "/users/{id} id=7"]);
    let captured = ["/u/{user}/posts/{id} user=a id=b"];
    assert_eq!(nested("/u/{user}", &["/posts/{id}"], &["/u/a/posts/b"]), captured);
}

#[test]
fn conflicts_across_prefixes_are_found() {
    let refused = |prefix: &str, inner: &[&'static str]| {
        let mut outer = builder(Segments::STRICT, &["/api/users/{id}"]);
        nest(&mut outer, prefix, Segments::STRICT, inner).expect_err("a mistake").to_string()
    };
    assert!(refused("/api", &["/users/{id}"]).contains("`/api/users/{id}` matches the same paths"));
    assert!(refused("/api", &["/users/{name}"]).contains("names its captures otherwise"));
    assert!(refused("/api/{x}", &["/{x}"]).starts_with("route `/api/{x}/{x}`, byte 9: there is another"));
    assert!(refused("/{*x}", &["/a"]).starts_with("route `/{*x}/a`, byte 6: `{*rest}` ends"));
    assert!(refused("api", &["/a"]).contains("begins with `/`"));
    assert!(refused("/{a}/{b}", &["/{c}/{d}/{e}/{f}/{g}/{h}/{i}"]).contains("at most 8"));
}

#[test]
fn nested_routes_keep_their_own_rules() {
    let mut outer = builder(Segments::STRICT, &["/api/{x}"]);
    let ignore = Segments::OBJECT_KEYS.trailing_slash(TrailingSlash::Ignore);
    nest(&mut outer, "/o", ignore, &["/{b}", "/{b}/{*key}"]).expect("no conflict");
    let table = outer.build();
    for (path, expected) in [
        ("/o/b/x//../y", "/o/{b}/{*key} b=b key=x//../y"),
        ("/o/b/", "/o/{b} b=b"),
        ("/api/..", "DotSegment"),
        ("/api/x/", "-"),
    ] {
        assert_eq!(found(&table, path), expected);
    }
    let mut outer = builder(Segments::STRICT, &[]);
    let drops = Segments::STRICT.empty_segments(EmptySegments::Drop);
    let error = nest(&mut outer, "/o", drops, &["/a"]).expect_err("another cut");
    assert!(error.to_string().contains("what separates segments"), "{error}");
}

#[test]
fn values_of_one_pattern_are_merged() {
    let mut routes = Table::builder(Segments::STRICT);
    routes.insert("/a/{x}", 1).expect("a route");
    let add = |there: &mut i32, value: i32| {
        *there += value;
        true
    };
    routes.put(&below("/a", "/{x}"), Segments::STRICT, 100, add).expect("merged");
    assert_eq!(routes.build().places().map(|place| *place.value).collect::<Vec<_>>(), [101]);
}

#[test]
fn an_empty_table_knows_nothing() {
    assert_eq!(found(&table(Segments::STRICT, &[]), "/"), "-");
    assert_eq!(found(&table(Segments::STRICT, &[]), "/a/../b"), "DotSegment");
}
