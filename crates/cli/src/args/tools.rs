//! The arguments of the codec, the demo, completions and the manual.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use clap_complete::Shell;

use super::values::durations::demo_seconds;
use crate::failure::exit;

#[derive(Debug, Subcommand)]
pub(crate) enum HpackCommand {
    /// Drive one codec by JSON lines: one command a line on stdin, one answer a line on stdout.
    #[command(long_about = crate::hpack::pipe::ABOUT)]
    Pipe,
    /// Encode the cases of JSON stories: fills `wire` from `headers`.
    #[command(long_about = crate::hpack::story::ABOUT_ENCODE, after_long_help = exit::table())]
    Encode(StoryArgs),
    /// Decode the cases of JSON stories: fills `headers` from `wire`, or compares them.
    #[command(long_about = crate::hpack::story::ABOUT_DECODE, after_long_help = exit::table())]
    Decode(StoryArgs),
    /// Explain header blocks, given in hexadecimal digits, one representation a line.
    ///
    /// The blocks follow each other in one direction of a connection, and share a dynamic table.
    #[command(after_help = EXPLAIN_EXAMPLES, after_long_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  alula hpack explain 828684410f7777772e6578616d706c652e636f6d
  alula hpack explain --table 4003616263016e be";

#[derive(ClapArgs, Debug)]
pub(crate) struct ExplainArgs {
    /// Header blocks in hexadecimal digits.
    #[arg(value_name = "HEX", required = true)]
    pub(crate) blocks: Vec<String>,

    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct InspectArgs {
    /// One direction of a connection, or each of both; `-` is stdin.
    ///
    /// Bytes as they are, or hexadecimal digits as `xxd`, `xxd -p`, `hexdump -C` and `curl --trace` write
    /// them. After lines that begin with `=>` come bytes of the client, and after those with `<=` bytes of
    /// the server.
    #[arg(value_name = "FILE", required = true, num_args = 1..=2)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// The parts of an explanation that are not always wanted.
#[derive(ClapArgs, Clone, Copy, Debug, Default)]
pub(crate) struct ShowArgs {
    /// List the dynamic table after each header block.
    #[arg(long)]
    pub(crate) table: bool,

    /// Show credentials and the values of cookies and queries.
    #[arg(long)]
    pub(crate) show_secrets: bool,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct StoryArgs {
    /// Story files; stdin when there is none.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct DemoArgs {
    /// The time that the six runs take together, about: seconds, or 1m.
    #[arg(long, default_value_t = 12.0, value_parser = demo_seconds)]
    pub(crate) seconds: f64,

    /// Print one JSON object instead of a display.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell they are for.
    pub(crate) shell: Shell,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ManArgs {
    /// The command the page is about; without it, the program.
    pub(crate) command: Option<String>,

    /// Write every page to this folder, as `alula.1`, `alula-get.1` and so on, instead of one to stdout.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
}
