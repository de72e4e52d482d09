//! slowhttptest, and what it says became of its connections.

use std::fmt;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder::Folder;

const CONNECTIONS: u64 = 1000;

/// One way of being slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Attack {
    Head,
    Body,
    Read,
}

/// The fate of the connections, as slowhttptest tells it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Fate {
    opened: u64,
    /// As far as it saw that: who reads slowly sees the end of a connection behind all that was sent before.
    closed: u64,
    /// The second in which the first was closed, and that in which the last was.
    first: Option<u64>,
    last: Option<u64>,
}

impl Attack {
    pub(super) const ALL: [Self; 3] = [Self::Head, Self::Body, Self::Read];

    /// Returns true if its requests have content, so that a server must take it.
    pub(super) const fn has_content(self) -> bool {
        matches!(self, Self::Body)
    }

    const fn flags(self) -> &'static str {
        match self {
            // A field of up to 24 bytes every ten seconds, and never an end.
            Self::Head => "-H -i 10 -x 24",
            // A few bytes of 8192 every ten seconds.
            Self::Body => "-B -i 10 -x 10 -s 8192",
            // 32 bytes of an answer every five seconds, by small windows.
            Self::Read => "-X -w 512 -y 1024 -n 5 -z 32 -k 3",
        }
    }

    /// Attacks for so long: again with new connections when all are closed. What became of the first
    /// thousand.
    pub(super) fn play(self, port: u16, seconds: u64, folder: &Folder) -> Fate {
        let (start, time) = (Instant::now(), Duration::from_secs(seconds));
        let fate = self.play_once(port, seconds, folder);
        while let Some(rest @ 1..) = time.checked_sub(start.elapsed()).map(|rest| rest.as_secs()) {
            self.play_once(port, rest, folder);
        }
        fate
    }

    /// Runs slowhttptest to its end, which comes when all connections are closed, or when the time is up.
    fn play_once(self, port: u16, seconds: u64, folder: &Folder) -> Fate {
        let path = if self == Self::Read { "large" } else { "" };
        let prefix = folder.join(&format!("{self:?}"));
        let mut attack = Command::new("slowhttptest");
        attack
            .args(self.flags().split(' '))
            .args(["-r", "200", "-p", "3", "-g", "-v", "1", "-o"])
            .arg(&prefix);
        attack.args(["-c", &CONNECTIONS.to_string(), "-l", &seconds.to_string()]);
        attack.args(["-u", &format!("http://127.0.0.1:{port}/{path}")]);
        let output = attack.stdin(Stdio::null()).output().expect("slowhttptest can be run");
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let table = fs::read_to_string(prefix.with_extension("csv"));
        Fate::parse(&table.unwrap_or_default())
            .unwrap_or_else(|| panic!("slowhttptest has no table:\n{said}"))
    }
}

impl Fate {
    /// `Seconds,Closed,Pending,Connected,Service Available`, and a line for each second.
    fn parse(table: &str) -> Option<Self> {
        let mut fate = Self::default();
        for line in table.lines().skip(1) {
            let mut numbers = line.split(',').map(|number| number.trim().parse::<u64>());
            let mut next = || numbers.next()?.ok();
            let [second, closed, pending, connected] = [next()?, next()?, next()?, next()?];
            if closed > fate.closed {
                fate.first.get_or_insert(second);
                fate.last = Some(second);
            }
            fate.closed = closed;
            fate.opened = fate.opened.max(closed + pending + connected);
        }
        (fate.opened > 0).then_some(fate)
    }
}

impl fmt::Display for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Head => "slow head",
            Self::Body => "slow body",
            Self::Read => "slow read",
        };
        write!(f, "{name} (slowhttptest {}), {CONNECTIONS} connections", self.flags())
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { opened, closed, .. } = self;
        write!(f, "{opened} opened, {closed} seen closed")?;
        match (self.first, self.last) {
            (Some(first), Some(last)) => write!(f, " from second {first} to second {last}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_when_connections_were_closed() {
        let table = "Seconds,Closed,Pending,Connected,Service Available\n0,0,0,1,1000\n1,0,4,196,1000\n\
            10,0,0,1000,1000\n11,400,0,600,1000\n15,1000,0,0,1000\n16,1000,0,0,1000\n";
        let fate = Fate { opened: 1000, closed: 1000, first: Some(11), last: Some(15) };
        assert_eq!(Fate::parse(table), Some(fate));
        assert_eq!(Fate::parse(""), None);
        assert_eq!(Fate::parse("Seconds\nx"), None);
    }
}
