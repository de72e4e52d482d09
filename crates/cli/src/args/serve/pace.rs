//! `--stall-timeout`, `--body-rate-min`, `--body-rate-grace`: the limits on slow peers of a server.

use std::time::Duration;

use alula::Limits;
use clap::Args as ClapArgs;

use crate::args::values::durations::{Limit, duration, seconds_or_none};

/// The limits on slow peers, with the names that they have in the library.
#[derive(ClapArgs, Clone, Copy, Debug)]
pub(crate) struct PaceArgs {
    /// Abort a request whose content has not moved for so many seconds; 0 waits for ever.
    ///
    /// Only the delay of the peer counts: content of its own that is waited for, and content of the answer
    /// that it does not take. 2m is taken, too.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds_or_none, hide_short_help = true)]
    stall_timeout: Limit,

    /// Abort a request whose content moves at fewer bytes a second than this; 0 turns that off.
    ///
    /// The mean is judged, over all of the time in which the peer was waited for. Time with more bytes pays
    /// for a pause, as long as --stall-timeout at the most.
    #[arg(long, value_name = "BYTES", default_value_t = 240, hide_short_help = true)]
    body_rate_min: u32,

    /// Apply --body-rate-min after the peer was waited for so many seconds in all; 2m is taken, too.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = duration, hide_short_help = true)]
    body_rate_grace: Duration,
}

impl PaceArgs {
    /// Returns these limits with the flags applied.
    pub(crate) fn limit(self, limits: Limits) -> Limits {
        Limits {
            stall_timeout: self.stall_timeout.0.unwrap_or(Duration::MAX),
            body_rate_min: self.body_rate_min,
            body_rate_grace: self.body_rate_grace,
            ..limits
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        pace: PaceArgs,
    }

    fn limits(flags: &[&str]) -> Limits {
        let flags = Flags::parse_from(["alula"].iter().chain(flags));
        flags.pace.limit(Limits { fields: 7, ..Limits::default() })
    }

    #[test]
    fn without_flags_the_limits_are_those_of_the_library() {
        assert_eq!(limits(&[]), Limits { fields: 7, ..Limits::default() });
    }

    #[test]
    fn a_flag_sets_its_limit() {
        let given = limits(&["--stall-timeout=2m", "--body-rate-min=1000", "--body-rate-grace", "5"]);
        let seconds = [given.stall_timeout, given.body_rate_grace].map(|time| time.as_secs());
        assert_eq!((seconds, given.body_rate_min), ([120, 5], 1000));
        assert_eq!(limits(&["--stall-timeout", "0"]).stall_timeout, Duration::MAX);
    }
}
