//! System calls per request, by `perf trace`, which slows a program less than a debugger does.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::Way;
use super::play::{Answers, Playing, play_flags};
use crate::bench::program::output;
use crate::command::find_program;

/// Those that are told by name.
pub(super) const NAMES: [&str; 6] = ["recvfrom", "sendto", "epoll_wait", "futex", "setsockopt", "fdatasync"];

/// The calls of a run, by name.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Calls(BTreeMap<String, f64>);

impl Calls {
    /// Plays the workload on an empty store and counts the calls of the server, per request.
    pub(super) fn count(playing: &Playing<'_>, way: Way) -> Result<Self> {
        let perf = find_program("perf").context("perf, which counts system calls, is not there")?;
        let running = playing.start(way.engine)?;
        let (id, file) = (running.server.id().to_string(), playing.programs.folder.join("calls"));
        let flags = [play_flags(&way, way.steps), vec!["--json".to_owned()]].concat();
        let load = playing.load("play", &running.server, &flags)?;
        let mut command = Command::new(perf);
        command.args(["trace", "-s", "-p", &id, "-o"]).arg(&file).arg("--");
        command.arg(load.get_program()).args(load.get_args());
        let answers = Answers::parse(&output(command)?.0)?;
        running.server.stop(true)?;
        let requests = answers.number("requests")?;
        Ok(Self::parse(&fs::read_to_string(file)?, requests))
    }

    /// Adds up the lines of every thread: a name, its calls, and six more columns.
    fn parse(text: &str, requests: f64) -> Self {
        let mut calls = Self::default();
        for line in text.lines() {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let [name, count, _, _, _, _, _, _] = columns[..] else { continue };
            if let Ok(count) = count.parse::<f64>() {
                *calls.0.entry(name.to_owned()).or_default() += count / requests;
            }
        }
        calls
    }

    pub(super) fn sum(&self) -> f64 {
        self.0.values().sum()
    }

    /// Those of a name.
    pub(super) fn of(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_all_threads_are_added_up() {
        let text = " alula (7), 12 events, 0.1%

   syscall            calls  errors  total       min       avg       max       stddev
                                     (msec)    (msec)    (msec)    (msec)        (%)
   --------------- --------  ------ -------- --------- --------- ---------     ------
   sendto               100      0   988.013     0.014     0.027     6.723      0.90%
   futex                  1      0     0.036     0.018     0.018     0.018      1.45%
 tokio-rt-worker (8), 170943 events, 100.0%
   sendto               100      0   988.013     0.014     0.027     6.723      0.90%
";
        let calls = Calls::parse(text, 200.0);
        assert_eq!((calls.of("sendto"), calls.sum()), (1.0, 1.005));
    }
}
