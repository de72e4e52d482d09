//! The facts of an exchange that `-w` prints.

use std::time::{Duration, Instant};

use alula::{Response, Timing, Version};
use url::Url;

use super::seen::Seen;
use crate::failure::exit::Outcome;
use crate::fetch::plan::zone;

/// An exchange, as far as it came.
pub(in crate::fetch) struct Report {
    pub(in crate::fetch) method: String,
    pub(in crate::fetch) url: String,
    /// The URL that answered after redirects; `None` without any.
    pub(in crate::fetch) final_url: Option<String>,
    pub(in crate::fetch) seen: Seen,
    pub(in crate::fetch) place: usize,
    pub(in crate::fetch) head: Option<Head>,
    pub(in crate::fetch) file: Option<String>,
    pub(in crate::fetch) bytes_received: u64,
    pub(in crate::fetch) bytes_sent: u64,
    pub(in crate::fetch) since: Instant,
    pub(in crate::fetch) timing: Option<Timing>,
    pub(in crate::fetch) until_head: Duration,
    pub(in crate::fetch) until_end: Duration,
    pub(in crate::fetch) end: End,
}

/// The end of an exchange that has failed, or zeros.
#[derive(Default)]
pub(in crate::fetch) struct End {
    pub(in crate::fetch) exit: u8,
    pub(in crate::fetch) error: String,
    /// OpenSSL's number for the result of checking the server's certificate; 0 when it is trusted.
    pub(in crate::fetch) verify_result: u16,
}

/// The head of the response.
pub(in crate::fetch) struct Head {
    pub(in crate::fetch) status: u16,
    pub(in crate::fetch) version: Version,
    pub(in crate::fetch) fields: Vec<(String, Vec<u8>)>,
}

impl Report {
    pub(in crate::fetch) fn new(method: &str, url: &str, place: usize) -> Self {
        Self {
            method: method.to_owned(),
            url: url.to_owned(),
            final_url: None,
            seen: Seen::default(),
            place,
            head: None,
            file: None,
            bytes_received: 0,
            bytes_sent: 0,
            since: Instant::now(),
            timing: None,
            until_head: Duration::ZERO,
            until_end: Duration::ZERO,
            end: End::default(),
        }
    }

    pub(in crate::fetch) fn begins(&mut self, response: &Response) {
        self.until_head = self.since.elapsed();
        self.final_url = response.final_url().map(|url| zone::taken_out(url).0.into_owned());
        self.timing = response.timing();
        let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let fields = response.received_headers().iter();
        let fields = fields.map(|field| (name(field.name_bytes()), field.value().to_vec()));
        self.head = Some(Head {
            status: response.status().as_u16(),
            version: response.version(),
            fields: fields.collect(),
        });
    }

    /// The response counts as one of this status.
    pub(in crate::fetch) fn has_status(&mut self, status: u16) {
        if let Some(head) = &mut self.head {
            head.status = status;
        }
    }

    pub(in crate::fetch) fn ends(&mut self, outcome: &Outcome, bytes_sent: u64) {
        self.until_end = self.since.elapsed();
        self.bytes_sent = bytes_sent;
        if let Err(failure) = outcome {
            self.end = End {
                exit: failure.code(),
                error: failure.sentence().to_owned(),
                verify_result: failure.verify_result(),
            };
        }
    }

    pub(in crate::fetch) fn url_effective(&self) -> &str {
        self.final_url.as_deref().unwrap_or(&self.url)
    }

    /// The number of redirects that were followed, also by an exchange that failed then.
    pub(in crate::fetch) fn redirects(&self) -> u64 {
        self.seen.hops.len() as u64
    }

    /// The time until the last redirect was followed; 0 when none was.
    pub(in crate::fetch) fn until_redirected(&self) -> Duration {
        self.seen.redirected.map_or(Duration::ZERO, |at| at.saturating_duration_since(self.since))
    }

    /// The URL that the response leads to, if it does and was not followed.
    pub(in crate::fetch) fn redirect_url(&self) -> String {
        let is_redirect = self.head.as_ref().is_some_and(|head| matches!(head.status, 300..=399));
        let to = Some(self.header("location")).filter(|to| is_redirect && !to.is_empty());
        let to = to.and_then(|to| std::str::from_utf8(to).ok());
        let url = to.and_then(|to| Url::parse(self.url_effective()).ok()?.join(to).ok());
        url.map(String::from).unwrap_or_default()
    }

    /// The value of the first field of this name.
    pub(in crate::fetch) fn header(&self, name: &str) -> &[u8] {
        let mut fields = self.head.iter().flat_map(|head| &head.fields);
        fields.find(|(given, _)| given.eq_ignore_ascii_case(name)).map_or(b"", |(_, value)| value)
    }
}
