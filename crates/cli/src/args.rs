//! Every command and every flag, described once: parsing, help and errors come from here.

use std::{path::PathBuf, time::Duration};

use clap::{Args as ClapArgs, Parser, Subcommand};

use crate::exit;

/// An HTTP client, a debugging server and a codec on the command line, from a stack that allocates nothing per
/// request.
#[derive(Debug, Parser)]
#[command(name = "alula", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  alula demo                                          what it costs, live, in twelve seconds
  alula echo --listen 127.0.0.1:8080                  a server that says what it was asked
  alula serve . --self-signed                         the files of this folder, for a browser
  alula get --http2-prior-knowledge http://127.0.0.1:8080/hello
  alula post -d @photo.jpg -H 'content-type: image/jpeg' https://example.com/photos
  alula get -v -o page.html https://example.com/      each frame on stderr, the page in a file";

const ECHO_EXAMPLES: &str = "\
Examples:
  alula echo --listen 127.0.0.1:8080
  alula echo --listen localhost:0 --self-signed     a free port, clear text and TLS on it";

const SERVE_EXAMPLES: &str = "\
Examples:
  alula serve .                                      http://127.0.0.1:8080/
  alula serve site --self-signed --log               https://127.0.0.1:8080/, for browsers, with a log on stderr
  alula serve site --listen 0.0.0.0:443 --cert chain.pem --key key.pem --no-listing";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fetch a resource.
    #[command(after_long_help = exit::table())]
    Get(FetchArgs),
    /// Send content to a resource, for it to process.
    #[command(after_long_help = exit::table())]
    Post(SendArgs),
    /// Send content to be stored as a resource.
    #[command(after_long_help = exit::table())]
    Put(SendArgs),
    /// Delete a resource.
    #[command(after_long_help = exit::table())]
    Delete(SendArgs),
    /// Fetch the head of a resource, without its content, and print it.
    #[command(after_long_help = exit::table())]
    Head(FetchArgs),
    /// Run a debugging server that sends back what it gets.
    ///
    /// Each request is read to its end, then answered with 200. Content is sent back with its content-type; a request
    /// without content is described as JSON: version, method, target, fields in order, peer. CONNECT and TRACE are
    /// answered with 405. SIGINT or SIGTERM lets open requests end; a second one does not.
    #[command(after_help = ECHO_EXAMPLES)]
    Echo(EchoArgs),
    /// Serve the files of a folder.
    ///
    /// GET and HEAD, with ranges (also several at once) and conditional requests; OPTIONS says so, and anything else is
    /// answered with 405. The media type follows from the name; text is said to be UTF-8. A folder is answered with
    /// its index.html or with a list of what is in it.
    ///
    /// Links within the folder are followed; those that are absolute or lead out of it, fifos, devices and names that
    /// begin with a dot are answered with 404.
    ///
    /// Files up to 64 KiB are held in memory and larger ones open, within 64 MiB and 128 files; what is held is looked at
    /// again once a second. The etag of a small file is made of its content, that of a larger one of its inode, size and
    /// times; it is weak while the file was changed less than three seconds ago.
    ///
    /// SIGINT or SIGTERM lets open requests end; a second one does not.
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Encode and decode header blocks (RFC 7541).
    #[command(subcommand)]
    Hpack(HpackCommand),
    /// Run a server and a client in one process and show what a request costs.
    ///
    /// The two have a thread each and talk over loopback: a prepared GET with 10 fields, answered by 200 with 10
    /// fields, at 1, 10 and 100 in flight, in clear text and over TLS.
    ///
    /// Allocations are calls to the allocator while warm, per request: on the client's thread, on the server's thread,
    /// and in the whole process, the display included. Octets on the wire are counted by a relay between the two in a
    /// short run of their own.
    Demo(DemoArgs),
}

/// What all requests share.
#[derive(ClapArgs, Debug)]
pub(crate) struct FetchArgs {
    /// What to ask for: https:// or http://.
    pub(crate) url: String,

    /// Send this field, as `name: value`; may be given often. `user-agent` and `accept` replace the ones sent by
    /// default.
    #[arg(short = 'H', long = "header", value_name = "FIELD", value_parser = parse_field)]
    pub(crate) fields: Vec<(String, String)>,

    /// Write to this file instead of stdout. It is made when the response begins.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print the status and the fields of the response before its content.
    #[arg(short, long)]
    pub(crate) include: bool,

    /// Print each frame, sent and received, as one line on stderr; over HTTP/1.1 the status and the fields of the response.
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Trust the certificates in this PEM file, beside those of the platform.
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,

    /// Trust any certificate. What is sent can then be read and changed by anyone on the way.
    #[arg(short = 'k', long)]
    pub(crate) insecure: bool,

    /// Give up when the whole exchange takes longer than this; a fraction is fine.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) max_time: Option<Duration>,

    /// Speak HTTP/1.1 only.
    #[arg(long = "http1.1", conflicts_with_all = ["http2", "http2_prior_knowledge"])]
    pub(crate) http1_1: bool,

    /// Speak HTTP/2 where the server agrees to it over TLS, else HTTP/1.1. This is what is done without the flag.
    #[arg(long)]
    pub(crate) http2: bool,

    /// Speak HTTP/2 only: over TLS nothing else is offered, and in clear text it is spoken without asking first (RFC 9113
    /// §3.3).
    #[arg(long)]
    pub(crate) http2_prior_knowledge: bool,
}

/// What requests with content have beside that.
#[derive(ClapArgs, Debug)]
pub(crate) struct SendArgs {
    #[command(flatten)]
    pub(crate) fetch: FetchArgs,
    #[command(flatten)]
    pub(crate) content: ContentArgs,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ContentArgs {
    /// The content: this text, or the octets of the file after an `@` (`@-` is stdin). No content-type is added.
    #[arg(short, long, value_name = "TEXT|@FILE")]
    pub(crate) data: Option<String>,
}

/// Where a server listens, and who it is.
#[derive(ClapArgs, Debug)]
pub(crate) struct ListenArgs {
    /// The address or host to listen on, with a port; port 0 takes a free one. The address is printed.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,

    /// Serve TLS as well, on the same port, with this certificate chain (PEM).
    #[arg(long, value_name = "PEM", requires = "key", conflicts_with = "self_signed")]
    pub(crate) cert: Option<PathBuf>,

    /// The private key of the certificate (PEM).
    #[arg(long, value_name = "PEM", requires = "cert")]
    pub(crate) key: Option<PathBuf>,

    /// Serve TLS as well, on the same port, with a certificate made now for the host listened on.
    #[arg(long)]
    pub(crate) self_signed: bool,

    /// Speak HTTP/1.1 only.
    #[arg(long = "http1.1", conflicts_with = "http2")]
    pub(crate) http1_1: bool,

    /// Speak HTTP/2 only. Without either flag both are spoken: over TLS the client chooses, in clear text it begins in HTTP/2
    /// or does not.
    #[arg(long)]
    pub(crate) http2: bool,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct EchoArgs {
    #[command(flatten)]
    pub(crate) listen: ListenArgs,

    /// Answer 413 to a request with more content than this many octets: it is held in memory until it is whole.
    #[arg(long, value_name = "OCTETS", default_value_t = 64 * 1024 * 1024)]
    pub(crate) max_body: usize,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ServeArgs {
    /// The folder to serve. Nothing outside it can be had, whatever links in it say.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    pub(crate) listen: ListenArgs,

    /// Answer 404 for a folder without index.html instead of listing what is in it.
    #[arg(long)]
    pub(crate) no_listing: bool,

    /// Serve and list names that begin with a dot too.
    #[arg(long)]
    pub(crate) dot_files: bool,

    /// Write one line per request on stderr: peer, time, request, status, octets of content, seconds.
    #[arg(long)]
    pub(crate) log: bool,
}

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
    #[arg(long, default_value_t = 12.0, value_parser = parse_demo_seconds)]
    pub(crate) seconds: f64,

    /// Print one JSON object instead of a display.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Splits `name: value`; the value loses the white space around it (RFC 9110 §5.5).
fn parse_field(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once(':') else {
        return Err("a field is written `name: value`".to_owned());
    };
    let value = value.trim_matches([' ', '\t']);
    // What cannot be sent is found now, with the library's words for it.
    let checked = alula::FieldSection::new().append(name, value);
    checked.map_err(|error| error.to_string())?;
    Ok((name.to_owned(), value.to_owned()))
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if seconds <= 0.0 {
        return Err("must be more than 0".to_owned());
    }
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn parse_demo_seconds(text: &str) -> Result<f64, String> {
    let seconds = parse_seconds(text)?.as_secs_f64();
    if (1.0..=3600.0).contains(&seconds) { Ok(seconds) } else { Err("must be from 1 to 3600".to_owned()) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_commands_are_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_field_is_split_at_its_first_colon() {
        assert_eq!(parse_field("X-A: b:c "), Ok(("X-A".to_owned(), "b:c".to_owned())));
        assert_eq!(parse_field("x-empty:"), Ok(("x-empty".to_owned(), String::new())));
        for wrong in ["x-a", ": b", "x a: b", "x-a: b\r\nc: d"] {
            assert!(parse_field(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn seconds_may_be_fractions_but_not_nothing() {
        assert_eq!(parse_seconds("0.25"), Ok(Duration::from_millis(250)));
        for wrong in ["0", "-1", "nan", "inf", "1e300", "soon", ""] {
            assert!(parse_seconds(wrong).is_err(), "{wrong:?}");
        }
        assert!(parse_demo_seconds("0.5").is_err() && parse_demo_seconds("3").is_ok());
    }
}
