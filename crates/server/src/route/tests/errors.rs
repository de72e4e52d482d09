//! Patterns that are refused, and the sentences about them.

use crate::route::{EncodedSlash, Segments, Table, TrailingSlash};

/// Returns the message about the last of these patterns; the others are fine.
fn refused(options: Segments, patterns: &[&str]) -> String {
    let mut builder = Table::builder(options);
    let (last, before) = patterns.split_last().expect("a pattern");
    for pattern in before {
        builder.insert(pattern, ()).unwrap_or_else(|error| panic!("{error}"));
    }
    builder.insert(last, ()).expect_err("a mistake").to_string()
}

#[test]
fn each_mistake_has_its_place_and_its_reason() {
    let nine = "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}";
    let deep = "/a".repeat(65);
    for (pattern, place, part) in [
        ("", 0, "begins with `/`"),
        ("users/{id}", 0, "begins with `/`"),
        ("/users/{}", 7, "has a name"),
        ("/users/{*}", 7, "has a name"),
        ("/users/:id", 7, "a capture is written `{id}`"),
        ("/users/:id/", 7, "a capture is written `{id}`"),
        ("/files/*rest", 7, "`{*rest}` for all that follows"),
        ("/files/*", 7, "`{*rest}` for all that follows"),
        ("/users/{id:u32}", 10, "`param_as` reads it as a type"),
        ("/users/{id:[0-9]{2}}", 10, "a name and no more"),
        ("/files/{*rest:.*}", 13, "a name and no more"),
        ("/files/{rest...}", 12, "a name and no more"),
        ("/users/{id?}", 10, "a name and no more"),
        ("/users/{$}", 8, "a name and no more"),
        ("/users/x{id}", 8, "a whole segment"),
        ("/users/{id}.json", 7, "a whole segment"),
        ("/users/{a}{b}", 9, "a whole segment"),
        ("/users/{a", 7, "a whole segment"),
        ("/users/a}", 8, "a whole segment"),
        ("/users/{**a}", 9, "a whole segment"),
        ("/{*rest}/more", 9, "ends a pattern"),
        ("/{*rest}/", 8, "ends a pattern"),
        (nine, 33, "at most 8 captures"),
        (&deep, 129, "at most 64 segments"),
        ("/{id}/x/{id}", 8, "another capture named `id`"),
        ("/{id}/{*id}", 6, "another capture named `id`"),
        ("/caf\u{e9}", 4, "percent-encoded"),
        ("/a b", 2, "percent-encoded"),
        ("/a?b=c", 2, "leave the query out"),
        ("/a#b", 2, "percent-encoded"),
        ("/a//b", 3, "EmptySegments"),
        ("/a/../b", 3, "DotSegments"),
        ("/a/%2e", 3, "DotSegments"),
    ] {
        let sentence = refused(Segments::STRICT, &[pattern]);
        assert!(sentence.starts_with(&format!("route `{pattern}`, byte {place}: ")), "{sentence}");
        assert!(sentence.contains(part), "{sentence}");
    }
    for rule in [EncodedSlash::Refuse, EncodedSlash::Separate] {
        let options = Segments::OBJECT_KEYS.encoded_slash(rule);
        assert!(refused(options, &["/a/b%2Fc"]).contains("byte 3: segments with `%2F`"));
    }
}

#[test]
fn what_a_path_may_have_a_pattern_may_have() {
    let mut builder = Table::builder(Segments::OBJECT_KEYS);
    for pattern in [
        "/a//b",
        "//",
        "/..",
        "/a%2Fb",
        "/a+b",
        "/~!$&'()*,;=:@",
        "/%7Bx%7D",
        "/{a b}",
        "/a:b",
        "/:",
        "/:a-b",
        "/a*",
        "/**x",
    ] {
        builder.insert(pattern, ()).unwrap_or_else(|error| panic!("{error}"));
    }
    builder.insert("/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{*h}", ()).expect("eight captures");
    builder.insert(&"/a".repeat(64), ()).expect("64 segments");
}

#[test]
fn two_patterns_for_the_same_paths_are_named_both() {
    let ignore = Segments::STRICT.trailing_slash(TrailingSlash::Ignore);
    for (options, first, second, reason) in [
        (Segments::STRICT, "/a/{x}", "/a/{x}", "`/a/{x}` matches the same paths"),
        (
            Segments::STRICT,
            "/a/{x}",
            "/a/{y}",
            "`/a/{x}` matches the same paths and names its captures otherwise",
        ),
        (Segments::STRICT, "/{*x}", "/{*y}", "`/{*x}` matches the same paths and names"),
        (ignore, "/a/", "/a", "`/a/` matches the same paths"),
        (ignore, "/a", "/a/", "`/a` matches the same paths"),
    ] {
        let sentence = refused(options, &[first, second]);
        assert!(sentence.starts_with(&format!("route `{second}`, byte 0: {reason}")), "{sentence}");
    }
    let mut builder = Table::builder(Segments::STRICT);
    for pattern in ["/a", "/a/", "/{x}", "/{*x}", "/a/{x}", "/a/{*x}", "/a/{x}/"] {
        builder.insert(pattern, ()).expect("not the same paths");
    }
}

#[test]
fn errors_say_what_they_are_about() {
    let mut builder = Table::builder(Segments::STRICT);
    builder.insert("/{a}", 1).expect("a route");
    let error = builder.insert("/{b}", 2).expect_err("the same paths");
    assert_eq!((error.pattern(), error.position(), error.conflicts_with()), ("/{b}", 0, Some("/{a}")));
    let error = builder.insert("/a/{}", 2).expect_err("no name");
    assert_eq!((error.pattern(), error.position(), error.conflicts_with()), ("/a/{}", 3, None));
}
