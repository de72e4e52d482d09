//! What others cost on the same work, and the goals: `crates/bench/figures/peers.txt`, written by hand.

use anyhow::{Context, Result, bail};

use super::{figures_folder, read};

/// The whole file.
pub(crate) struct Peers(Vec<Compared>);

/// What one workload is compared with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compared {
    pub(crate) workload: String,
    /// As many instructions at most.
    pub(crate) goal: Option<f64>,
    pub(crate) best: Option<Peer>,
    pub(crate) hyper: Option<Peer>,
}

/// One peer's costs, as far as they were measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) instructions: Option<f64>,
    pub(crate) allocations: Option<f64>,
}

impl Peers {
    pub(crate) fn load() -> Result<Self> {
        Self::parse(&read(&figures_folder().join("peers.txt"))?)
    }

    pub(crate) fn get(&self, workload: &str) -> Option<&Compared> {
        self.0.iter().find(|compared| compared.workload == workload)
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
        let [workload, goal, best, b, c, hyper, e, f] = columns[..] else {
            bail!("eight columns are wanted")
        };
        Ok(Self {
            workload: workload.to_owned(),
            goal: figure(goal)?,
            best: Peer::parse(best, b, c)?,
            hyper: Peer::parse(hyper, e, f)?,
        })
    }
}

impl Peer {
    fn parse(name: &str, instructions: &str, allocations: &str) -> Result<Option<Self>> {
        if name == "-" {
            return Ok(None);
        }
        let (instructions, allocations) = (figure(instructions)?, figure(allocations)?);
        Ok(Some(Self { name: name.to_owned(), instructions, allocations }))
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
        let peers =
            Peers::parse("# a comment\nx-y | 600 | one | 2849 | 1 | - | - | -\n").expect("a valid line");
        let best = Peer { name: "one".into(), instructions: Some(2849.0), allocations: Some(1.0) };
        let compared = Compared { workload: "x-y".into(), goal: Some(600.0), best: Some(best), hyper: None };
        assert_eq!(peers.get("x-y"), Some(&compared));
        assert!(Peers::parse("x | 600").is_err());
    }

    #[test]
    fn the_file_itself_is_read() {
        Peers::load().expect("valid lines");
    }
}
