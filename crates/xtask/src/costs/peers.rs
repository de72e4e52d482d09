//! The costs of others at the same work under the same load, and the goals: `crates/bench/figures/peers.txt`,
//! written by hand.
//!
//! Each line names the load that its figures were counted under. It stands beside a workload of the same load
//! only, and `cargo xtask costs --check` fails on any other.

use anyhow::{Context, Result, bail};

use super::files::{figures_folder, read};
use super::measure::Workload;

/// The whole file.
pub(crate) struct Peers(Vec<Compared>);

/// What one workload is compared with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compared {
    pub(crate) workload: String,
    /// The load and the work that the peers were counted at; none if there is no peer.
    pub(crate) load: Option<String>,
    pub(crate) goal: Option<Goal>,
    pub(crate) best: Option<Peer>,
    pub(crate) hyper: Option<Peer>,
}

/// The most that a unit is to cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// `600`, or with a number of allocations, `30000/16`.
    Work { instructions: f64, allocations: f64 },
    /// `16384 bytes` of the resident set.
    Resident(f64),
}

/// One peer's costs, as far as they were measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) instructions: Option<f64>,
    pub(crate) allocations: Option<f64>,
    /// In place of allocations, `10240 bytes` of the resident set.
    pub(crate) resident: Option<f64>,
}

impl Peers {
    pub(crate) fn load() -> Result<Self> {
        Self::parse(&read(&figures_folder().join("peers.txt"))?)
    }

    pub(crate) fn get(&self, workload: &str) -> Option<&Compared> {
        self.0.iter().find(|compared| compared.workload == workload)
    }

    /// One line for each peer that was counted under another load than the workload it stands beside.
    pub(crate) fn unlike(&self, workloads: &[Workload]) -> Vec<String> {
        self.0.iter().filter_map(|compared| compared.unlike(workloads)).collect()
    }

    fn parse(text: &str) -> Result<Self> {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        lines
            .map(|line| Compared::parse(line).with_context(|| line.to_owned()))
            .collect::<Result<_>>()
            .map(Self)
    }
}

impl Compared {
    fn parse(line: &str) -> Result<Self> {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [workload, load, goal, best, b, c, hyper, e, f] = columns[..] else {
            bail!("nine columns are wanted")
        };
        Ok(Self {
            workload: workload.to_owned(),
            load: (load != "-").then(|| load.to_owned()),
            goal: Goal::parse(goal)?,
            best: Peer::parse(best, b, c)?,
            hyper: Peer::parse(hyper, e, f)?,
        })
    }

    fn unlike(&self, workloads: &[Workload]) -> Option<String> {
        let name = &self.workload;
        let Some(workload) = workloads.iter().find(|workload| workload.name == *name) else {
            return Some(format!("{name}: peers stand beside no workload"));
        };
        let has_peers = self.best.is_some() || self.hyper.is_some();
        match self.load.as_deref() {
            None if has_peers => Some(format!("{name}: the peers' load is not stated")),
            Some(load) if load != workload.load => Some(format!(
                "{name}: the peers were counted at `{load}`, it is counted at `{}`",
                workload.load
            )),
            _ => None,
        }
    }
}

impl Goal {
    fn parse(text: &str) -> Result<Option<Self>> {
        if let Some(bytes) = text.strip_suffix(" bytes") {
            return Ok(figure(bytes)?.map(Self::Resident));
        }
        let (instructions, allocations) = text.split_once('/').unwrap_or((text, "0"));
        let allocations = allocations.parse()?;
        Ok(figure(instructions)?.map(|instructions| Self::Work { instructions, allocations }))
    }
}

impl Peer {
    fn parse(name: &str, instructions: &str, allocations: &str) -> Result<Option<Self>> {
        if name == "-" {
            return Ok(None);
        }
        let mut peer = Self { name: name.to_owned(), instructions: figure(instructions)?, ..Self::default() };
        match allocations.strip_suffix(" bytes") {
            Some(bytes) => peer.resident = figure(bytes)?,
            None => peer.allocations = figure(allocations)?,
        }
        Ok(Some(peer))
    }
}

fn figure(text: &str) -> Result<Option<f64>> {
    if text == "-" { Ok(None) } else { Ok(Some(text.parse()?)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read() {
        let peers = Peers::parse("# a comment\nx-y | all | 600 | one | 2849 | 1 | - | - | -\n")
            .expect("a valid line");
        let best = Peer {
            name: "one".into(),
            instructions: Some(2849.0),
            allocations: Some(1.0),
            ..Peer::default()
        };
        let goal = Some(Goal::Work { instructions: 600.0, allocations: 0.0 });
        let load = Some("all".into());
        let compared = Compared { workload: "x-y".into(), load, goal, best: Some(best), hyper: None };
        assert_eq!(peers.get("x-y"), Some(&compared));
        assert!(Peers::parse("x | 600").is_err());
    }

    #[test]
    fn a_goal_may_be_of_allocations_and_of_the_resident_set() {
        let work = |instructions, allocations| Some(Goal::Work { instructions, allocations });
        let goals = ["600", "30000/16", "16384 bytes", "-"].map(|text| Goal::parse(text).expect("a goal"));
        assert_eq!(goals, [work(600.0, 0.0), work(30_000.0, 16.0), Some(Goal::Resident(16_384.0)), None]);
        Goal::parse("few").unwrap_err();
        let peer = Peer::parse("one", "-", "10240 bytes").expect("a peer").expect("it has a name");
        assert_eq!((peer.allocations, peer.resident), (None, Some(10_240.0)));
    }

    #[test]
    fn peers_under_another_load_are_found() {
        let workload =
            |name: &str, load: &str| Workload::parse(&format!("{name}\t1\theld\theld\t\t{load}\tone"));
        let workloads =
            ["same", "another", "unstated"].map(|name| workload(name, "varied").expect("a valid line"));
        let line = |name: &str, load: &str| format!("{name} | {load} | - | one | 1 | - | - | - | -\n");
        let lines = [("same", "varied"), ("another", "repeated"), ("unstated", "-"), ("gone", "varied")];
        let text: String = lines.iter().map(|(name, load)| line(name, load)).collect();
        let unlike = Peers::parse(&text).expect("valid lines").unlike(&workloads);
        let found = [
            "another: the peers were counted at `repeated`, it is counted at `varied`",
            "unstated: the peers' load is not stated",
            "gone: peers stand beside no workload",
        ];
        assert_eq!(unlike, found);
    }

    #[test]
    fn a_goal_needs_no_peers() {
        let peers = Peers::parse("x | - | 100 | - | - | - | - | - | -\n").expect("a valid line");
        let workload = Workload::parse("x\t1\theld\theld\t\t\tone").expect("a valid line");
        assert_eq!(peers.unlike(&[workload]), [""; 0]);
    }

    #[test]
    fn the_file_itself_is_read() {
        Peers::load().expect("valid lines");
    }
}
