//! Proxies: tinyproxy for HTTP, stunnel for TLS before it, microsocks for SOCKS5.

use std::process::Command;

use crate::certificates::Certificates;
use crate::folder::Folder;
use crate::ports;
use crate::program::Program;

/// Who may go by a proxy, where not everybody may.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    /// The name.
    pub user: &'static str,
    /// The password.
    pub password: &'static str,
}

/// A proxy that runs.
pub struct Proxy {
    port: u16,
    program: Program,
    /// Its configuration, and what it stands before.
    _folder: Folder,
    _behind: Option<Box<Self>>,
}

impl Proxy {
    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What it has written about those who came by.
    #[must_use]
    pub fn output(&self) -> String {
        self.program.output()
    }

    fn start(command: &mut Command, port: u16, folder: Folder, behind: Option<Box<Self>>) -> Self {
        let mut program = Program::start(command);
        program.wait_for_port(port);
        Self { port, program, _folder: folder, _behind: behind }
    }
}

/// tinyproxy, for everybody or for one account.
///
/// # Panics
/// When it is not there or does not listen.
#[must_use]
pub fn http(account: Option<Account>) -> Proxy {
    let (port, folder) = (ports::free(), Folder::new());
    let only = account.map(|Account { user, password }| format!("BasicAuth {user} {password}\n"));
    let text = format!(
        "Port {port}\nListen 127.0.0.1\nTimeout 60\nLogLevel Connect\nMaxClients 50\n{}",
        only.unwrap_or_default()
    );
    let configuration = folder.write("tinyproxy.conf", text);
    let mut command = Command::new("tinyproxy");
    Proxy::start(command.arg("-d").arg("-c").arg(configuration), port, folder, None)
}

/// stunnel, with another tinyproxy behind it.
///
/// # Panics
/// As [`http`].
#[must_use]
pub fn https(certificates: &Certificates) -> Proxy {
    let (behind, port, folder) = (http(None), ports::free(), Folder::new());
    let text = format!(
        "foreground = yes\npid =\n[proxy]\naccept = 127.0.0.1:{port}\nconnect = 127.0.0.1:{}\ncert = {}\nkey = {}\n",
        behind.port,
        certificates.certificate().display(),
        certificates.key().display()
    );
    let configuration = folder.write("stunnel.conf", text);
    Proxy::start(Command::new("stunnel4").arg(configuration), port, folder, Some(Box::new(behind)))
}

/// microsocks, for everybody or for one account.
///
/// # Panics
/// As [`http`].
#[must_use]
pub fn socks(account: Option<Account>) -> Proxy {
    let port = ports::free();
    let mut command = Command::new("microsocks");
    command.args(["-i", "127.0.0.1", "-p", &port.to_string()]);
    if let Some(Account { user, password }) = account {
        command.args(["-u", user, "-P", password]);
    }
    Proxy::start(&mut command, port, Folder::new(), None)
}
