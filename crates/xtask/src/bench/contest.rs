//! Who is compared at what: the table of all contests.

use anyhow::{Result, ensure};

use super::options::Options;

/// One kind of work, and all who do it.
#[derive(Clone, Debug)]
pub(super) struct Contest {
    /// As in the names of workloads and of files.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) kind: Kind,
    pub(super) entries: Vec<Entry>,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Something in memory: so many units are timed, so many counted.
    Memory { timed: u64, counted: u64 },
    /// Requests one after another, answered with so much content.
    Client { timed: u64, counted: u64, content: u64 },
    /// A server under a load.
    Server(Load),
}

/// As h2load is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    pub(super) requests: u64,
    pub(super) connections: u64,
    pub(super) in_flight: u64,
    /// Requests whose instructions and allocations are counted; none are where it would say nothing new.
    pub(super) counted: u64,
}

/// Who, and by what program.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// As in tables.
    pub(super) label: &'static str,
    /// As `--only` names it.
    pub(super) peer: &'static str,
    pub(super) by: By,
    /// As the program calls the work.
    pub(super) work: &'static str,
}

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum By {
    Alula,
    Rust,
    Go,
    Nghttp2,
    Floor,
    Nghttpd,
    Nginx,
    H2o,
}

impl Entry {
    /// The time of requests made without an answer is not taken: Alula's machine wants its streams closed.
    pub(super) fn is_timed(&self) -> bool {
        !(self.by == By::Alula && self.work.starts_with("created-alone"))
    }

    pub(super) fn is_floor(&self) -> bool {
        self.by == By::Floor
    }
}

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

fn clients(plain: &'static str, prepared: &'static str) -> Vec<Entry> {
    vec![
        entry("floor, blocking", "floor", By::Floor, "block"),
        entry("floor, tokio", "floor", By::Floor, "tokio"),
        entry("Alula", "alula", By::Alula, plain),
        entry("Alula, prepared", "alula", By::Alula, prepared),
        entry("nghttp2", "nghttp2", By::Nghttp2, "client-0"),
        entry("h2", "h2", By::Rust, "client-0"),
        entry("hyper", "hyper", By::Rust, "client-0"),
        entry("reqwest", "reqwest", By::Rust, "client-0"),
        entry("libcurl", "libcurl", By::Rust, "client-0"),
        entry("Go", "go", By::Go, "client-0"),
    ]
}

fn servers() -> Vec<Entry> {
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

/// Every contest, in the order of the document.
fn all() -> Vec<Contest> {
    const BLOCKS: Kind = Kind::Memory { timed: 50_000, counted: 1000 };
    // Each block is only right after those before it, and there are 8,192.
    const ROW_OF_BLOCKS: Kind = Kind::Memory { timed: 4000, counted: 1000 };
    const CREATED: Kind = Kind::Memory { timed: 20_000, counted: 1000 };
    let client = |content| Kind::Client { timed: 4000, counted: 400, content };
    let client_of_much = Kind::Client { timed: 1000, counted: 100, content: 102_400 };
    let server = |requests, connections, in_flight, counted| {
        Kind::Server(Load { requests, connections, in_flight, counted })
    };
    let contest = |name, title, kind, entries| Contest { name, title, kind, entries };
    vec![
        contest(
            "encode-e",
            "Encode 12 fields, all indexed",
            BLOCKS,
            codecs(&[("Alula", "encode-e"), ("Alula, prepared", "encode-e-prepared")], "encode-e"),
        ),
        contest(
            "encode-b",
            "Encode 12 fields, path and request id new each time",
            BLOCKS,
            codecs(&[("Alula", "encode-b"), ("Alula, prepared", "encode-b-prepared")], "encode-b"),
        ),
        contest(
            "encode-d",
            "Encode 12 fields, a new encoder per 100 blocks",
            BLOCKS,
            codecs(&[("Alula", "encode-d"), ("Alula, reset", "encode-d-reset")], "encode-d"),
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
            "created-alone",
            "Make and write a request with 8 fields",
            CREATED,
            vec![
                entry("Alula", "alula", By::Alula, "created-alone"),
                entry("Alula, constants", "alula", By::Alula, "created-alone-known"),
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
            "client-0",
            "Client: GET with 10 fields, 200 with 10, no content",
            client(0),
            clients("client-0", "client-0-prepared"),
        ),
        contest(
            "client-1k",
            "Client: the same with 1 KiB of content",
            client(1024),
            clients("client-1k", "client-1k-prepared"),
        ),
        contest(
            "client-100k",
            "Client: the same with 100 KiB of content",
            client_of_much,
            clients("client-100k", "client-100k-prepared"),
        ),
        contest(
            "server-m1",
            "Server: 13 octets, 1 connection, 1 in flight",
            server(6000, 1, 1, 800),
            servers(),
        ),
        contest(
            "server-m32",
            "Server: 13 octets, 1 connection, 32 in flight",
            server(64_000, 1, 32, 3200),
            servers(),
        ),
        contest(
            "server-c8-m32",
            "Server: 13 octets, 8 connections, 32 in flight each",
            server(64_000, 8, 32, 0),
            servers(),
        ),
    ]
}

/// Those with the peer that was asked for, Alula and the floor beside it.
pub(super) fn chosen(options: &Options) -> Result<Vec<Contest>> {
    let mut contests = all();
    let Some(only) = &options.only else { return Ok(contests) };
    let mut peers: Vec<&str> =
        contests.iter().flat_map(|contest| &contest.entries).map(|own| own.peer).collect();
    peers.sort_unstable();
    peers.dedup();
    ensure!(peers.contains(&&**only), "no peer {only}; there are {}", peers.join(", "));
    contests.retain(|contest| contest.entries.iter().any(|own| own.peer == only));
    for contest in &mut contests {
        contest.entries.retain(|own| [&**only, "alula", "floor"].contains(&own.peer));
    }
    Ok(contests)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(peer: &str) -> Result<Vec<Contest>> {
        chosen(&Options::parse(&["--only", peer]).expect("valid options"))
    }

    #[test]
    fn one_peer_is_compared_with_alula_and_the_floor() {
        let contests = only("nginx").expect("it is a peer");
        let names: Vec<&str> = contests.iter().map(|contest| contest.name).collect();
        assert_eq!(names, ["server-m1", "server-m32", "server-c8-m32"]);
        let labels: Vec<&str> = contests[0].entries.iter().map(|own| own.label).collect();
        assert_eq!(labels, ["floor, blocking", "floor, tokio", "Alula", "nginx"]);
        only("nobody").unwrap_err();
    }

    #[test]
    fn labels_and_names_tell_apart() {
        let contests = all();
        for contest in &contests {
            assert_eq!(contests.iter().filter(|other| other.name == contest.name).count(), 1);
            for own in &contest.entries {
                let same = contest.entries.iter().filter(|other| other.label == own.label);
                assert_eq!(same.count(), 1, "{} of {}", own.label, contest.name);
            }
        }
    }
}
