//! `store-load`: the workload of an object store that speaks Riak's HTTP API, against any server that speaks
//! this much of it.
//!
//! ```text
//! cargo build --release -p alula-bench --bin store-load
//! store-load play 127.0.0.1:8098 --clients 12 --steps 20000          # all of it
//! store-load play 127.0.0.1:8098 --no-queries                        # a server without indexes to query and without properties
//! store-load play 127.0.0.1:8098 --mix get --keys 1000               # each client writes 1000 objects, then only reads them
//! store-load play 127.0.0.1:8098 --mix get --keys 1000 --filled      # the same of a server that has them
//! store-load play 127.0.0.1:8098 --mix put                           # only new objects
//! store-load export FOLDER --clients 12 --keys 1000                  # these objects as files, FOLDER/buckets/load-0/keys/K00000000 and so on
//! ```
//!
//! A server answers `PUT` and `GET` of `/buckets/BUCKET/keys/KEY` with 204 and 200. It keeps `content-type`,
//! `x-riak-meta-*` and `x-riak-index-*`, returns them with the object in any order and any case, each index
//! as one field or as several, and gives an object a context in `x-riak-vclock`, with which the object is
//! written back. Every answer is checked: its status, its bytes, the number of index entries before an
//! update, and the keys of a query. The first that is wrong ends the program with status 1.
#![forbid(unsafe_code)]

mod client;
mod export;
mod failure;
mod many;
mod options;
mod play;
mod report;
mod times;

use std::process::ExitCode;

use failure::Failure;
use options::{Command, Options};
use play::Figures;

const USAGE: &str = "\
Usage: store-load play ADDRESS [OPTIONS]
       store-load fill|read|list ADDRESS [OPTIONS]
       store-load export FOLDER [OPTIONS]

  play    The workload of an object store: writes, reads, updates and queries
  fill    Many objects in random order, in one bucket
  read    Reads random ones of them, --steps by each client
  list    Lists their keys in a stream
  export  The objects of `play --mix get --filled` as files

Options:
  --clients N       Clients, each with a connection and a bucket of its own (12)
  --steps N         Steps of each client (20000)
  --mix all|get|put The workload, or only reads of objects that each client writes first, or only new objects (all)
  --keys N          Objects of each client for reads only (1000)
  --filled          The objects for reads only are there
  --no-queries      No index query; a server need not have properties of buckets
  --http2           HTTP/2 by prior knowledge, in place of HTTP/1.1
  --per-connection N  So many clients share a connection of HTTP/2; not for play (1)
  --objects N       Objects of fill, read and list (1000000)
  --bytes N        Bytes of each (1024)
  --seed N          Another order of reads and other bytes (1)
  --bucket PREFIX   Buckets are called PREFIX-0, PREFIX-1 and so on (load)
  --json            Prints figures as one line of JSON
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let Some(options) = Options::parse(&args) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("store-load: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    match &options.command {
        Command::Export(folder) => export::export(folder, options),
        Command::Play(address) => tell(one_thread().block_on(play::play(address, options))?, options),
        Command::Fill(address) => tell(one_thread().block_on(many::fill(address, options))?, options),
        Command::Read(address) => tell(one_thread().block_on(many::read(address, options))?, options),
        Command::List(address) => {
            let (keys, elapsed) = one_thread().block_on(many::list(address, options))?;
            println!("{keys} keys in {:.3} s", elapsed.as_secs_f64());
            Ok(())
        }
    }
}

fn tell(figures: Figures, options: &Options) -> Result<(), Failure> {
    print!("{}", if options.is_json { report::json(&figures) } else { report::text(&figures) });
    Ok(())
}

/// All clients share a thread, which leaves the other cores to the server.
fn one_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}
