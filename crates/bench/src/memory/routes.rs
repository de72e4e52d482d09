//! Routes found by paths, without requests.

use std::hint::black_box;

use alula_server::Segments;
use alula_server::fuzzing::{CompiledRoutes, Routed, Routes};
use alula_testkit::routes;

use crate::workload::{Run, Workload};

/// All of them. One path for each route, in turns; every capture is looked at.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload::new("routes-40", 4000, "find the route of a path among 40", || find(40)).beside("40 routes"),
    Workload::new("routes-400", 4000, "find the route of a path among 400, as GitHub's", || find(400))
        .beside("400 routes"),
];

fn find(count: usize) -> Run {
    let patterns = routes::routes(count);
    let paths: Vec<String> = patterns.iter().map(|pattern| routes::path(pattern)).collect();
    let table = compiled(&patterns);
    let mut number = 0;
    Box::new(move |units| {
        for _ in 0..units {
            let (value, bytes) = found(&table, black_box(paths[number].as_bytes()));
            assert_eq!(value, number);
            black_box(bytes);
            number = if number + 1 == paths.len() { 0 } else { number + 1 };
        }
    })
}

fn compiled(patterns: &[String]) -> CompiledRoutes {
    let mut routes = Routes::new(Segments::STRICT);
    for (number, pattern) in patterns.iter().enumerate() {
        routes.insert(pattern, number).expect("a good pattern");
    }
    routes.build()
}

/// The number of the route, and how long all captures are together.
fn found(table: &CompiledRoutes, path: &[u8]) -> (usize, usize) {
    match table.find(path) {
        Routed::Found(value, spans) => (value, spans.iter().map(|span| path[span].len()).sum()),
        other => panic!("{}: {other:?}", path.escape_ascii()),
    }
}
