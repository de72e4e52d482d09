//! The `alula` command: what a newcomer runs first, and the first user of the library.
//!
//! Arguments are described once, in `args.rs`; exit codes once, in `exit.rs`. Each subcommand has a file or a folder
//! of its own and answers with an [`Outcome`], which becomes the exit code and at most one sentence on stderr.
#![forbid(unsafe_code)]

mod args;
mod demo;
mod echo;
mod exit;
mod fetch;
mod hpack;
mod json;
mod listening;
mod serve;

use std::process::ExitCode;

use args::{Command, HpackCommand};
use clap::Parser as _;
use exit::{Exit, Outcome};

/// Counts what the demo shows.
#[global_allocator]
static TALLY: alula_tally::Tally = alula_tally::Tally::system();

fn main() -> ExitCode {
    match run(args::Args::parse().command) {
        Ok(()) => Exit::Whole.into(),
        Err(failure) => failure.report(),
    }
}

fn run(command: Command) -> Outcome {
    match command {
        Command::Get(args) => fetch::run("GET", &args, None),
        Command::Head(args) => fetch::run("HEAD", &args, None),
        Command::Post(args) => fetch::run("POST", &args.fetch, Some(&args.content)),
        Command::Put(args) => fetch::run("PUT", &args.fetch, Some(&args.content)),
        Command::Delete(args) => fetch::run("DELETE", &args.fetch, Some(&args.content)),
        Command::Echo(args) => echo::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Hpack(HpackCommand::Pipe) => hpack::pipe::run(),
        Command::Hpack(HpackCommand::Encode(args)) => hpack::story::encode(&args.files),
        Command::Hpack(HpackCommand::Decode(args)) => hpack::story::decode(&args.files),
        Command::Demo(args) => demo::run(&args),
    }
}
