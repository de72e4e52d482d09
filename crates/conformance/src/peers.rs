//! Programs that other people wrote: servers on free ports of loopback, and a client.

pub mod curl;
pub mod driven;
pub mod golang;
pub mod h2o;
pub mod httpx;
pub mod hyper;
pub mod nghttpd;
pub mod nginx;
pub mod node;
pub mod proxies;
pub mod python;

use std::process::Command;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::alula::Reach;
use crate::certificates::Certificates;
use crate::outcome;
use crate::program::Program;

/// A server that answers in clear text on one port and over TLS on another.
pub struct Origin {
    /// Its name, for messages.
    pub name: &'static str,
    clear: u16,
    tls: u16,
    /// Kept for their end.
    programs: Vec<Program>,
    /// The same, of a server in this process.
    _runtime: Option<Runtime>,
}

impl Origin {
    fn of(name: &'static str, clear: u16, tls: u16, programs: Vec<Program>) -> Self {
        Self { name, clear, tls, programs, _runtime: None }
    }

    /// Its port for clear text.
    #[must_use]
    pub fn clear_port(&self) -> u16 {
        self.clear
    }

    /// Its port for TLS.
    #[must_use]
    pub fn tls_port(&self) -> u16 {
        self.tls
    }

    /// What has to be kept for it to go on.
    #[must_use]
    pub fn into_programs(self) -> Vec<Program> {
        self.programs
    }

    /// Tells its programs to end (SIGTERM), which a good server does after its requests.
    ///
    /// # Panics
    /// When one has ended already.
    pub fn terminate(&self) {
        for program in &self.programs {
            let mut kill = Command::new("kill");
            kill.args(["-s", "TERM", &program.id().to_string()]);
            let _ = outcome::run(&mut kill, Duration::from_secs(5)).expect_success();
        }
    }

    /// The URL of a path.
    #[must_use]
    pub fn url(&self, reach: &Reach<'_>, path: &str) -> String {
        let port = match reach {
            Reach::Clear => self.clear,
            Reach::Tls(_) => self.tls,
        };
        reach.url(port, path)
    }

    /// The two ways to reach it.
    #[must_use]
    pub fn ways(certificates: &Certificates) -> [Reach<'_>; 2] {
        [Reach::Clear, Reach::Tls(certificates)]
    }
}

/// Starts a server that chooses its ports and names them: `clear PORT` and `tls PORT`.
fn announced(command: &mut Command) -> (Program, u16, u16) {
    let mut program = Program::start(command);
    let port = |name| move |line: &str| line.strip_prefix(name)?.parse().ok();
    let clear = program.wait_for_line("names its clear text port", port("clear "));
    let tls = program.wait_for_line("names its TLS port", port("tls "));
    (program, clear, tls)
}
