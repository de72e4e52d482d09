//! What a contest is, and who takes part in it.

use anyhow::{Result, ensure};

use super::contests::all;
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
    /// Requests of a client.
    Client(Asking),
    /// A server under a load.
    Server(Load),
}

#[cfg(test)]
impl Contest {
    /// The one of that label.
    pub(super) fn entry(&self, label: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.label == label)
    }
}

/// So much content and more is not held against instructions: they are those of the C library's `memcpy`, or of another.
const MUCH: u64 = 100 * 1024;

impl Kind {
    /// Returns true if the number of instructions says something.
    pub(super) fn instructions_tell(self) -> bool {
        !matches!(self, Self::Client(asking) if asking.content >= MUCH)
    }

    /// Returns true if a client's requests are in flight together.
    pub(super) fn has_many_in_flight(self) -> bool {
        matches!(self, Self::Client(asking) if asking.in_flight > 1)
    }
}

/// Which version is spoken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Version {
    Http1,
    Http2,
}

/// How clients ask: so many requests are timed, so many counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Asking {
    pub(super) version: Version,
    /// On one connection of HTTP/2, on as many of HTTP/1.1.
    pub(super) in_flight: u64,
    /// Octets of each answer.
    pub(super) content: u64,
    /// True if each request and each answer has other ids.
    pub(super) varies: bool,
    pub(super) timed: u64,
    pub(super) counted: u64,
}

/// The requests that a server is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    pub(super) version: Version,
    pub(super) traffic: Traffic,
    pub(super) requests: u64,
    pub(super) connections: u64,
    pub(super) in_flight: u64,
    /// Requests whose instructions and allocations are counted; none are where it would say nothing new.
    pub(super) counted: u64,
}

/// The manner in which requests differ, as `alula-bench load` has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Traffic {
    /// Those of h2load, octet for octet.
    Repeated,
    Varied,
    Proxied,
}

impl Traffic {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Repeated => "repeated",
            Self::Varied => "varied",
            Self::Proxied => "proxied",
        }
    }
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

    /// What `alula-bench` calls its work; a server's is called as the contest.
    pub(super) fn workload(&self, contest: &Contest) -> &'static str {
        if self.work.starts_with("serve") { contest.name } else { self.work }
    }

    pub(super) fn is_floor(&self) -> bool {
        self.by == By::Floor
    }
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
        let http2 = ["m1", "m32", "m32-varied", "m32-proxied", "c8-m32"].map(|load| format!("server-{load}"));
        let http1 = ["m1", "m32", "m32-varied", "m32-proxied"].map(|load| format!("server-h1-{load}"));
        assert_eq!(names, [&http2[..], &http1].concat());
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
