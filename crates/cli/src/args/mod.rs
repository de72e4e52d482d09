//! Every command and every flag, described once: parsing, help, errors, completions and the manual come from
//! here.
//!
//! The flags of requests are grouped as the help groups them, a file for each group.

pub(crate) mod fetch;
pub(crate) mod parse;
pub(crate) mod serve;
mod store;
mod tools;
mod topic_list;
mod values;
mod version;

use std::{
    env,
    ffi::OsString,
    io::{IsTerminal as _, stdout},
    process,
};

use anstyle::Style as TextStyle;
use clap::{
    Command as Program, CommandFactory as _, Error, FromArgMatches as _, Parser, Subcommand,
    builder::Styles,
    error::{ContextKind, ErrorKind},
};

use crate::{
    failure::exit::{self, Failure},
    terminal::{COLUMNS, columns_of_help, wrapping::stacked},
};
pub(crate) use fetch::agreement::Suites;
pub(crate) use fetch::connection::{CertType, ConnectionArgs};
pub(crate) use fetch::content::{ContentArgs, FormPart, Piece};
pub(crate) use fetch::layout::{Layout, Style};
pub(crate) use fetch::output::{ColorWhen, ExitCodes, OutputArgs, OutputName, Pretty};
pub(crate) use fetch::request::{AnyArgs, FetchArgs, Options, RequestArgs};
pub(crate) use fetch::transfer::TransferArgs;
pub(crate) use parse::httpie::{HttpieArgs, Scheme};
pub(crate) use serve::servers::{EchoArgs, ListenArgs, ServeArgs};
pub(crate) use serve::watching::{ANY, Added, LineFormat, WatchArgs, section};
pub(crate) use store::{BucketType, EngineName, StoreArgs};
pub(crate) use tools::{
    CompletionsArgs, DemoArgs, ExplainArgs, HpackCommand, InspectArgs, ManArgs, ShowArgs,
};
pub(crate) use topic_list::{ENVIRONMENT, TOPICS, list as list_of_topics};
pub(crate) use values::password::typed as typed_password;
pub(crate) use values::{ConnectTo, FieldArg, From, METHODS, Protocols, Rate, Resolved, is_in_capitals};

/// An HTTP client, a debugging server and a codec on the command line.
#[derive(Debug, Parser)]
#[command(name = "alula", version, long_version = version::LONG, arg_required_else_help = true, args_override_self = true, styles = STYLES, after_help = after_help())]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// Parses the command line into one `Args` for each `--next` section; ends the program on an error.
    pub(crate) fn of_process() -> Vec<Self> {
        let mut lines = Vec::new();
        let named = parse::words::named(env::args_os().collect());
        let once = parse::once::check(Self::command(), &named);
        let given = expanded(named, &mut lines).unwrap_or_else(|failure| {
            let is_curls = env::args().any(|word| word.ends_with("curl") && word.contains("exit-codes"));
            let failure = failure.with(if is_curls { ExitCodes::Curl } else { ExitCodes::Alula }).said();
            process::exit(failure.code().into())
        });
        let command: Vec<OsString> = given.iter().take(2).cloned().collect();
        let all = once.and_then(|()| Self::of_runs(runs(given)));
        let mut all = all.unwrap_or_else(|error| {
            parse::refused::exit(located(parse::refused::told(error), &command, &lines))
        });
        parse::shared::share(&mut all);
        all
    }

    /// Parses the arguments of each run. A run without a URL ends nothing: its flags are those of the next
    /// one, as with curl.
    fn of_runs(runs: Vec<Vec<OsString>>) -> Result<Vec<Self>, Error> {
        let (mut all, mut before) = (Vec::new(), Vec::new());
        let last = runs.len().saturating_sub(1);
        for (place, run) in runs.into_iter().enumerate() {
            let run = if before.is_empty() { run } else { [&before[..], &run[2..]].concat() };
            match Self::of(run.clone()) {
                Err(error) if error.kind() == ErrorKind::MissingRequiredArgument && place < last => {
                    before = run
                }
                args => {
                    all.push(args?);
                    before.clear();
                }
            }
        }
        Ok(all)
    }

    /// Parses a command line without the program's name.
    #[cfg(test)]
    pub(crate) fn tried(words: &[&str]) -> Result<Self, Error> {
        Self::of(["alula"].iter().chain(words).map(OsString::from).collect())
    }

    fn of(given: Vec<OsString>) -> Result<Self, Error> {
        let mut program = parse::curls_words::with_negations(wrapped(Self::command()), &given);
        let matches = program.try_get_matches_from_mut(given)?;
        let mut args = Self::from_arg_matches(&matches).map_err(|error| error.format(&mut program))?;
        if let (Some(options), Some((_, matches))) = (args.command.options_mut(), matches.subcommand()) {
            options.order(matches);
            let adopted = parse::httpie::adopt(options);
            adopted.map_err(|why| Error::raw(ErrorKind::ValueValidation, why + "\n").format(&mut program))?;
        }
        Ok(args)
    }
}

/// Inserts the arguments from files.
fn expanded(given: Vec<OsString>, lines: &mut Vec<parse::config::Line>) -> Result<Vec<OsString>, Failure> {
    match given.get(1).is_some_and(|command| command == "store") {
        true => store::store_config::expanded(given, &mut Args::command(), lines),
        false => parse::config::expanded(parse::config::with_own(given, lines)?, lines)
            .map(parse::curls_words::with_parts),
    }
}

/// Adds to an error the place in a file that it comes from, if one line alone leads to the same error.
fn located(error: Error, command: &[OsString], lines: &[parse::config::Line]) -> Error {
    let argument = error.get(ContextKind::InvalidArg);
    let url = [OsString::from("localhost")];
    let is_of_password = argument.is_some_and(|argument| argument.to_string().contains("PASSWORD"));
    let is_its = |line: &&parse::config::Line| {
        // A name without a password would be asked for one once more.
        let has_name = ["-u", "-U", "-a", "--user=", "--proxy-user=", "--auth="].iter().any(|flag| {
            line.arguments
                .first()
                .and_then(|first| first.to_str())
                .is_some_and(|first| first.starts_with(flag))
        });
        let words = if command.get(1).is_some_and(|name| name == "store") { &[][..] } else { &url };
        let given = [command, words, &line.arguments].concat();
        let alone = if has_name && !is_of_password { Ok(()) } else { Args::of(given).map(drop) };
        alone.is_err_and(|alone| {
            alone.kind() == error.kind() && alone.get(ContextKind::InvalidArg) == argument
        })
    };
    match lines.iter().find(is_its) {
        Some(parse::config::Line { file, number, .. }) => {
            let text = error.render().to_string();
            let sentence = text.strip_prefix("error: ").unwrap_or(&text);
            Error::raw(error.kind(), format!("{file}:{number}: {sentence}"))
        }
        None => error,
    }
}

/// Splits the arguments at `--next` or `-:` into runs, each with the program's name and the command.
fn runs(given: Vec<OsString>) -> Vec<Vec<OsString>> {
    let command: Vec<OsString> = given.iter().take(2).cloned().collect();
    let mut runs = given.split(|arg| arg == "--next" || arg == "-:").map(<[OsString]>::to_vec);
    let first = runs.next().unwrap_or_default();
    std::iter::once(first).chain(runs.map(|run| [&command[..], &run].concat())).collect()
}

/// Wraps help at words, to the width of the terminal, of COLUMNS, or of 80 columns.
fn wrapped(program: Program) -> Program {
    match stdout().is_terminal() || env::var_os("COLUMNS").is_some() {
        true => program,
        false => program.term_width(COLUMNS),
    }
}

/// The styles of help: only bold, which is readable on any background.
const STYLES: Styles = {
    let bold = TextStyle::new().bold();
    Styles::plain().header(bold).usage(bold).literal(bold).error(bold).valid(bold).invalid(bold)
};

/// Returns the text below the commands.
fn after_help() -> String {
    format!("{}\n\n{}", examples(EXAMPLES), examples(&topic_list::list()))
}

/// Returns example commands with a word about each, beside it or, if there are few columns, below.
fn examples(text: &str) -> String {
    if columns_of_help() < COLUMNS { stacked(text) } else { text.to_owned() }
}

const EXAMPLES: &str = "\
Examples:
  alula demo                          what it costs, live, in twelve seconds
  alula echo --listen :8080           a server that says what it was asked
  alula serve --self-signed           the files of this folder, for a browser
  alula store --data things           objects, kept in the folder `things`
  alula get :8080/x q==rust token:a   localhost:8080/x?q=rust, with a field
  alula post :8080 name=Ada n:=1815   JSON: {\"name\":\"Ada\",\"n\":1815}
  alula PUT :8080/x a[b][]:=1         JSON: {\"a\":{\"b\":[1]}}
  alula post -d @a.jpg https://example.com/photos
  alula get -O -C - https://example.com/large.iso     the rest of the file
  alula get -v -o page.html https://example.com/      heads shown, page kept";

const ECHO_EXAMPLES: &str = "\
Examples:
  alula echo --log                                what comes, with its fields
  alula echo --status 503 --delay 2               a server in trouble
  alula get -L :8080/redirect/3                   paths as in httpbin
  alula get :8080/status/200,500                  one of two, by chance
  alula echo --listen localhost:0 --self-signed   a free port, TLS as well";

const SERVE_EXAMPLES: &str = "\
Examples:
  alula serve                             this folder, http://127.0.0.1:8080/
  alula serve site -l 3000 --log          on port 3000, with a log on stderr
  alula serve dist --spa --cors --header 'cache-control: no-cache'
  alula serve inbox --upload              files by PUT, and by a form
  alula serve site --listen 0.0.0.0:443 --cert chain.pem --key key.pem \\
      --access-log=/var/log/site.log --metrics=/-/metrics";

const INSPECT_EXAMPLES: &str = "\
Examples:
  alula inspect client.bin server.bin     both directions, as bytes
  xxd client.bin | alula inspect -        one, as hexadecimal digits
  alula inspect --table trace.txt         with each table after each block";

fn inspect_closing() -> String {
    format!("{}\n\n{}", examples(INSPECT_EXAMPLES), exit::table())
}

const STORE_EXAMPLES: &str = "\
Examples:
  alula store --data things               objects in the folder `things`
  alula store --engine memory -l 8099     objects in memory, on port 8099
  alula store --data things --type 'sets={\"datatype\":\"set\"}'
  alula store --config store.toml --ready --metrics=/-/metrics";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  alula completions bash > ~/.local/share/bash-completion/completions/alula
  alula completions zsh > ~/.zfunc/_alula
  alula completions fish > ~/.config/fish/completions/alula.fish";

/// Returns the usage line without the alternatives to a URL, --url and -K, which tell a newcomer nothing.
fn usage(command: &str) -> String {
    format!("alula {command} [OPTIONS] <URL> [ITEM]...")
}

/// The text below the short help of every request.
const ITEMS: &str = "\
Items: name==value (query), Name:value (field), name=value and name:=json (JSON, \
or a form with --form), name@FILE, @FILE, further URLs.
All flags and exit codes: --help";

/// Returns the text below the flags of every request.
fn closing() -> String {
    format!("{}\n{}", exit::table(), topic_list::ENVIRONMENT)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fetch a resource.
    #[command(override_usage = usage("get"), after_help = ITEMS, after_long_help = closing())]
    Get(FetchArgs),
    /// Send content to a resource, for it to process.
    #[command(override_usage = usage("post"), after_help = ITEMS, after_long_help = closing())]
    Post(FetchArgs),
    /// Send content to be stored as a resource.
    #[command(override_usage = usage("put"), after_help = ITEMS, after_long_help = closing())]
    Put(FetchArgs),
    /// Send changes to a resource.
    #[command(override_usage = usage("patch"), after_help = ITEMS, after_long_help = closing())]
    Patch(FetchArgs),
    /// Delete a resource.
    #[command(override_usage = usage("delete"), after_help = ITEMS, after_long_help = closing())]
    Delete(FetchArgs),
    /// Fetch the head of a resource, without its content, and print it.
    #[command(override_usage = usage("head"), after_help = ITEMS, after_long_help = closing())]
    Head(FetchArgs),
    /// Ask what can be done with a resource.
    #[command(override_usage = usage("options"), after_help = ITEMS, after_long_help = closing())]
    Options(FetchArgs),
    /// Send a request with any method.
    ///
    /// It is POST with content and GET without unless one is named.
    #[command(after_help = ITEMS, after_long_help = closing())]
    Request(AnyArgs),
    /// Run a debugging server that sends back what it gets.
    ///
    /// Each request is read to its end, then answered with 200. Content is sent back with its content-type; a
    /// request without content is described as JSON: version, method, target, fields in order, peer. CONNECT
    /// and TRACE are answered with 405.
    ///
    /// Some paths have an answer of their own, as httpbin has them: /get, /post, /put, /patch, /delete,
    /// /anything, /headers, /ip, /user-agent, /status/CODE, /delay/SECONDS, /redirect/N, /redirect-to,
    /// /bytes/N, /stream/N, /stream-bytes/N, /range/N, /drip, /gzip, /deflate, /brotli, /zstd, /cookies,
    /// /basic-auth/USER/PASSWORD, /digest-auth/QOP/USER/PASSWORD, /bearer, /cache, /etag/ETAG,
    /// /response-headers, /json, /html, /xml, /image/png, /links/N, /uuid, /base64/TEXT and more;
    /// docs/command.md has the list.
    ///
    /// SIGINT or SIGTERM lets open requests end; a second one does not.
    #[command(after_help = examples(ECHO_EXAMPLES))]
    Echo(EchoArgs),
    /// Serve the files of a folder.
    ///
    /// GET and HEAD, with ranges (also several at once) and conditional requests; OPTIONS says so, and
    /// anything else is answered with 405, unless --upload is given. The media type follows from the name;
    /// text is said to be UTF-8. A folder is answered with its index.html or with a list of what is in it.
    ///
    /// Links within the folder are followed; those that are absolute or lead out of it, fifos, devices and
    /// names that begin with a dot are answered with 404.
    ///
    /// Files up to 64 KiB are held in memory and larger ones open, within 64 MiB and 128 files; what is held
    /// is looked at again once a second. The etag of a small file is made of its content, that of a larger
    /// one of its inode, size and times; it is weak while the file was changed less than three seconds ago.
    ///
    /// SIGINT or SIGTERM lets open requests end; a second one does not.
    #[command(after_help = examples(SERVE_EXAMPLES))]
    Serve(ServeArgs),
    /// Keep objects, with siblings, indexes and data types, and answer Riak's HTTP API.
    ///
    /// Objects have a bucket and a key: PUT /buckets/BUCKET/keys/KEY stores one, GET reads it, DELETE removes
    /// it. Writes that do not know of each other leave siblings where the bucket keeps them. docs/store.md
    /// has the flags, the limits and where it differs from Riak.
    ///
    /// SIGINT or SIGTERM lets open requests end; a second one does not.
    #[command(after_help = examples(STORE_EXAMPLES))]
    Store(StoreArgs),
    /// Encode, decode and explain header blocks (RFC 7541).
    #[command(subcommand)]
    Hpack(HpackCommand),
    /// Explain a recorded connection of HTTP/2: its frames, header blocks and dynamic tables, line by line.
    ///
    /// Lines of the client begin with `>` and the place of a frame in bytes, those of the server with `<`,
    /// and faults with `!`. Behind each field stand the bytes that it came as, and what they mean (RFC 7541
    /// §6). A recording may begin anywhere between two frames; fields of entries that were made before cannot
    /// be known then.
    #[command(after_help = examples(INSPECT_EXAMPLES), after_long_help = inspect_closing())]
    Inspect(InspectArgs),
    /// Run a server and a client in one process and show what a request costs.
    ///
    /// The two have a thread each and talk over loopback: a prepared GET with 10 fields, answered by 200 with
    /// 10 fields, at 1, 10 and 100 in flight, in clear text and over TLS.
    ///
    /// Allocations are calls to the allocator while warm, per request: on the client's thread, on the
    /// server's thread, and in the whole process, the display included. Bytes on the wire are counted by a
    /// relay between the two in a short run of their own.
    Demo(DemoArgs),
    /// Print completions of commands and flags for a shell.
    #[command(after_help = examples(COMPLETIONS_EXAMPLES))]
    Completions(CompletionsArgs),
    /// Print a page of the manual, for `man -l -`.
    Man(ManArgs),
}

impl Command {
    /// Returns the options of a request.
    pub(crate) fn options_mut(&mut self) -> Option<&mut Options> {
        match self {
            Self::Get(args)
            | Self::Post(args)
            | Self::Put(args)
            | Self::Patch(args)
            | Self::Delete(args)
            | Self::Head(args)
            | Self::Options(args) => Some(&mut args.options),
            Self::Request(args) => Some(&mut args.options),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_commands_are_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn flags_in_front_of_a_run_without_a_url_are_those_of_the_next() {
        let tried = |line: &str| {
            let all = Args::of_runs(runs(line.split(' ').map(OsString::from).collect()))?;
            let silent = all.into_iter().map(|mut args| args.command.options_mut().unwrap().output.silent);
            Ok::<_, Error>(silent.collect::<Vec<_>>())
        };
        assert_eq!(tried("alula get -s -: a -: b").unwrap(), [true, false]);
        assert_eq!(tried("alula get -: -: a").unwrap(), [false]);
        assert!(tried("alula get a -:").is_err());
    }

    #[test]
    fn each_run_has_the_command() {
        let runs_of = |line: &str| -> Vec<String> {
            let runs = runs(line.split(' ').map(OsString::from).collect());
            runs.iter().map(|run| run.join(OsStr::new(" ")).into_string().unwrap()).collect()
        };
        assert_eq!(runs_of("alula get a -L --next b"), ["alula get a -L", "alula get b"]);
        assert_eq!(runs_of("alula get a -: b -L"), ["alula get a", "alula get b -L"]);
        assert_eq!(runs_of("alula get a --next"), ["alula get a", "alula get"]);
        assert_eq!(runs_of("alula"), ["alula"]);
    }
}
