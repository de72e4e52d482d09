//! The flags for the output of a response.

use std::path::PathBuf;

use clap::{ArgAction, ArgMatches, Args as ClapArgs, ValueEnum};

use super::{content::places, layout::LayoutArgs};
use crate::args::values::{From, offset};

/// The number of URLs that -Z requests at once by default, as in curl.
pub(in crate::args) const PARALLEL_MAX: u16 = 50;

#[derive(ClapArgs, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write the content to this file.
    ///
    /// It is made when the response begins. With several URLs the first -o or -O is for the first URL, and so
    /// on; `#1` in its name is what the first `{…}` or `[…]` of the URL stands for. `-` is stdout, also for
    /// what no terminal should see.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,

    /// Write the content to a file named like the last part of the URL.
    ///
    /// Its name is the last part of the URL's path, without its escapes. Each of several URLs
    /// needs its own -O, or --remote-name-all.
    #[arg(short = 'O', long, action = ArgAction::Append, num_args = 0, default_missing_value = "true")]
    pub(crate) remote_name: Vec<bool>,

    /// Apply -O to each URL that has no -o.
    #[arg(long, hide_short_help = true)]
    pub(crate) remote_name_all: bool,

    /// With -O, name the file as the response says.
    ///
    /// It is named so (RFC 6266) if the name is harmless. The file is a new one: what is there, if only a
    /// link, is left alone.
    #[arg(short = 'J', long, hide_short_help = true, conflicts_with = "continue_at")]
    pub(crate) remote_header_name: bool,

    /// Put the files of -o and -O in this folder.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) output_dir: Option<PathBuf>,

    /// Make the folders that the file's path needs.
    #[arg(long, hide_short_help = true)]
    pub(crate) create_dirs: bool,

    /// Continue a download; `-` goes on where it stopped.
    ///
    /// Ask for what comes after this many bytes, or after those that the file has (`-`), and append it.
    /// Fails when the server sends anything else than the rest. Not with -J: the file is one that you name.
    #[arg(short = 'C', long, value_name = "BYTES", value_parser = offset, allow_hyphen_values = true)]
    pub(crate) continue_at: Option<From>,

    /// Print the head of the response, too.
    ///
    /// The status and the fields come before the content, wherever that goes, and trailers behind it.
    #[arg(short, long)]
    pub(crate) include: bool,

    /// Print these parts of the exchange.
    ///
    /// H and B are the head and the content of the request, h and b those of the response, and m is the time
    /// that it took. Without it both of the response are printed on a terminal, and its content elsewhere.
    #[arg(short, long, value_name = "HBhbm", value_parser = parts, hide_short_help = true)]
    pub(crate) print: Option<String>,

    /// Lay out and colour what is shown.
    ///
    /// This is done on a terminal, and elsewhere when it is given outright; or one of the two, or neither.
    #[arg(long, value_name = "WHAT", hide_short_help = true)]
    pub(crate) pretty: Option<Pretty>,

    /// Colour what is shown: on a terminal unless NO_COLOR is set, always, or never.
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    pub(crate) color: ColorWhen,

    /// Print this afterwards, such as `%{http_code}`.
    ///
    /// It may have `%{http_code}`, `%{size_download}`, `%{time_total}`, `%{url_effective}`, `%header{NAME}`,
    /// `%{json}`, `\n` and the others that curl has; `@FILE` has the text, `@-` is stdin. A name that means
    /// nothing is reported and skipped.
    #[arg(short, long, value_name = "TEXT|@FILE", allow_hyphen_values = true)]
    pub(crate) write_out: Option<String>,

    /// Print when each step was done.
    ///
    /// The steps are: redirects followed and tries that failed, and of the last exchange the host looked up,
    /// connected, TLS agreed, the request sent, the head of the response there, and the end of its content.
    #[arg(long)]
    pub(crate) timing: bool,

    /// Fail when the status is 400 or above.
    ///
    /// The exit code is one of its own, and the content is not written.
    #[arg(short, long)]
    pub(crate) fail: bool,

    /// As -f, but do write the content.
    #[arg(long, conflicts_with = "fail", hide_short_help = true)]
    pub(crate) fail_with_body: bool,

    /// Write the status, the fields and the trailers of the response to this file; `-` is stdout.
    #[arg(short = 'D', long, value_name = "FILE", hide_short_help = true)]
    pub(crate) dump_header: Option<PathBuf>,

    /// Show neither progress nor errors.
    ///
    /// A transfer that fails is told by the exit code alone. Mistakes in the arguments are still said.
    #[arg(short, long)]
    pub(crate) silent: bool,

    /// With -s, still show errors.
    #[arg(short = 'S', long)]
    pub(crate) show_error: bool,

    /// Print the request as a line for curl, and send nothing.
    #[arg(long, hide_short_help = true)]
    pub(crate) print_curl: bool,

    /// End with these exit codes; `alula help get` has Alula's own.
    #[arg(long, value_name = "WHOSE", default_value = "alula", hide_short_help = true)]
    pub(crate) exit_codes: ExitCodes,

    /// Show connections and heads; -vv also frames.
    ///
    /// On stderr: addresses, connections and TLS (`*`), the head of each request as it is sent (`>`), and
    /// each head that comes (`<`), those of redirects and interim responses included, and trailers.
    /// Credentials and the values of queries are not shown unless by --show-secrets. With -vv also each frame
    /// of HTTP/2, as a line.
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    /// With -v and --trace, show credentials and the values of queries too.
    #[arg(long, hide_short_help = true)]
    pub(crate) show_secrets: bool,

    /// Write what is done, each frame, and the bytes that are sent and that come to this file.
    ///
    /// It has the form of curl's; `-` is stdout and `%` stderr. Credentials are hidden in heads unless by
    /// --show-secrets. `alula inspect` explains it.
    #[arg(long, value_name = "FILE", conflicts_with = "trace_ascii", hide_short_help = true)]
    pub(crate) trace: Option<PathBuf>,

    /// As --trace, in characters alone.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) trace_ascii: Option<PathBuf>,

    /// Begin each line of --trace with the time of day, in UTC.
    #[arg(long, hide_short_help = true)]
    pub(crate) trace_time: bool,

    /// Write content as it comes; this is what is done without the flag.
    #[arg(short = 'N', long, hide = true)]
    pub(crate) no_buffer: bool,

    /// Show no progress; errors are still shown.
    #[arg(long, hide_short_help = true)]
    pub(crate) no_progress_meter: bool,

    /// Flags of curl that change nothing here.
    #[command(flatten)]
    pub(crate) habits: Habits,

    /// Show progress as a bar of hash signs, as curl does, also where stderr is no terminal.
    #[arg(short = '#', long, hide_short_help = true)]
    pub(crate) progress_bar: bool,

    /// Ask all URLs at once, up to --parallel-max of them.
    ///
    /// The contents are mixed on stdout as they come. Without the flag one URL is asked after the other. On a
    /// terminal that no content goes to, one line shows the progress of all.
    #[arg(short = 'Z', long, hide_short_help = true)]
    pub(crate) parallel: bool,

    /// With -Z, ask so many URLs at once.
    #[arg(long, value_name = "COUNT", default_value_t = PARALLEL_MAX, value_parser = clap::value_parser!(u16).range(1..), hide_short_help = true)]
    pub(crate) parallel_max: u16,

    #[command(flatten)]
    pub(crate) layout: LayoutArgs,

    /// The trace is appended to a file that an earlier run began.
    #[arg(skip)]
    pub(crate) trace_goes_on: bool,

    /// The values of -o and the places of -O, in the order in which they were given.
    #[arg(skip)]
    pub(crate) names: Vec<OutputName>,

    /// The content is kept in a new file.
    #[arg(skip)]
    pub(crate) is_download: bool,
}

/// The name of the file for one URL.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum OutputName {
    Given(PathBuf),
    /// The last segment of the URL's path.
    Remote,
}

impl OutputArgs {
    /// Puts the names in the order in which they were given; each kind is known by itself.
    pub(in crate::args) fn order(&mut self, matches: &ArgMatches) {
        let given = places(matches, "output").into_iter();
        let given = given.zip(self.output.iter().cloned().map(OutputName::Given));
        let remote = places(matches, "remote_name").into_iter().map(|place| (place, OutputName::Remote));
        let mut all: Vec<_> = given.chain(remote).collect();
        all.sort_by_key(|(place, _)| *place);
        self.names = all.into_iter().map(|(_, name)| name).collect();
    }

    /// Returns true if the content of some response goes to a file.
    pub(crate) fn has_files(&self) -> bool {
        let is_file = |name: &OutputName| !matches!(name, OutputName::Given(path) if path.as_os_str() == "-");
        self.is_download || self.remote_name_all || self.names.iter().any(is_file)
    }

    /// Returns the name for the URL at this place, if it has one.
    pub(crate) fn name(&self, place: usize) -> Option<&OutputName> {
        self.names.get(place).or(self.remote_name_all.then_some(&OutputName::Remote))
    }
}

/// Flags that scripts for curl have, and that change nothing here.
#[derive(ClapArgs, Debug)]
pub(crate) struct Habits {
    /// Credentials are sent by the scheme Basic.
    #[arg(long, hide = true)]
    basic: bool,
    /// As the first flag, read no arguments from ~/.alularc.
    #[arg(short = 'q', long, hide_short_help = true)]
    disable: bool,
    /// Small writes leave at once.
    #[arg(long, hide = true)]
    tcp_nodelay: bool,
    /// --retry does so.
    #[arg(long, hide = true)]
    retry_connrefused: bool,
    /// https:// is always TLS, and http:// never.
    #[arg(long, hide = true)]
    ssl_reqd: bool,
    /// Revoked certificates are asked for on Windows only.
    #[arg(long, hide = true)]
    ssl_no_revoke: bool,
    /// FTP knows text apart from bytes.
    #[arg(short = 'B', long, hide = true)]
    use_ascii: bool,
    /// Proxies are asked by the scheme Basic.
    #[arg(long, hide = true)]
    proxy_basic: bool,
    /// Neither is spoken: it was the forerunner of ALPN.
    #[arg(long, hide = true)]
    no_npn: bool,
    /// Connections are opened when they are needed.
    #[arg(long, hide = true)]
    parallel_immediate: bool,
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
    /// The content as it came.
    None,
}

/// Whose exit codes the program ends with.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ExitCodes {
    /// The codes that `alula help exit-codes` has.
    Alula,
    /// The codes of curl, for scripts that know them.
    Curl,
    /// The codes of HTTPie: 2 for a deadline, 3 to 5 for statuses, 6 for too many redirects, else 1.
    Httpie,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless the environment says otherwise.
    Auto,
    /// Wherever it goes.
    Always,
    /// Nowhere.
    Never,
}

fn parts(text: &str) -> Result<String, String> {
    match text.chars().all(|part| "HBhbm".contains(part)) {
        true => Ok(text.to_owned()),
        false => Err("made of the letters H, B, h, b and m".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn parts_are_five_letters_in_any_order() {
        assert!(parts("HBhb").is_ok() && parts("mb").is_ok() && parts("").is_ok());
        assert!(parts("x").is_err() && parts("hbM").is_err());
    }
}
