//! The table of all contests.

use super::contest::Traffic::{Proxied, Repeated, Varied};
use super::contest::Version::{Http1, Http2};
use super::contest::{Asking, By, Contest, Entry, Kind, Load, Version};

const fn entry(label: &'static str, peer: &'static str, by: By, work: &'static str) -> Entry {
    Entry { label, peer, by, work }
}

/// Alula by these workloads, and all codecs.
fn codecs(own: &[(&'static str, &'static str)], work: &'static str) -> Vec<Entry> {
    let alula = own.iter().map(|&(label, workload)| entry(label, "alula", By::Alula, workload));
    let others = [
        entry("nghttp2", "nghttp2", By::Nghttp2, work),
        entry("h2 (codec)", "h2", By::Rust, work),
        entry("fluke-hpack", "fluke-hpack", By::Rust, work),
        entry("httlib-hpack", "httlib-hpack", By::Rust, work),
        entry("Go", "go", By::Go, work),
    ];
    alula.chain(others).collect()
}

/// The same without Go, whose program has lists of 12 fields.
fn codecs_but_go(own: &[(&'static str, &'static str)], work: &'static str) -> Vec<Entry> {
    let mut entries = codecs(own, work);
    entries.retain(|entry| entry.by != By::Go);
    entries
}

/// All that are alike in both versions, and those that speak one.
fn clients(asking: Asking, [plain, prepared]: [&'static str; 2]) -> Vec<Entry> {
    let work = match (asking.version, asking.in_flight) {
        (Http1, 1) => "client-h1",
        (Http1, _) => "client-h1-m64",
        (Http2, 1) => "client",
        (Http2, _) => "client-m64",
    };
    let ours = [
        entry("floor, blocking", "floor", By::Floor, "block"),
        entry("floor, tokio", "floor", By::Floor, "tokio"),
        entry("Alula", "alula", By::Alula, plain),
        entry("Alula, prepared", "alula", By::Alula, prepared),
    ];
    let hyper = entry("hyper", "hyper", By::Rust, work);
    let theirs = match asking.version {
        Http1 => {
            [hyper, entry("hyper-util", "hyper-util", By::Rust, work), entry("ureq", "ureq", By::Rust, work)]
        }
        Http2 => [entry("nghttp2", "nghttp2", By::Nghttp2, work), entry("h2", "h2", By::Rust, work), hyper],
    };
    let rest = [
        entry("reqwest", "reqwest", By::Rust, work),
        entry("libcurl", "libcurl", By::Rust, work),
        entry("Go", "go", By::Go, work),
    ];
    ours.into_iter().chain(theirs).chain(rest).collect()
}

/// Those that can be told to vary what they ask for.
fn varying_clients(version: Version, [plain, prepared]: [&'static str; 2]) -> Vec<Entry> {
    let work = if version == Http1 { "client-h1-varied" } else { "client-varied" };
    let ours = [
        entry("floor, blocking", "floor", By::Floor, "block"),
        entry("floor, tokio", "floor", By::Floor, "tokio"),
        entry("Alula", "alula", By::Alula, plain),
        entry("Alula, prepared", "alula", By::Alula, prepared),
    ];
    let hyper = entry("hyper", "hyper", By::Rust, work);
    let theirs = match version {
        Http1 => vec![hyper],
        Http2 => {
            let nghttp2 = entry("nghttp2", "nghttp2", By::Nghttp2, work);
            vec![nghttp2, entry("h2", "h2", By::Rust, work), hyper]
        }
    };
    ours.into_iter().chain(theirs).collect()
}

/// Those whose handler reads the request and answers with some of it.
fn echoing_servers(version: Version) -> Vec<Entry> {
    let theirs = if version == Http1 { "serve-h1-split" } else { "serve-split" };
    vec![entry("Alula", "alula", By::Alula, "serve-split"), entry("hyper", "hyper", By::Rust, theirs)]
}

/// Adding the fields of a list.
fn adders(work: &'static str, cleared: &'static str) -> Vec<Entry> {
    vec![
        entry("Alula", "alula", By::Alula, work),
        entry("http::HeaderMap", "http", By::Rust, work),
        entry("http::HeaderMap, cleared", "http", By::Rust, cleared),
        entry("hyper (request builder)", "hyper", By::Rust, work),
        entry("Go", "go", By::Go, work),
    ]
}

/// Finding routes by their paths.
fn routers(work: &'static str) -> Vec<Entry> {
    vec![
        entry("Alula", "alula", By::Alula, work),
        entry("matchit", "matchit", By::Rust, work),
        entry("path-tree", "path-tree", By::Rust, work),
    ]
}

fn servers(version: Version) -> Vec<Entry> {
    match version {
        Http1 => servers_http1(),
        Http2 => servers_http2(),
    }
}

fn servers_http2() -> Vec<Entry> {
    vec![
        entry("floor, blocking", "floor", By::Floor, "block"),
        entry("floor, tokio", "floor", By::Floor, "tokio"),
        entry("Alula", "alula", By::Alula, "serve"),
        entry("h2o", "h2o", By::H2o, ""),
        entry("nghttpd", "nghttp2", By::Nghttpd, ""),
        entry("nginx", "nginx", By::Nginx, ""),
        entry("hyper", "hyper", By::Rust, "serve"),
        entry("axum", "axum", By::Rust, "serve"),
        entry("Go", "go", By::Go, "serve"),
    ]
}

fn servers_http1() -> Vec<Entry> {
    vec![
        entry("floor, blocking", "floor", By::Floor, "block"),
        entry("floor, tokio", "floor", By::Floor, "tokio"),
        entry("Alula", "alula", By::Alula, "serve"),
        entry("h2o", "h2o", By::H2o, ""),
        entry("nginx", "nginx", By::Nginx, ""),
        entry("hyper", "hyper", By::Rust, "serve-h1"),
        entry("Go", "go", By::Go, "serve-h1"),
    ]
}

/// Every contest, in the order of the document.
pub(super) fn all() -> Vec<Contest> {
    [in_memory(), of_clients(), of_servers()].concat()
}

const fn contest(name: &'static str, title: &'static str, kind: Kind, entries: Vec<Entry>) -> Contest {
    Contest { name, title, kind, entries }
}

fn in_memory() -> Vec<Contest> {
    const BLOCKS: Kind = Kind::Memory { timed: 50_000, counted: 1000 };
    // Each block is only right after those before it, and there are 8,192.
    const ROW_OF_BLOCKS: Kind = Kind::Memory { timed: 4000, counted: 1000 };
    const CREATED: Kind = Kind::Memory { timed: 20_000, counted: 1000 };
    const FIELDS: Kind = Kind::Memory { timed: 200_000, counted: 1000 };
    // Whole rounds of 40 and of 400 routes, as many as `crates/bench` counts: another number would count some routes more often.
    const ROUTES: Kind = Kind::Memory { timed: 200_000, counted: 4000 };
    vec![
        contest(
            "encode-e",
            "Encode 12 fields, all indexed",
            BLOCKS,
            codecs(
                &[
                    ("Alula", "encode-e-names"),
                    ("Alula, names known", "encode-e"),
                    ("Alula, prepared", "encode-e-prepared"),
                ],
                "encode-e",
            ),
        ),
        contest(
            "encode-b",
            "Encode 12 fields, path and request id new each time",
            BLOCKS,
            codecs(
                &[
                    ("Alula", "encode-b-names"),
                    ("Alula, names known", "encode-b"),
                    ("Alula, prepared", "encode-b-prepared"),
                ],
                "encode-b",
            ),
        ),
        contest(
            "encode-d",
            "Encode 12 fields, a new encoder per 100 blocks",
            BLOCKS,
            codecs(
                &[
                    ("Alula", "encode-d-names"),
                    ("Alula, names known", "encode-d"),
                    ("Alula, reset", "encode-d-reset"),
                ],
                "encode-d",
            ),
        ),
        contest(
            "encode-proxied",
            "Encode 15 fields of 50 browsers' requests from a proxy",
            BLOCKS,
            codecs_but_go(
                &[("Alula", "encode-proxied-names"), ("Alula, names known", "encode-proxied")],
                "encode-proxied",
            ),
        ),
        contest(
            "decode-e",
            "Decode 12 fields, all indexed",
            BLOCKS,
            codecs(
                &[
                    ("Alula, visiting", "decode-e"),
                    ("Alula, into a section", "decode-e-section"),
                    ("Alula, remembered", "decode-e-memo"),
                ],
                "decode-e",
            ),
        ),
        contest(
            "decode-b",
            "Decode 12 fields, path and request id new each time",
            ROW_OF_BLOCKS,
            codecs(
                &[("Alula, visiting", "decode-b"), ("Alula, into a section", "decode-b-section")],
                "decode-b",
            ),
        ),
        contest(
            "decode-proxied",
            "Decode 15 fields of 50 browsers' requests from a proxy",
            ROW_OF_BLOCKS,
            codecs_but_go(
                &[("Alula, visiting", "decode-proxied"), ("Alula, into a section", "decode-proxied-section")],
                "decode-proxied",
            ),
        ),
        contest(
            "created-alone",
            "Make and write a request with 8 fields",
            CREATED,
            vec![
                entry("Alula, constants", "alula", By::Alula, "created-alone-known"),
                entry("Alula", "alula", By::Alula, "created-alone"),
                entry("Alula, prepared", "alula", By::Alula, "created-alone-prepared"),
                entry("h2 (codec)", "h2", By::Rust, "created-alone"),
                entry("Go (framer)", "go", By::Go, "created"),
            ],
        ),
        contest(
            "created",
            "Make and write a request with 8 fields, and take its 204",
            CREATED,
            vec![
                entry("Alula", "alula", By::Alula, "created"),
                entry("Alula, constants", "alula", By::Alula, "created-known"),
                entry("Alula, prepared", "alula", By::Alula, "created-prepared"),
                entry("nghttp2", "nghttp2", By::Nghttp2, "created"),
                entry("h2", "h2", By::Rust, "created"),
                entry("hyper", "hyper", By::Rust, "created"),
            ],
        ),
        contest(
            "fields-odd",
            "Add 4 fields by names in odd spelling",
            FIELDS,
            adders("fields-odd", "fields-odd-cleared"),
        ),
        contest(
            "fields-same",
            "Add the same field 4 times",
            FIELDS,
            adders("fields-same", "fields-same-cleared"),
        ),
        contest("routes-40", "Find the route of a path among 40", ROUTES, routers("routes-40")),
        contest("routes-400", "Find the route of a path among 400", ROUTES, routers("routes-400")),
        contest(
            "method-connect",
            "Is it CONNECT: POST, connect, CONNECT",
            FIELDS,
            vec![
                entry("Alula", "alula", By::Alula, "method-connect"),
                entry("Alula, made a method", "alula", By::Alula, "method-connect-parsed"),
                entry("http::Method, as in hyper", "http", By::Rust, "method-connect"),
                entry("Go", "go", By::Go, "method-connect"),
            ],
        ),
    ]
}

fn of_clients() -> Vec<Contest> {
    let client = |name, title, own: [&'static str; 2], asking| {
        contest(name, title, Kind::Client(asking), clients(asking, own))
    };
    let one = |version, content| Asking {
        version,
        in_flight: 1,
        content,
        varies: false,
        timed: 4000,
        counted: 400,
    };
    let many =
        |version, content| Asking { in_flight: 64, timed: 6400, counted: 640, ..one(version, content) };
    let varying = |name, title, version, own| {
        let asking = Asking { varies: true, ..one(version, 0) };
        contest(name, title, Kind::Client(asking), varying_clients(version, own))
    };
    // What one takes is little where many share a write.
    let many_on_one = |content| Asking { timed: 16_000, ..many(Http2, content) };
    let much = 102_400;
    vec![
        client(
            "client-0",
            "Client: GET with 10 fields, 200 with 10, no content",
            ["client-0", "client-0-prepared"],
            one(Http2, 0),
        ),
        varying(
            "client-0-varied",
            "Client: GET with 10 fields, 200 with 10, ids and answers new each time",
            Http2,
            ["client-0-varied", "client-0-varied-prepared"],
        ),
        client(
            "client-1k",
            "Client: the same with 1 KiB of content",
            ["client-1k", "client-1k-prepared"],
            one(Http2, 1024),
        ),
        client(
            "client-100k",
            "Client: the same with 100 KiB of content",
            ["client-100k", "client-100k-prepared"],
            Asking { timed: 1000, counted: 100, ..one(Http2, much) },
        ),
        client(
            "client-0-m64",
            "Client: 64 in flight on one connection, no content",
            ["client-0-m64", "client-0-m64-prepared"],
            many_on_one(0),
        ),
        client(
            "client-1k-m64",
            "Client: 64 in flight on one connection, 1 KiB of content",
            ["client-1k-m64", "client-1k-m64-prepared"],
            many_on_one(1024),
        ),
        client(
            "client-h1-0",
            "Client over HTTP/1.1: GET with 10 fields, 200 with 10, no content",
            ["client-h1-0", "client-h1-0-prepared"],
            one(Http1, 0),
        ),
        varying(
            "client-h1-0-varied",
            "Client over HTTP/1.1: GET with 10 fields, 200 with 10, ids and answers new each time",
            Http1,
            ["client-h1-0-varied", "client-h1-0-varied-prepared"],
        ),
        client(
            "client-h1-1k",
            "Client over HTTP/1.1: the same with 1 KiB of content",
            ["client-h1-1k", "client-h1-1k-prepared"],
            one(Http1, 1024),
        ),
        client(
            "client-h1-100k",
            "Client over HTTP/1.1: the same with 100 KiB of content",
            ["client-h1-100k", "client-h1-100k-prepared"],
            Asking { timed: 1000, counted: 100, ..one(Http1, much) },
        ),
        client(
            "client-h1-0-m64",
            "Client over HTTP/1.1: 64 in flight, no content",
            ["client-h1-0-m64", "client-h1-0-m64-prepared"],
            many(Http1, 0),
        ),
        client(
            "client-h1-1k-m64",
            "Client over HTTP/1.1: 64 in flight, 1 KiB of content",
            ["client-h1-1k-m64", "client-h1-1k-m64-prepared"],
            many(Http1, 1024),
        ),
        client(
            "client-h1-100k-m64",
            "Client over HTTP/1.1: 64 in flight, 100 KiB of content",
            ["client-h1-100k-m64", "client-h1-100k-m64-prepared"],
            Asking { timed: 1280, counted: 384, ..many(Http1, much) },
        ),
    ]
}

fn of_servers() -> Vec<Contest> {
    let server = |name, title, load: Load| contest(name, title, Kind::Server(load), servers(load.version));
    let echo =
        |name, title, load: Load| contest(name, title, Kind::Server(load), echoing_servers(load.version));
    let one = |version| Load {
        version,
        traffic: Repeated,
        requests: 6000,
        connections: 1,
        in_flight: 1,
        counted: 800,
    };
    let http2 = Load { requests: 64_000, in_flight: 32, counted: 3200, ..one(Http2) };
    let http1 = Load { version: Http1, requests: 32_000, ..http2 };
    vec![
        server("server-m1", "Server: 13 octets, 1 connection, 1 in flight", one(Http2)),
        server("server-m32", "Server: 13 octets, 1 connection, 32 in flight", http2),
        server(
            "server-m32-varied",
            "Server: the same, each request with another path and id",
            Load { traffic: Varied, ..http2 },
        ),
        server(
            "server-m32-proxied",
            "Server: the same, requests of 50 browsers with 15 fields from a proxy",
            Load { traffic: Proxied, ..http2 },
        ),
        echo("server-m32-split", "Server: path as content, 1 connection, 32 in flight", http2),
        echo(
            "server-m32-proxied-split",
            "Server: path and id of a proxy's requests, 1 connection, 32 in flight",
            Load { traffic: Proxied, ..http2 },
        ),
        server(
            "server-c8-m32",
            "Server: 13 octets, 8 connections, 32 in flight each",
            Load { connections: 8, counted: 0, ..http2 },
        ),
        server("server-h1-m1", "Server over HTTP/1.1: 13 octets, 1 connection, 1 in flight", one(Http1)),
        server("server-h1-m32", "Server over HTTP/1.1: 13 octets, 1 connection, 32 sent at once", http1),
        server(
            "server-h1-m32-varied",
            "Server over HTTP/1.1: the same, each request with another path and id",
            Load { traffic: Varied, ..http1 },
        ),
        server(
            "server-h1-m32-proxied",
            "Server over HTTP/1.1: the same, requests of 50 browsers with 15 fields from a proxy",
            Load { traffic: Proxied, ..http1 },
        ),
        echo("server-h1-m32-split", "Server over HTTP/1.1: path as content, 32 sent at once", http1),
        echo(
            "server-h1-m32-proxied-split",
            "Server over HTTP/1.1: path and id of a proxy's requests, 32 sent at once",
            Load { traffic: Proxied, ..http1 },
        ),
    ]
}
