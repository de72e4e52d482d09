//! The `alula` command: the first thing that a newcomer runs, and the first user of the library.
//!
//! Arguments are described once, in `args`; exit codes once, in `exit.rs`. Each subcommand has a file or a
//! folder of its own and answers with an [`Outcome`], which becomes the exit code and at most one sentence on
//! stderr.
#![forbid(unsafe_code)]

mod args;
mod demo;
mod echo;
mod failure;
mod fetch;
mod hooks;
mod hpack;
mod inspect;
mod listening;
mod manual;
mod random;
mod serve;
mod store;
mod terminal;
mod text;

use std::process::ExitCode;

use args::{Command, FetchArgs, HpackCommand};
use failure::exit::{Exit, Outcome};
use fetch::Plan;

/// Counts the allocations that the demo shows.
#[global_allocator]
static TALLY: alula_tally::Tally = alula_tally::Tally::system();

fn main() -> ExitCode {
    if manual::topics::is_printed() {
        return ExitCode::SUCCESS;
    }
    let mut exit = ExitCode::from(Exit::Whole);
    let mut is_whole = true;
    for mut args in args::Args::of_process() {
        let fails_early = args.command.options_mut().is_some_and(|options| options.transfer.fail_early);
        if let Err(failure) = run(args.command) {
            let code = failure.report();
            exit = if is_whole { code } else { exit };
            is_whole = false;
            if fails_early {
                break;
            }
        }
    }
    exit
}

fn run(command: Command) -> Outcome {
    match command {
        Command::Get(args) => fetch("GET", &args),
        Command::Head(args) => fetch("HEAD", &args),
        Command::Post(args) => fetch("POST", &args),
        Command::Put(args) => fetch("PUT", &args),
        Command::Patch(args) => fetch("PATCH", &args),
        Command::Delete(args) => fetch("DELETE", &args),
        Command::Options(args) => fetch("OPTIONS", &args),
        Command::Request(args) => fetch::run(Plan::of_any(&args), &args.options),
        Command::Echo(args) => echo::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Store(args) => store::run(&args),
        Command::Hpack(HpackCommand::Pipe) => hpack::pipe::run(),
        Command::Hpack(HpackCommand::Encode(args)) => hpack::story::encode(&args.files),
        Command::Hpack(HpackCommand::Decode(args)) => hpack::story::decode(&args.files),
        Command::Hpack(HpackCommand::Explain(args)) => inspect::explain_blocks(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    }
}

fn fetch(method: &str, args: &FetchArgs) -> Outcome {
    fetch::run(Plan::of(method, args), &args.options)
}
