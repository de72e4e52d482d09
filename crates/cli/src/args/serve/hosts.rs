//! `--host`: the names that a server without credentials answers to.

use std::net::IpAddr;

use alula::{OriginGuard, fields::Authority};
use clap::Args as ClapArgs;

use crate::args::ANY;

/// The content of 421.
const MISDIRECTED: &str = "this server answers for its addresses and localhost alone: start it with --host NAME to have it answer for a name";

/// The hosts that requests may name.
#[derive(ClapArgs, Debug)]
pub(crate) struct HostArgs {
    /// Answer requests for the host NAME as well; `*.NAME` is every name below it, and `*` any host.
    ///
    /// A server on a loopback address that lets everybody write answers requests for other hosts than IP
    /// addresses, localhost and names below that with 421: a web page of a name that leads to this machine
    /// could read and write here. A proxy that hands on the name that it was asked for takes --host with that
    /// name. A NAME that is given holds on other addresses too.
    #[arg(long = "host", value_name = "NAME", value_parser = host)]
    hosts: Vec<String>,
}

impl HostArgs {
    /// Returns true if `host` is checked: because of these flags, or because anybody who reaches this address
    /// may write.
    pub(crate) fn are_judged(&self, may_all_write: bool, address: IpAddr) -> bool {
        let is_any = self.hosts.iter().any(|host| host == ANY);
        !is_any && (!self.hosts.is_empty() || may_all_write && address.to_canonical().is_loopback())
    }

    /// Makes a guard accept requests for these hosts, or for local ones.
    pub(crate) fn added_to(&self, guard: OriginGuard) -> OriginGuard {
        let names = self.hosts.iter().map(|host| &**host);
        guard.local_hosts().hosts(names).misdirected(MISDIRECTED)
    }
}

/// Parses a name without a port, a name that begins with `*.`, or `*`.
fn host(text: &str) -> Result<String, String> {
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_name = Authority::parse(name).is_ok_and(|it| it.port().is_none() && it.as_str() == it.host());
    let is_name = is_name && !name.contains('*');
    if name.starts_with('[') || name.parse::<IpAddr>().is_ok() {
        return Err(format!("requests for addresses are taken anyway; --listen {text} is where to listen"));
    }
    if text == ANY || is_name {
        return Ok(text.to_owned());
    }
    Err("a host is a name without a port, such as a.example, *.a.example or *".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_meant_to_listen_on() {
        for text in ["0.0.0.0", "::1", "[::]"] {
            assert!(host(text).unwrap_err().contains(&format!("--listen {text}")));
        }
    }

    #[test]
    fn hosts_have_no_ports() {
        for text in ["a.example", "*.a.example", "*", "localhost", "A.example."] {
            assert_eq!(host(text).as_deref(), Ok(text));
        }
        for text in
            ["", "a.example:80", "a.example:", "http://a.example", "a/b", "*.", "*.*", "a.*", "**", "a b"]
        {
            assert!(host(text).is_err(), "{text}");
        }
    }
}
