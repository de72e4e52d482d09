//! The conditions on which a server keeps a connection, as stated in its responses: `keep-alive: timeout=5,
//! max=100` (RFC 2068 §19.7.1.1, as Apache sends it).
//!
//! A request that meets the server's close is lost, and sent again only where that is safe. A client that
//! goes by the terms does not send it there. They never prolong anything, and what they do not say in this
//! form they do not say.

use core::time::Duration;

use alula_fields::{FieldSection, KnownName, bytes};
use alula_machine::Time;

/// The time by which a client ends earlier than the server: the last byte of a response, and the first of the
/// next request, may travel for that long together.
const MARGIN: Duration = Duration::from_secs(1);

/// The conditions that were stated last, each by itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct KeepAlive {
    /// The seconds without a request after which the server closes.
    timeout: Option<u32>,
    /// The number of requests that may still be sent.
    requests_left: Option<u32>,
}

impl KeepAlive {
    /// Counts a response without conditions of its own.
    #[inline]
    pub(crate) fn count_response(&mut self) {
        if let Some(left) = &mut self.requests_left {
            *left = left.saturating_sub(1);
        }
    }

    /// Takes the conditions of a response, which replace earlier ones. The least of several counts.
    #[cold]
    pub(crate) fn note(&mut self, fields: &FieldSection) {
        self.count_response();
        let said = Self::said_by(fields);
        self.timeout = said.timeout.or(self.timeout);
        self.requests_left = said.requests_left.or(self.requests_left);
    }

    fn said_by(fields: &FieldSection) -> Self {
        let mut said = Self::default();
        for member in fields.get_all(KnownName::KEEP_ALIVE).flat_map(crate::head::list::members) {
            let Some(equals) = member.iter().position(|byte| *byte == b'=') else { continue };
            let (name, value) = (bytes::trim(&member[..equals]), bytes::trim(&member[equals + 1..]));
            let term = match name {
                _ if name.eq_ignore_ascii_case(b"timeout") => &mut said.timeout,
                _ if name.eq_ignore_ascii_case(b"max") => &mut said.requests_left,
                _ => continue,
            };
            *term = [*term, number(value)].into_iter().flatten().min();
        }
        said
    }

    /// Returns true if another request may follow at all.
    #[inline]
    pub(crate) fn allows_another(&self) -> bool {
        self.timeout != Some(0) && self.requests_left != Some(0)
    }

    /// Returns the time from which a connection that is idle since `now` is not used any more: a second
    /// before the server closes it, or half a second if it is kept for one. Far if nothing was stated.
    #[inline]
    pub(crate) fn ends_at(&self, now: Time) -> Time {
        let Some(seconds) = self.timeout else { return Time::FAR };
        let stated = Duration::from_secs(seconds.into());
        now.saturating_add(stated - MARGIN.min(stated / 2))
    }
}

/// Returns the number in a value, which may be quoted; one that is too large counts as the largest.
fn number(value: &[u8]) -> Option<u32> {
    let quoted = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
    let digits = quoted.unwrap_or(value);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let add = |number: u32, digit: &u8| number.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
    is_number.then(|| digits.iter().fold(0, add))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(values: &[&str]) -> (Option<u32>, Option<u32>) {
        let pairs = values.iter().map(|value| ("keep-alive", *value));
        let said = KeepAlive::said_by(&FieldSection::from_pairs(pairs).unwrap());
        (said.timeout, said.requests_left)
    }

    #[test]
    fn terms_are_read_in_any_order_and_the_least_counts() {
        for (values, timeout, max) in [
            (&["timeout=5, max=100"][..], Some(5), Some(100)),
            (&["Max=\"7\" ,, TIMEOUT = 5"], Some(5), Some(7)),
            (&["timeout=5, timeout=3, max=2", "max=9, timeout=4"], Some(3), Some(2)),
            (&["timeout=5s, timeout=\"5, timeout=, timeout", "max=-1, maximum=3, 4, =4"], None, None),
            (&["timeout=99999999999, max=4294967296"], Some(u32::MAX), Some(u32::MAX)),
            (&["timeout=0, max=00"], Some(0), Some(0)),
            (&[""], None, None),
        ] {
            assert_eq!(said(values), (timeout, max), "{values:?}");
        }
    }

    #[test]
    fn a_client_leaves_before_the_server() {
        for (timeout, milliseconds) in [(1, 500), (2, 1_000), (3, 2_000), (5, 4_000)] {
            let terms = KeepAlive { timeout: Some(timeout), ..KeepAlive::default() };
            let expected = Time::ZERO.saturating_add(Duration::from_millis(milliseconds));
            assert_eq!(terms.ends_at(Time::ZERO), expected, "{timeout}");
        }
        assert_eq!(KeepAlive::default().ends_at(Time::ZERO), Time::FAR);
    }
}
