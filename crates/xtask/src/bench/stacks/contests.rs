//! The table of all contests of stacks.

use super::Traffic::{Proxied, Repeated, Varied};
use super::Version::{Http1, Http2};
use super::*;

/// Returns the contests of a group, in the order of the data.
pub(in crate::bench) fn contests(group: Group) -> Vec<Contest<Work>> {
    match group {
        Group::Memory => in_memory(),
        Group::Clients => of_clients(),
        Group::Servers => of_servers(),
    }
}

/// Units in memory that are timed: of HPACK, of HPACK where each block is only right after those before it
/// (there are 8,192), of requests, and of fields.
const BLOCKS: u64 = 50_000;
const ROW_OF_BLOCKS: u64 = 4000;
const CREATED: u64 = 20_000;
const FIELDS: u64 = 200_000;

/// Everything in memory: title, units, Alula's workloads by label, the peers, and their name of the work.
type InMemory = (&'static str, u64, &'static [(&'static str, &'static str)], &'static [Peer], &'static str);

/// A label, the name that `--only` knows, and the program.
type Peer = (&'static str, &'static str, By);

const CODECS: &[Peer] = &[
    ("nghttp2", "nghttp2", By::Nghttp2),
    ("h2 (codec)", "h2", By::Rust),
    ("fluke-hpack", "fluke-hpack", By::Rust),
    ("httlib-hpack", "httlib-hpack", By::Rust),
];

const ADDERS: &[Peer] =
    &[("http::HeaderMap", "http", By::Rust), ("hyper (request builder)", "hyper", By::Rust)];
const ROUTERS: &[Peer] = &[("matchit", "matchit", By::Rust), ("path-tree", "path-tree", By::Rust)];
const METHODS: &[Peer] = &[("http::Method, as in hyper", "http", By::Rust)];
const CREATORS: &[Peer] =
    &[("nghttp2", "nghttp2", By::Nghttp2), ("h2", "h2", By::Rust), ("hyper", "hyper", By::Rust)];

const IN_MEMORY: &[InMemory] = &[
    (
        "Encode 12 fields, all indexed",
        BLOCKS,
        &[
            ("Alula", "encode-e-names"),
            ("Alula, names known", "encode-e"),
            ("Alula, prepared", "encode-e-prepared"),
        ],
        CODECS,
        "encode-e",
    ),
    (
        "Encode 12 fields, path and request id new each time",
        BLOCKS,
        &[
            ("Alula", "encode-b-names"),
            ("Alula, names known", "encode-b"),
            ("Alula, prepared", "encode-b-prepared"),
        ],
        CODECS,
        "encode-b",
    ),
    (
        "Encode 12 fields, a new encoder per 100 blocks",
        BLOCKS,
        &[
            ("Alula", "encode-d-names"),
            ("Alula, names known", "encode-d"),
            ("Alula, reset", "encode-d-reset"),
        ],
        CODECS,
        "encode-d",
    ),
    (
        "Encode 15 fields of 50 browsers' requests from a proxy",
        BLOCKS,
        &[("Alula", "encode-proxied-names"), ("Alula, names known", "encode-proxied")],
        CODECS,
        "encode-proxied",
    ),
    (
        "Decode 12 fields, all indexed",
        BLOCKS,
        &[
            ("Alula, visiting", "decode-e"),
            ("Alula, into a section", "decode-e-section"),
            ("Alula, remembered", "decode-e-memo"),
        ],
        CODECS,
        "decode-e",
    ),
    (
        "Decode 12 fields, path and request id new each time",
        ROW_OF_BLOCKS,
        &[("Alula, visiting", "decode-b"), ("Alula, into a section", "decode-b-section")],
        CODECS,
        "decode-b",
    ),
    (
        "Decode 15 fields of 50 browsers' requests from a proxy",
        ROW_OF_BLOCKS,
        &[("Alula, visiting", "decode-proxied"), ("Alula, into a section", "decode-proxied-section")],
        CODECS,
        "decode-proxied",
    ),
    (
        "Make and write a request with 8 fields",
        CREATED,
        &[
            ("Alula, constants", "created-alone-known"),
            ("Alula", "created-alone"),
            ("Alula, prepared", "created-alone-prepared"),
        ],
        &[("h2 (codec)", "h2", By::Rust)],
        "created-alone",
    ),
    (
        "Make and write a request with 8 fields, and take its 204",
        CREATED,
        &[
            ("Alula", "created"),
            ("Alula, constants", "created-known"),
            ("Alula, prepared", "created-prepared"),
        ],
        CREATORS,
        "created",
    ),
    ("Add 4 fields by names in odd spelling", FIELDS, &[("Alula", "fields-odd")], ADDERS, "fields-odd"),
    ("Add the same field 4 times", FIELDS, &[("Alula", "fields-same")], ADDERS, "fields-same"),
    ("Find the route of a path among 40", FIELDS, &[("Alula", "routes-40")], ROUTERS, "routes-40"),
    ("Find the route of a path among 400", FIELDS, &[("Alula", "routes-400")], ROUTERS, "routes-400"),
    (
        "Is it CONNECT: POST, connect, CONNECT",
        FIELDS,
        &[("Alula", "method-connect"), ("Alula, made a method", "method-connect-parsed")],
        METHODS,
        "method-connect",
    ),
];

fn in_memory() -> Vec<Contest<Work>> {
    let contest = |&(title, timed, own, peers, work): &InMemory| {
        let own = own.iter().map(|&(label, workload)| Entry::new(label, "alula", By::Alula, workload));
        let peers = peers.iter().map(|&(label, peer, by)| Entry::new(label, peer, by, work));
        let mut entries: Vec<Entry> = own.chain(peers).collect();
        if work.starts_with("fields-") {
            let cleared = format!("{work}-cleared");
            entries.insert(2, Entry::new("http::HeaderMap, cleared", "http", By::Rust, cleared));
        }
        // Whole rounds of 40 and of 400 routes, as many as `crates/bench` counts: another number would count
        // some routes more often.
        let counted = if work.starts_with("routes-") { 4000 } else { 1000 };
        Contest::new(title, Work::Memory { timed, counted }, entries)
    };
    IN_MEMORY.iter().map(contest).collect()
}

/// The floor, once with blocking calls and once on tokio.
fn floors() -> [Entry; 2] {
    [("floor, blocking", "block"), ("floor, tokio", "tokio")]
        .map(|(label, work)| Entry::new(label, "floor", By::Floor, work))
}

const CLIENTS: [Peer; 7] = [
    ("nghttp2", "nghttp2", By::Nghttp2),
    ("h2", "h2", By::Rust),
    ("hyper", "hyper", By::Rust),
    ("hyper-util", "hyper-util", By::Rust),
    ("ureq", "ureq", By::Rust),
    ("reqwest", "reqwest", By::Rust),
    ("libcurl", "libcurl", By::Rust),
];

/// Version, content, requests in flight, varied, and the units that are timed and counted.
type OfClients = (Version, u64, u64, bool, u64, u64);

/// The time of one request is little where many share a write, so more are timed there.
const OF_CLIENTS: [OfClients; 13] = [
    (Http2, 0, 1, false, 4000, 400),
    (Http2, 0, 1, true, 4000, 400),
    (Http2, 1024, 1, false, 4000, 400),
    (Http2, MUCH, 1, false, 1000, 100),
    (Http2, 0, 64, false, 16_000, 640),
    (Http2, 1024, 64, false, 16_000, 640),
    (Http1, 0, 1, false, 4000, 400),
    (Http1, 0, 1, true, 4000, 400),
    (Http1, 1024, 1, false, 4000, 400),
    (Http1, MUCH, 1, false, 1000, 100),
    (Http1, 0, 64, false, 6400, 640),
    (Http1, 1024, 64, false, 6400, 640),
    (Http1, MUCH, 64, false, 1280, 384),
];

fn of_clients() -> Vec<Contest<Work>> {
    let contest = |(version, content, in_flight, varies, timed, counted)| {
        let asking = Asking { version, in_flight, content, varies, timed, counted };
        let (h1, way) = (
            if version == Http1 { "-h1" } else { "" },
            if varies {
                "-varied"
            } else if in_flight > 1 {
                "-m64"
            } else {
                ""
            },
        );
        let own = format!("client{h1}-{}{way}", short(content));
        let mut entries = floors().to_vec();
        for (label, more) in [("Alula", ""), ("Alula, prepared", "-prepared")] {
            entries.push(Entry::new(label, "alula", By::Alula, format!("{own}{more}")));
        }
        let peers = CLIENTS.iter().filter(|(_, peer, _)| asks(peer, version, varies));
        let work = format!("client{h1}{way}");
        entries.extend(peers.map(|&(label, peer, by)| Entry::new(label, peer, by, work.clone())));
        let varied = if varies { ", varied" } else { "" };
        let title = format!("{}, {in_flight} in flight, {}{varied}", name(version), size(content));
        Contest::new(title, Work::Client(asking), entries)
    };
    OF_CLIENTS.into_iter().map(contest).collect()
}

/// Some speak one version, and some can be told to vary what they ask for.
fn asks(peer: &str, version: Version, varies: bool) -> bool {
    let speaks = match peer {
        "nghttp2" | "h2" => version == Http2,
        "hyper-util" | "ureq" => version == Http1,
        _ => true,
    };
    speaks && (!varies || ["nghttp2", "h2", "hyper"].contains(&peer))
}

fn short(content: u64) -> String {
    if content < 1024 { content.to_string() } else { format!("{}k", content / 1024) }
}

fn size(content: u64) -> String {
    if content < 1024 { "no content".to_owned() } else { format!("{} KiB", content / 1024) }
}

const fn name(version: Version) -> &'static str {
    match version {
        Http1 => "HTTP/1.1",
        Http2 => "HTTP/2",
    }
}

const SERVERS: [Peer; 5] = [
    ("h2o", "h2o", By::H2o),
    ("nghttpd", "nghttp2", By::Nghttpd),
    ("nginx", "nginx", By::Nginx),
    ("hyper", "hyper", By::Rust),
    ("axum", "axum", By::Rust),
];

/// Version, traffic, connections, requests in flight on each, and true if the handler answers with some of
/// the request.
type OfServers = (Version, Traffic, u64, u64, bool);

const OF_SERVERS: [OfServers; 13] = [
    (Http2, Repeated, 1, 1, false),
    (Http2, Repeated, 1, 32, false),
    (Http2, Varied, 1, 32, false),
    (Http2, Proxied, 1, 32, false),
    (Http2, Repeated, 1, 32, true),
    (Http2, Proxied, 1, 32, true),
    (Http2, Repeated, 8, 32, false),
    (Http1, Repeated, 1, 1, false),
    (Http1, Repeated, 1, 32, false),
    (Http1, Varied, 1, 32, false),
    (Http1, Proxied, 1, 32, false),
    (Http1, Repeated, 1, 32, true),
    (Http1, Proxied, 1, 32, true),
];

fn of_servers() -> Vec<Contest<Work>> {
    OF_SERVERS.into_iter().map(of_server).collect()
}

fn of_server((version, traffic, connections, in_flight, echoes): OfServers) -> Contest<Work> {
    let h1 = if version == Http1 { "-h1" } else { "" };
    let (requests, counted) = match (in_flight, connections) {
        (1, _) => (6000, 800),
        (_, 1) => (if version == Http1 { 32_000 } else { 64_000 }, 3200),
        _ => (64_000, 0),
    };
    let entries = if echoes {
        let own = Entry::new("Alula", "alula", By::Alula, "serve-split");
        vec![own, Entry::new("hyper", "hyper", By::Rust, format!("serve{h1}-split"))]
    } else {
        let own = Entry::new("Alula", "alula", By::Alula, "serve");
        let peers =
            SERVERS.iter().filter(|(_, peer, _)| version == Http2 || !["nghttp2", "axum"].contains(peer));
        let peers = peers.map(|&(label, peer, by)| Entry::new(label, peer, by, format!("serve{h1}")));
        floors().into_iter().chain([own]).chain(peers).collect()
    };
    let echoed = if echoes { ", echoed" } else { "" };
    let title = format!("{}, {connections} × {in_flight}, {}{echoed}", self::name(version), traffic.name());
    Contest::new(
        title,
        Work::Server(Load { version, traffic, requests, connections, in_flight, counted }),
        entries,
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::suite::chosen;
    use super::*;

    #[test]
    fn one_peer_is_compared_with_alula_and_the_floor() {
        let contests = chosen(contests(Group::Servers), Some("nginx")).expect("it is a peer");
        assert_eq!(contests.len(), 9);
        let labels: Vec<&str> = contests[0].entries.iter().map(|own| own.label).collect();
        assert_eq!(labels, ["floor, blocking", "floor, tokio", "Alula", "nginx"]);
        chosen(in_memory(), Some("nobody")).unwrap_err();
    }

    #[test]
    fn labels_and_titles_tell_apart() {
        for contests in Group::ALL.map(contests) {
            for contest in &contests {
                assert_eq!(contests.iter().filter(|other| other.title == contest.title).count(), 1);
                for own in &contest.entries {
                    let same = contest.entries.iter().filter(|other| other.label == own.label);
                    assert_eq!(same.count(), 1, "{} of {}", own.label, contest.title);
                }
            }
        }
    }

    #[test]
    fn works_are_called_as_the_programs_call_them() {
        let works =
            |contest: &Contest<Work>| contest.entries.iter().map(|own| own.work.clone()).collect::<Vec<_>>();
        let clients = of_clients();
        assert_eq!(
            works(&clients[12])[2..6],
            ["client-h1-100k-m64", "client-h1-100k-m64-prepared", "client-h1-m64", "client-h1-m64"]
        );
        assert_eq!(
            works(&clients[1])[2..],
            [
                "client-0-varied",
                "client-0-varied-prepared",
                "client-varied",
                "client-varied",
                "client-varied"
            ]
        );
        assert_eq!(works(&of_servers()[12]), ["serve-split", "serve-h1-split"]);
    }
}
