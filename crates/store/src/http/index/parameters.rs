//! The parameters of a query (Riak §11).

use std::borrow::Cow;
use std::time::Duration;

use super::continuation::Continuation;
use super::pattern::Pattern;
use super::range::Range;
use crate::http::answer::fail::{Cut, Fail};
use crate::http::checks::options;
use crate::http::list::time;
use crate::model::term;

/// The time that a query has unless it names another.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The parameters in the query of a request. If two have one name, the first counts.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    returns_terms: bool,
    results_max: Option<u64>,
    continuation: Option<Continuation>,
    pattern: Option<Pattern>,
    is_streamed: bool,
    timeout: Option<Duration>,
}

impl Parameters {
    /// Reads pairs of names and values.
    ///
    /// # Errors
    /// 400 with a text for the first one that is wrong.
    pub(crate) fn read<'q>(
        pairs: impl Iterator<Item = (Cow<'q, [u8]>, Cow<'q, [u8]>)>,
    ) -> Result<Self, Fail> {
        let (mut parameters, mut seen) = (Self::default(), 0u32);
        for (name, value) in pairs {
            let Some(index) = NAMES.iter().position(|known| *known.as_bytes() == *name) else { continue };
            if seen & 1 << index == 0 {
                seen |= 1 << index;
                parameters.set(NAMES[index], &value)?;
            }
        }
        Ok(parameters)
    }

    fn set(&mut self, name: &'static str, value: &[u8]) -> Result<(), Fail> {
        match name {
            "return_terms" => self.returns_terms = boolean(name, value)?,
            "max_results" => self.results_max = Some(results_max(value)?),
            "continuation" => {
                self.continuation = Some(Continuation::read(value).ok_or_else(bad_continuation)?);
            }
            "term_regex" => self.pattern = Some(Pattern::compile(value)?),
            "stream" => self.is_streamed = value.eq_ignore_ascii_case(b"true"),
            "timeout" => self.timeout = Some(time::read(value)?),
            // Results are in order whatever `pagination_sort` says.
            _ => drop(boolean(name, value)?),
        }
        Ok(())
    }

    /// Checks what depends on the index.
    ///
    /// # Errors
    /// 400 for a pattern of an index of numbers, and for a continuation of another kind of index.
    pub(crate) fn check(&self, range: &Range) -> Result<(), Fail> {
        if self.pattern.is_some() && range.is_of_integers() {
            return Err(Fail::bad_request("Invalid \"term_regex\". An index of integers has no text\n"));
        }
        let has_term = self.continuation.as_ref().is_some_and(|last| !last.item().term.is_empty());
        if has_term && !range.has_terms() { Err(bad_continuation()) } else { Ok(()) }
    }

    /// Returns true if the answer has terms, where the index has any to show.
    pub(crate) const fn returns_terms(&self) -> bool {
        self.returns_terms
    }

    /// Returns the most results of the answer, at least 1.
    pub(crate) const fn results_max(&self) -> Option<u64> {
        self.results_max
    }

    /// Returns the result after which the answer begins.
    pub(crate) const fn continuation(&self) -> Option<&Continuation> {
        self.continuation.as_ref()
    }

    /// Returns the pattern that terms are searched for, so that more entries may be read than there are
    /// results.
    pub(crate) const fn pattern(&self) -> Option<&Pattern> {
        self.pattern.as_ref()
    }

    /// Returns true if the pattern, if there is one, is found in these bytes.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn takes(&self, bytes: &[u8]) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.is_in(bytes))
    }

    /// Returns true if the answer comes in parts.
    pub(crate) const fn is_streamed(&self) -> bool {
        self.is_streamed
    }

    /// Returns the time for the answer.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(TIMEOUT)
    }
}

const NAMES: [&str; 7] =
    ["return_terms", "max_results", "continuation", "pagination_sort", "term_regex", "stream", "timeout"];

fn boolean(name: &str, value: &[u8]) -> Result<bool, Fail> {
    let mut wrong = String::new();
    let boolean = options::boolean(name, value, &mut wrong);
    if wrong.is_empty() { Ok(boolean.unwrap_or(false)) } else { Err(Fail::bad_request(wrong)) }
}

/// Parses a positive number; one of more than 64 bits counts as the greatest.
fn results_max(value: &[u8]) -> Result<u64, Fail> {
    let mut normal = Vec::new();
    match term::normal_integer(value, &mut normal) {
        Some(()) if normal != b"0" && !normal.starts_with(b"-") => {
            Ok(std::str::from_utf8(&normal).ok().and_then(|digits| digits.parse().ok()).unwrap_or(u64::MAX))
        }
        _ => {
            let value = Cut(value);
            Err(Fail::bad_request(format!(
                "Invalid \"max_results\". \"{value}\" is not a positive integer\n"
            )))
        }
    }
}

fn bad_continuation() -> Fail {
    Fail::bad_request("Invalid \"continuation\". It is none that a query of this index has returned\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::checks::query;

    fn read(query: &str) -> Result<Parameters, Fail> {
        Parameters::read(query::pairs_of(query.as_bytes()))
    }

    #[test]
    fn the_first_of_repeated_names_counts() {
        let parameters =
            read("max_results=2&max_results=x&stream=TRUE&stream=false&other=1&return_terms=true");
        let parameters = parameters.expect("in order");
        assert_eq!(parameters.results_max(), Some(2));
        assert!(parameters.is_streamed() && parameters.returns_terms());
        assert_eq!(parameters.timeout(), TIMEOUT);
    }

    #[test]
    fn numbers_have_bounds() {
        for (query, results_max) in [
            ("", None),
            ("max_results=1", Some(1)),
            ("max_results=%2B7", Some(7)),
            ("max_results=007", Some(7)),
            ("max_results=18446744073709551616", Some(u64::MAX)),
        ] {
            assert_eq!(read(query).expect(query).results_max(), results_max, "{query}");
        }
        for query in ["max_results=0", "max_results=-1", "max_results=", "max_results=+7", "max_results=many"]
        {
            assert!(read(query).is_err(), "{query}");
        }
    }

    #[test]
    fn a_time_is_a_number() {
        assert_eq!(read("timeout=25").expect("a number").timeout(), Duration::from_millis(25));
        assert!(read("timeout=soon").is_err());
    }
}
