//! Where a response goes, and what of it is shown how.

use std::path::PathBuf;

use clap::{ArgAction, Args as ClapArgs, ValueEnum};

use super::values::{From, offset};

#[derive(ClapArgs, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write the content to this file instead of stdout. It is made when the response begins. With several URLs the first
    /// file is for the first URL, and so on. `-` is stdout, also for what no terminal should see.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,

    /// Write the content to a file named as the last part of the URL's path, without its escapes; this is for each URL that has
    /// no -o.
    #[arg(short = 'O', long, action = ArgAction::Count)]
    pub(crate) remote_name: u8,

    /// With -O, name the file as the response says (RFC 6266), if it says a name that is harmless. The file is a new one: what is
    /// there, if only a link, is left alone.
    #[arg(short = 'J', long, requires = "remote_name", conflicts_with = "continue_at")]
    pub(crate) remote_header_name: bool,

    /// Put the files of -o and -O in this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,

    /// Make the folders that the file's path needs.
    #[arg(long)]
    pub(crate) create_dirs: bool,

    /// Go on with a file that is there in part: ask for what comes after this many octets, or after those that the file has
    /// (`-`), and append it. Fails when the server sends anything else than the rest. Not with -J: the file is one that you name.
    #[arg(short = 'C', long, value_name = "OCTETS", value_parser = offset, allow_hyphen_values = true)]
    pub(crate) continue_at: Option<From>,

    /// Print the status and the fields of the response before its content, wherever that goes.
    #[arg(short, long)]
    pub(crate) include: bool,

    /// Print these parts of the exchange: H and B the head and the content of the request, h and b those of the response.
    /// Without it both of the response on a terminal, and its content elsewhere.
    #[arg(short, long, value_name = "HBhb", value_parser = parts)]
    pub(crate) print: Option<String>,

    /// Lay out and colour what is shown on a terminal, or do one of the two, or neither. Given outright, it is done elsewhere
    /// too.
    #[arg(long, value_name = "WHAT")]
    pub(crate) pretty: Option<Pretty>,

    /// Colour what is shown: on a terminal unless NO_COLOR is set, always, or never.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorWhen,

    /// Print this after the response: `%{http_code}`, `%{size_download}`, `%{time_total}`, `%{url_effective}`,
    /// `%header{NAME}`, `%{json}`, `\n` and the others that curl has; `@FILE` has the text, `@-` is stdin. A name that means
    /// nothing is reported and skipped.
    #[arg(short, long, value_name = "TEXT|@FILE", allow_hyphen_values = true)]
    pub(crate) write_out: Option<String>,

    /// Print on stderr when each step was done: the host looked up, connected, TLS agreed, the request sent, the head of the
    /// response there, and the end of its content.
    #[arg(long)]
    pub(crate) timing: bool,

    /// Fail, with a code of its own, when the status is 400 or above, and do not write the content.
    #[arg(short, long)]
    pub(crate) fail: bool,

    /// As -f, but do write the content.
    #[arg(long, conflicts_with = "fail")]
    pub(crate) fail_with_body: bool,

    /// Write the status and the fields of the response to this file; `-` is stdout.
    #[arg(short = 'D', long, value_name = "FILE")]
    pub(crate) dump_header: Option<PathBuf>,

    /// Say nothing on stderr: no progress, and no error but by the exit code.
    #[arg(short, long)]
    pub(crate) silent: bool,

    /// With -s, still say what went wrong.
    #[arg(short = 'S', long)]
    pub(crate) show_error: bool,

    /// Print the request as a line for curl, and send nothing.
    #[arg(long)]
    pub(crate) print_curl: bool,

    /// End with these exit codes; `alula help get` has Alula's own.
    #[arg(long, value_name = "WHOSE", default_value = "alula")]
    pub(crate) exit_codes: ExitCodes,

    /// Print on stderr what happens: addresses, connections and TLS (`*`), the head of each request as it is sent (`>`), and
    /// each head that comes (`<`), those of redirects and interim responses included. Credentials are not shown. With -vv also each
    /// frame of HTTP/2, as a line.
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    /// Write content as it comes; this is what is done without the flag.
    #[arg(short = 'N', long, hide = true)]
    pub(crate) no_buffer: bool,
}

/// What is done for the eye.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Pretty {
    /// JSON laid out and everything coloured.
    All,
    /// Colours only.
    Colors,
    /// JSON laid out, without colours.
    Format,
    /// What came, as it came.
    None,
}

/// Whose exit codes the program ends with.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ExitCodes {
    /// Alula's.
    Alula,
    /// Those of curl, for scripts that know them.
    Curl,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless the environment says otherwise.
    Auto,
    /// Wherever it goes.
    Always,
    /// Not at all.
    Never,
}

fn parts(text: &str) -> Result<String, String> {
    match text.chars().all(|part| "HBhb".contains(part)) {
        true => Ok(text.to_owned()),
        false => Err("made of the letters H, B, h and b".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn parts_are_four_letters_in_any_order() {
        assert!(parts("HBhb").is_ok() && parts("b").is_ok() && parts("").is_ok());
        assert!(parts("x").is_err() && parts("hbm").is_err());
    }
}
