//! Other HTTP stacks in Rust at the work of `crates/bench`, one peer and one kind of work at a time.
//!
//! `cargo xtask bench` runs it. A unit of work is what a unit of the workload of that name is in
//! `crates/bench`.
#![forbid(unsafe_code)]

mod clients;
mod floor;
mod hold;
mod hpack;
mod measure;
mod memory;
mod servers;

use std::process::ExitCode;

use crate::clients::asking::Asking;
use crate::measure::Run;
use crate::memory::{created, fields, routers};
use crate::servers::works;

const USAGE: &str = "\
Usage: alula-bench-peers PEER WORK UNITS LISTS PORT   Prints nanoseconds, and those of the CPU
       alula-bench-peers PEER serve[-h1][-split]      Prints the port and serves until the standard input ends
       alula-bench-peers hyper|axum works WORK h1|h2 SITE [CERTIFICATE KEY]
                                                      The same, at one of the works of works.rs
       alula-bench-peers hold ...                     Connections that wait: see hold.rs
       alula-bench-peers floor ...                    Bare sockets: see floor.rs
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match dispatch(&args) {
        Some(()) => ExitCode::SUCCESS,
        None => {
            eprint!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}

/// None: the arguments are not understood.
fn dispatch(args: &[&str]) -> Option<()> {
    match args {
        ["hold", rest @ ..] => hold::dispatch(rest)?,
        ["floor", rest @ ..] => floor::dispatch(rest)?,
        ["hyper", "serve"] => servers::hyper(),
        ["hyper", "serve-h1"] => servers::hyper_http1(),
        ["hyper", "serve-split"] => servers::hyper_echo(),
        ["hyper", "serve-h1-split"] => servers::hyper_http1_echo(),
        ["axum", "serve"] => servers::axum(),
        ["hyper", "works", rest @ ..] => works::parse(rest)?.hyper(),
        ["axum", "works", rest @ ..] => works::parse(rest)?.axum(),
        [peer, work, units, lists, port] => {
            let run = prepared(peer, work, lists, port.parse().ok()?)?;
            measure::measured(run, work, units.parse().ok()?);
        }
        _ => return None,
    }
    Some(())
}

fn prepared(peer: &str, work: &str, lists: &str, port: u16) -> Option<Run> {
    let (kind, case) = work.split_once('-').unwrap_or((work, ""));
    Some(match (peer, kind) {
        ("h2", "encode") => hpack::h2::encode(case),
        ("h2", "decode") => hpack::h2::decode(lists, case),
        ("fluke-hpack", "encode") => hpack::fluke::encode(case),
        ("fluke-hpack", "decode") => hpack::fluke::decode(lists, case),
        ("httlib-hpack", "encode") => hpack::httlib::encode(case),
        ("httlib-hpack", "decode") => hpack::httlib::decode(lists, case),
        ("h2", "created") if case == "alone" => created::alone(),
        ("h2", "created") => created::h2(),
        ("hyper", "created") => created::hyper(),
        ("http", "fields") if case == "known" => fields::known(),
        ("http", "fields") => match case.strip_suffix("-cleared") {
            Some(case) => fields::same_map(case),
            None => fields::new_map(case),
        },
        ("hyper", "fields") => fields::builder(case),
        ("matchit", "routes") => routers::matchit(case),
        ("path-tree", "routes") => routers::path_tree(case),
        ("http", "method") => fields::connect(),
        ("h2", "client") => clients::h2::run(Asking::parse(case), port),
        ("hyper", "client") => clients::hyper::run(Asking::parse(case), port),
        ("hyper-util", "client") => clients::hyper_util::run(Asking::parse(case), port),
        ("reqwest", "client") => clients::reqwest::run(Asking::parse(case), port),
        ("ureq", "client") => clients::ureq::run(Asking::parse(case), port),
        ("libcurl", "client") => clients::curl::run(Asking::parse(case), port),
        _ => return None,
    })
}
