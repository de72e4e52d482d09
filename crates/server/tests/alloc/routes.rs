//! A search for a route allocates nothing, whatever it comes to.

use std::hint::black_box;

use alula_server::fuzzing::{CompiledRoutes, Routed, Routes};
use alula_server::{EmptySegments, EncodedSlash, Segments, TrailingSlash};
use alula_testkit::allocations;

const PATTERNS: [&str; 7] = [
    "/",
    "/a/b/c",
    "/one/{a}",
    "/five/{a}/{b}/{c}/{d}/{e}",
    "/eight/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{*h}",
    "/five/{a}/{b}/{c}/{d}/x/y",
    "/slash/",
];

fn table(options: Segments) -> CompiledRoutes {
    let mut routes = Routes::new(options);
    for (number, pattern) in PATTERNS.iter().enumerate() {
        routes.insert(pattern, number).expect("a good pattern");
    }
    routes.build()
}

/// The number of captures found.
fn captures(table: &CompiledRoutes, path: &str) -> Option<usize> {
    match table.find(black_box(path.as_bytes())) {
        Routed::Found(_, spans) => Some(spans.iter().count()),
        _ => None,
    }
}

pub(crate) fn searches_allocate_nothing() {
    let strict = table(Segments::STRICT);
    for (path, expected) in [
        ("/a/b/c", Some(0)),
        ("/one/1", Some(1)),
        ("/five/1/2/3/4/5", Some(5)),
        ("/five/1/2/3/4/x", Some(5)),
        ("/eight/1/2/3/4/5/6/7/8/9", Some(8)),
        ("/five/1/2/3/4/x/z", None),
        ("/nothing/../here", None),
        ("/one/%2e", None),
    ] {
        let allocated = allocations(|| assert_eq!(captures(&strict, path), expected, "{path}"));
        assert_eq!(allocated, 0, "{path}");
    }
}

pub(crate) fn no_option_makes_a_search_allocate() {
    let options = Segments::STRICT
        .empty_segments(EmptySegments::Drop)
        .encoded_slash(EncodedSlash::Separate)
        .trailing_slash(TrailingSlash::Redirect);
    let table = table(options);
    let allocated = allocations(|| {
        assert_eq!(captures(&table, "//eight%2F1/2/3//4/5/6/7/8/9"), Some(8));
        assert!(matches!(table.find(b"//slash"), Routed::Redirect(6, _, true)));
        assert_eq!(table.find(b"/five/1/2/3/4/../z"), Routed::Refused);
    });
    assert_eq!(allocated, 0);
}
