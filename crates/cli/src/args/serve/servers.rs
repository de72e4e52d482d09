//! The flags of servers.

use std::{path::PathBuf, time::Duration};

use alula::Status;
use clap::Args as ClapArgs;

use super::{hosts::HostArgs, listen, pace::PaceArgs, watching::WatchArgs};
use crate::args::values::durations::delay;

/// The address and the certificate of a server.
#[derive(ClapArgs, Debug)]
pub(crate) struct ListenArgs {
    /// The address to listen on, HOST:PORT; either of the two may be left out.
    ///
    /// `:8080` or `8080` is 127.0.0.1:8080, `0.0.0.0` is 0.0.0.0:8080, and port 0 is a free one. The address
    /// is printed.
    #[arg(
        short,
        long,
        value_name = "ADDR",
        default_value = "127.0.0.1:8080",
        value_parser = listen::address,
        visible_alias = "port",
        visible_short_alias = 'p'
    )]
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
    #[arg(long = "http1.1", conflicts_with = "http2_only", hide_short_help = true)]
    pub(crate) http1_1: bool,

    /// Speak HTTP/2 only.
    ///
    /// Without either flag both are spoken: over TLS the client chooses, in clear text it begins in HTTP/2 or
    /// does not.
    #[arg(long, hide_short_help = true)]
    pub(crate) http2_only: bool,

    #[command(flatten)]
    pub(crate) pace: PaceArgs,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct EchoArgs {
    #[command(flatten)]
    pub(crate) listen: ListenArgs,

    /// Answer 413 to a request with more content than this many bytes.
    ///
    /// Content is held in memory until it is whole.
    #[arg(long, hide_short_help = true, value_name = "BYTES", default_value_t = 64 * 1024 * 1024)]
    pub(crate) max_body: usize,

    /// Write each request on stderr as it arrives, with all of its fields.
    ///
    /// Credentials are hidden. A line follows when it has ended: peer, time, request, status, bytes of
    /// content, seconds.
    #[arg(long)]
    pub(crate) log: bool,

    /// Wait for so many seconds before each answer; 200ms and 2m are taken, too.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = delay, hide_default_value = true)]
    pub(crate) delay: Duration,

    /// Answer with CODE, from 200 to 999, in place of 200.
    #[arg(long, value_name = "CODE", value_parser = final_status)]
    pub(crate) status: Option<Status>,

    /// State no length in answers; over HTTP/1.1 they come in chunks.
    #[arg(long)]
    pub(crate) chunked: bool,

    /// Echo requests to all paths, also to those that have an answer of their own, such as /status/404.
    #[arg(long, hide_short_help = true)]
    pub(crate) no_paths: bool,

    #[command(flatten)]
    pub(crate) watch: WatchArgs,
}

/// Parses the status of a final response.
fn final_status(text: &str) -> Result<Status, String> {
    let status = text.parse().ok().and_then(Status::new).filter(|status| !status.is_interim());
    status.ok_or_else(|| "a number from 200 to 999 is wanted".to_owned())
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ServeArgs {
    /// The folder to serve.
    ///
    /// Links in it lead to nothing outside it.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    pub(crate) listen: ListenArgs,

    /// Answer 404 for a folder without index.html instead of listing what is in it.
    #[arg(long)]
    pub(crate) no_listing: bool,

    /// Serve and list names that begin with a dot too.
    #[arg(long)]
    pub(crate) dot_files: bool,

    /// Send NAME.br, NAME.zst or NAME.gz for NAME where it is there and the client takes it.
    ///
    /// The file beside NAME must have its content, compressed; alula compresses none itself.
    #[arg(long)]
    pub(crate) precompressed: bool,

    /// Answer with /index.html where a page is not there.
    ///
    /// Paths without a dot in their last segment are answered so, with 200, where HTML is accepted. It is for
    /// programs in one page, which choose the view by the path. Missing files with an extension stay 404, and
    /// so do requests for JSON alone.
    #[arg(short, long, alias = "single")]
    pub(crate) spa: bool,

    /// Let files be stored: by PUT, and by a form in listings.
    ///
    /// Everybody who reaches the server can fill the disk. Files come to the folders that are there, under
    /// names that could be served, and are seen once they are whole. Pages of other origins are refused with
    /// 403, unless --cors=ORIGIN names theirs.
    #[arg(long)]
    pub(crate) upload: bool,

    /// Let uploads take the place of files that are there, which is answered with 409 otherwise.
    #[arg(long, requires = "upload")]
    pub(crate) overwrite: bool,

    /// Answer 413 to an upload with more content than this many bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1024 * 1024 * 1024)]
    pub(crate) max_body: u64,

    #[command(flatten)]
    pub(crate) hosts: HostArgs,

    /// Write one line per request on stderr, with the seconds that it took.
    ///
    /// It has peer, time, request, status, bytes of content and seconds.
    #[arg(long)]
    pub(crate) log: bool,

    #[command(flatten)]
    pub(crate) watch: WatchArgs,
}
