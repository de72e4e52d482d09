//! `cargo xtask`: what CI runs, and what keeps generated files fresh.
//!
//! `cargo xtask test` installs the peers that are missing, then runs every stage and prints their seconds.
#![forbid(unsafe_code)]

mod bench;
mod command;
mod costs;
mod long;
mod package;
mod peers;
mod stages;
mod tools;
mod written;

use std::process::ExitCode;

use anyhow::{Result, bail};

use long::{browser, fuzz, loom, slow, soak};
use written::{api, interop, limits, lines, suffixes};

const USAGE: &str = "\
Usage: cargo xtask <COMMAND>

Commands:
  test [--no-peers]   Install what is missing, then run all stages: what CI runs
                      --no-peers: install nothing, skip the tests against other programs
  browser             Install Chromium if it is missing, load a page with 50 images from `alula serve` in it,
                      hold what it saw against what was served, and leave target/browser.png
  browser --store     Have pages of other origins try to read and write an `alula store`, and stored pages to run scripts;
                      with ALULA_BIN in the environment, of that program
  api [--write]       Compare the public API with docs/api/alula.txt, or write it there
  costs [--check | --write [PREFIX] [--because REASON] | --profile WORKLOAD]
                      Count instructions and allocations, and print the table; or compare with the fewest that were
                      ever recorded; or record them, and the rows of docs/performance.md; or say where they go
  bench [--only PEER] [--quick] [--no-instructions] [--start] [--write]
                      Install and build other stacks, and compare Alula with them, or with one of them, in one run;
                      the whole run writes docs/figures and docs/plots, any other when told to;
                      --start: only `alula get` beside curl, from the start of the program to its end
  bench --draw        Draw the plots again from docs/figures
  bench --servers [--quick] [--only PEER] [--rounds N] [--write]
                      Compare servers at three works under h2load and wrk: about an hour, with --quick a quarter of it
  bench --idle [--write]
                      Measure the memory of connections that wait, of servers and clients, in ten minutes
  bench --growth [--quick] [--write]
                      Measure servers with ever more connections and streams: half an hour, with --quick five minutes
  bench --store [--rounds N | --counts] [--write]
                      Measure `alula store` under the workload of an object store; --counts: only what does not depend on time
  bench --store-million [--write]
                      Fill it with a million objects on disk, read, list and restart it: about three minutes and 3 GiB
  bench --store-peers [--quick] [--only PEER] [--write]
                      Compare `alula store` with a store on axum and with files of nginx: about four minutes
  features            Compile every published crate without features, and with each alone
  fuzz [TARGET] [--minutes N]
                      Run every target of fuzz/, or one, for N minutes each (1 by default), with a nightly toolchain
  interop [--write]   Print the interop matrix, or write it to docs/interop.md
  limits --write      Write the table of limits in docs/limits.md, which a test compares with the sources
  lines [FOLDER]      Count the lines of code of each crate, of this clone or of the one in FOLDER: product, tests, tools
  loom                Try the hand-over of a connection between threads in every order up to a bound
  prepare [--no-peers]
                      Build what the stages after the tests need, which `test` runs beside them
  package             Build the program as users install it, its manual and completions, and target/package/alula.deb
  slow [--seconds N]  Install slowhttptest if it is missing, and hold 1 000 connections of `alula serve` and `alula echo`
                      by slow heads, slow bodies and slow reading for N seconds each (60 by default), while others ask
  soak [--requests N] Millions of requests over loopback: answers right, memory and descriptors flat
  soak --simulation [--runs N] [--seed N] [--http1 | --http2] [--trace]
                      Runs on simulated time over a faulty network, each decided by its seed
  soak --store [--kills N] [--images N] [--causality RUNS]
                      The store's engine on disk: 500 processes killed, 1 000 folders that a loss of power left, and
                      2 000 runs of each test of causality; with flags only what they name
  suffixes [--write]  Compare the table of public suffixes with the list in the crate psl, or write it
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match dispatch(&args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[&str]) -> Result<ExitCode> {
    match args {
        ["test"] => Ok(stages::test(true)),
        ["test", "--no-peers"] => Ok(stages::test(false)),
        ["api"] => api::check(),
        ["api", "--write"] => api::write(),
        ["browser"] => browser::command(),
        ["browser", "--store"] => browser::store_command(),
        ["costs", rest @ ..] => costs::command(rest),
        ["bench", rest @ ..] => bench::command(rest),
        ["features"] => stages::features(),
        ["fuzz", rest @ ..] => fuzz::command(rest),
        ["interop"] => interop::print(),
        ["interop", "--write"] => interop::write(),
        ["limits", "--write"] => limits::write(),
        ["lines", rest @ ..] => lines::command(rest),
        ["loom"] => loom::command(),
        ["package"] => package::command(),
        ["prepare"] => stages::prepare(true),
        ["prepare", "--no-peers"] => stages::prepare(false),
        ["suffixes"] => suffixes::check(),
        ["suffixes", "--write"] => suffixes::write(),
        ["slow", rest @ ..] => slow::command(rest),
        ["soak", rest @ ..] => soak::command(rest),
        [] | ["help" | "-h" | "--help"] => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        other => bail!("`{}` is not a command\n\n{USAGE}", other.join(" ")),
    }
}
