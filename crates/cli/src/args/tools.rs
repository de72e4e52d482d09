//! What the codec, the demo, completions and the manual take.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use clap_complete::Shell;

use super::values::demo_seconds;
use crate::exit;

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
}

#[derive(ClapArgs, Debug)]
pub(crate) struct StoryArgs {
    /// Story files; stdin when there is none.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct DemoArgs {
    /// How long the six runs take together, about.
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
