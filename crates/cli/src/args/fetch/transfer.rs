//! The flags for conditions on a transfer, its limits, and its remains after a failure.

use std::{path::PathBuf, time::Duration};

use clap::Args as ClapArgs;

use crate::args::values::{
    bytes_or_zero,
    durations::{duration, whole_seconds},
    header_size,
};

#[derive(ClapArgs, Debug)]
#[command(next_help_heading = "Transfer")]
pub(crate) struct TransferArgs {
    /// Ask for what has changed since this date, or since this file was written.
    ///
    /// A `-` before it asks for what has not changed since. A date is written as HTTP does it, or as `6 Nov
    /// 1994 8:49 +0100`, `19941106` or `1994-11-06`. If the server says 304, or its last-modified does, no
    /// content is written.
    #[arg(short = 'z', long, value_name = "DATE|FILE", allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) time_cond: Option<String>,

    /// Give the file the time that the response has as last-modified.
    #[arg(short = 'R', long, hide_short_help = true)]
    pub(crate) remote_time: bool,

    /// Write the etag of the response to this file; a response without one empties it.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) etag_save: Option<PathBuf>,

    /// Ask for what has another etag than the one in this file.
    ///
    /// With --etag-save a file that is missing has none.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) etag_compare: Option<PathBuf>,

    /// Fail when the content is larger than this; `k`, `M` and `G` may follow the number.
    #[arg(long, value_name = "BYTES", value_parser = bytes_or_zero, hide_short_help = true)]
    pub(crate) max_filesize: Option<u64>,

    /// Take response heads of this size; `k` and `M` may follow the number; 1M unless given, 16M at most.
    ///
    /// It bounds a head, and all interim responses together. A head has 5,000 fields at most, and with a
    /// larger size as many more.
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "1M",
        hide_default_value = true,
        value_parser = header_size,
        hide_short_help = true
    )]
    pub(crate) max_header_size: u32,

    /// Fail when fewer bytes a second are transferred for the time of --speed-time; 1 unless given.
    #[arg(short = 'Y', long, value_name = "SPEED", value_parser = bytes_or_zero, hide_short_help = true)]
    pub(crate) speed_limit: Option<u64>,

    /// Allow a transfer slower than --speed-limit for so many seconds; 30 unless given.
    #[arg(short = 'y', long, value_name = "SECONDS", value_parser = whole_seconds, hide_short_help = true)]
    pub(crate) speed_time: Option<u32>,

    /// Remove the file when the transfer fails after it was opened.
    #[arg(long, conflicts_with = "continue_at", hide_short_help = true)]
    pub(crate) remove_on_error: bool,

    /// Write to FILE.1, FILE.2 and so on, up to FILE.100, rather than to a file that exists.
    #[arg(long, conflicts_with = "continue_at", hide_short_help = true)]
    pub(crate) no_clobber: bool,

    /// With --retry, try again after any failure, whatever the method is.
    ///
    /// With -f these are responses of 400 and above, too. A file is gone on with or written anew, as with
    /// --retry; bytes on stdout stay there.
    #[arg(long, hide_short_help = true)]
    pub(crate) retry_all_errors: bool,

    /// With --retry, begin no try later than this; 0 is no limit.
    #[arg(long, value_name = "SECONDS", value_parser = duration, hide_short_help = true)]
    pub(crate) retry_max_time: Option<Duration>,

    /// End at the first URL that fails; the others are not tried.
    #[arg(long, hide_short_help = true)]
    pub(crate) fail_early: bool,

    /// Write what goes to stderr to this file; `-` is stdout.
    #[cfg(unix)]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) stderr: Option<PathBuf>,
}
