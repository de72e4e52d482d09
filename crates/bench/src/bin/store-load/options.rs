//! The command line.

use std::path::PathBuf;

/// All of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    pub(crate) command: Command,
    pub(crate) clients: u64,
    pub(crate) steps: u64,
    pub(crate) mix: Mix,
    /// Objects of each client for reads only.
    pub(crate) keys: u64,
    pub(crate) is_filled: bool,
    pub(crate) has_queries: bool,
    pub(crate) is_http2: bool,
    /// Clients that share a connection.
    pub(crate) per_connection: u64,
    /// Many objects, and the bytes of each.
    pub(crate) objects: u64,
    pub(crate) bytes: usize,
    pub(crate) seed: u64,
    pub(crate) bucket: String,
    pub(crate) is_json: bool,
}

/// The work.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    /// Against the server of this address, as the rest.
    Play(String),
    /// Many objects in random order.
    Fill(String),
    /// Random ones of these.
    Read(String),
    /// Their keys, in a stream.
    List(String),
    /// Into this folder.
    Export(PathBuf),
}

/// The part of the workload that is played.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Mix {
    All,
    Get,
    Put,
}

impl Options {
    fn new(command: Command) -> Self {
        Self {
            command,
            clients: 12,
            steps: 20_000,
            mix: Mix::All,
            keys: 1_000,
            is_filled: false,
            has_queries: true,
            is_http2: false,
            per_connection: 1,
            objects: 1_000_000,
            bytes: 1024,
            seed: 1,
            bucket: "load".to_owned(),
            is_json: false,
        }
    }

    /// None: the arguments are not understood.
    pub(crate) fn parse(args: &[&str]) -> Option<Self> {
        let (command, flags) = match args {
            ["play", address, flags @ ..] => (Command::Play((*address).to_owned()), flags),
            ["fill", address, flags @ ..] => (Command::Fill((*address).to_owned()), flags),
            ["read", address, flags @ ..] => (Command::Read((*address).to_owned()), flags),
            ["list", address, flags @ ..] => (Command::List((*address).to_owned()), flags),
            ["export", folder, flags @ ..] => (Command::Export(folder.into()), flags),
            _ => return None,
        };
        let mut options = Self::new(command);
        let mut flags = flags.iter().copied();
        while let Some(flag) = flags.next() {
            options.take(flag, &mut flags)?;
        }
        let has_clients = options.clients > 0 && options.per_connection > 0;
        let has_work = has_clients && options.steps > 0 && options.keys > 0 && options.objects > 0;
        has_work.then_some(options)
    }

    fn take<'a>(&mut self, flag: &str, rest: &mut impl Iterator<Item = &'a str>) -> Option<()> {
        let mut value = || rest.next();
        match flag {
            "--clients" => self.clients = value()?.parse().ok()?,
            "--steps" => self.steps = value()?.parse().ok()?,
            "--mix" => self.mix = Mix::parse(value()?)?,
            "--keys" => self.keys = value()?.parse().ok()?,
            "--filled" => self.is_filled = true,
            "--no-queries" => self.has_queries = false,
            "--http2" => self.is_http2 = true,
            "--per-connection" => self.per_connection = value()?.parse().ok()?,
            "--objects" => self.objects = value()?.parse().ok()?,
            "--bytes" => self.bytes = value()?.parse().ok()?,
            "--seed" => self.seed = value()?.parse().ok()?,
            "--bucket" => self.bucket = value()?.to_owned(),
            "--json" => self.is_json = true,
            _ => return None,
        }
        Some(())
    }

    /// The name of a client's bucket.
    pub(crate) fn bucket_of(&self, client: u64) -> String {
        format!("{}-{client}", self.bucket)
    }
}

impl Mix {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "all" => Self::All,
            "get" => Self::Get,
            "put" => Self::Put,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_understood_or_refused() {
        let options = Options::parse(&["play", "a:1", "--clients", "64", "--mix", "get", "--no-queries"]);
        let options = options.expect("valid");
        assert_eq!((options.clients, options.mix, options.has_queries), (64, Mix::Get, false));
        for args in [&["play"][..], &["play", "a:1", "--steps"], &["play", "a:1", "--mix", "some"]] {
            assert_eq!(Options::parse(args), None);
        }
        assert_eq!(Options::parse(&["play", "a:1", "--clients", "0"]), None);
    }
}
