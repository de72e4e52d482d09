//! The parameters that reads and writes of objects, counters and data types share.

use std::borrow::Cow;
use std::time::Duration;

use alula::Request;
use tokio::time::Instant;

use super::query;
use crate::config::Config;
use crate::engine::{Durability, ReadTerms, WriteTerms};
use crate::http::answer::fail::{Cut, Fail};
use crate::properties::{Properties, Quorum, SyncOnWrite};

/// The time that a request has unless it names another.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The parameters in the query of a request. A parameter that is absent, or says `default`, is that of the
/// bucket.
#[derive(Debug, Default)]
pub(in crate::http) struct Options<'r> {
    r: Option<Quorum>,
    pr: Option<Quorum>,
    w: Option<Quorum>,
    dw: Option<Quorum>,
    pw: Option<Quorum>,
    rw: Option<Quorum>,
    node_confirms: Option<Quorum>,
    basic_quorum: Option<bool>,
    notfound_ok: Option<bool>,
    sync: Option<SyncOnWrite>,
    timeout: Option<Duration>,
    /// A write is answered with the stored object.
    pub(in crate::http) returnbody: bool,
    /// A change of a counter is answered with its new value.
    pub(in crate::http) returnvalue: bool,
    /// The context of a data type is part of the answer; true unless said otherwise.
    pub(in crate::http) include_context: bool,
    /// The vtag of the sibling that is asked for.
    pub(in crate::http) vtag: Option<Cow<'r, [u8]>>,
}

impl<'r> Options<'r> {
    /// Reads the parameters.
    ///
    /// # Errors
    /// 400 with a text for each that is wrong.
    pub(in crate::http) fn read(request: &'r Request) -> Result<Self, Fail> {
        let mut options = Self { include_context: true, ..Self::default() };
        let Some(_) = request.query() else { return Ok(options) };
        let (mut seen, mut wrong) = (0u32, String::new());
        for (name, value) in query::pairs(request) {
            let Some(index) = NAMES.iter().position(|known| *known.as_bytes() == *name) else { continue };
            if seen & 1 << index == 0 {
                seen |= 1 << index;
                options.set(NAMES[index], value, &mut wrong);
            }
        }
        match wrong.is_empty() {
            true => Ok(options),
            false => Err(Fail::bad_request(wrong)),
        }
    }

    fn set(&mut self, name: &'static str, value: Cow<'r, [u8]>, wrong: &mut String) {
        match name {
            "r" => self.r = quorum(name, &value, wrong),
            "pr" => self.pr = quorum(name, &value, wrong),
            "w" => self.w = quorum(name, &value, wrong),
            "dw" => self.dw = quorum(name, &value, wrong),
            "pw" => self.pw = quorum(name, &value, wrong),
            "rw" => self.rw = quorum(name, &value, wrong),
            "node_confirms" => self.node_confirms = quorum(name, &value, wrong),
            "basic_quorum" => self.basic_quorum = boolean(name, &value, wrong),
            "notfound_ok" => self.notfound_ok = boolean(name, &value, wrong),
            "returnbody" => self.returnbody = boolean(name, &value, wrong).unwrap_or(false),
            "returnvalue" => self.returnvalue = boolean(name, &value, wrong).unwrap_or(false),
            "include_context" => self.include_context = boolean(name, &value, wrong).unwrap_or(true),
            "timeout" => self.timeout = timeout(&value, wrong),
            "sync_on_write" => self.sync = sync(&value, wrong),
            "vtag" => self.vtag = Some(value),
            // `asis` asks for a write without an event; every write here is one.
            _ => {}
        }
    }

    /// Returns the end of the time for the request.
    pub(in crate::http) fn deadline(&self, config: &Config) -> Instant {
        Instant::now() + config.time(self.timeout.unwrap_or(TIMEOUT))
    }

    /// Returns the replicas that a read waits for.
    ///
    /// # Errors
    /// 400 if a count is above that of the replicas.
    pub(in crate::http) fn read_terms(
        &self,
        properties: &Properties,
        config: &Config,
    ) -> Result<ReadTerms, Fail> {
        let n = properties.n_val;
        let counts = [
            self.r.unwrap_or(properties.r),
            self.pr.unwrap_or(properties.pr),
            self.node_confirms.unwrap_or(properties.node_confirms),
        ];
        let [r, pr, node_confirms] = counts.map(|quorum| quorum.of(n));
        within([r, pr, node_confirms], n)?;
        Ok(ReadTerms {
            n,
            r: r.max(1),
            pr,
            node_confirms,
            notfound_ok: self.notfound_ok.unwrap_or(properties.notfound_ok),
            basic_quorum: self.basic_quorum.unwrap_or(properties.basic_quorum),
            deadline: self.deadline(config),
        })
    }

    /// Returns the replicas that a write waits for.
    ///
    /// # Errors
    /// As [`read_terms`](Self::read_terms); the counts of reads are held against that of the replicas as
    /// well.
    pub(in crate::http) fn write_terms(
        &self,
        properties: &Properties,
        config: &Config,
    ) -> Result<WriteTerms, Fail> {
        self.read_terms(properties, config)?;
        let n = properties.n_val;
        let counts = [
            self.w.unwrap_or(properties.w),
            self.dw.unwrap_or(properties.dw),
            self.pw.unwrap_or(properties.pw),
            self.node_confirms.unwrap_or(properties.node_confirms),
        ];
        let [w, dw, pw, node_confirms] = counts.map(|quorum| quorum.of(n));
        within([w, dw, pw, node_confirms], n)?;
        let durability = match self.sync.unwrap_or(properties.sync_on_write) {
            SyncOnWrite::Backend => config.durability,
            SyncOnWrite::One | SyncOnWrite::All => Durability::Flushed,
        };
        let deadline = self.deadline(config);
        Ok(WriteTerms { n, w: w.max(1), dw: dw.max(1), pw, node_confirms, durability, deadline })
    }

    /// Returns the terms of a delete: those of a write, with `rw` for `r` and `w` where neither is given.
    pub(in crate::http) fn delete_terms(
        &self,
        properties: &Properties,
        config: &Config,
    ) -> Result<WriteTerms, Fail> {
        let both = self.rw.filter(|_| self.r.is_none() && self.w.is_none());
        let options = Options {
            r: both.or(self.r),
            w: both.or(self.w),
            pr: self.pr,
            pw: self.pw,
            dw: self.dw,
            timeout: self.timeout,
            ..Options::default()
        };
        options.write_terms(properties, config)
    }
}

const NAMES: [&str; 16] = [
    "r",
    "pr",
    "w",
    "dw",
    "pw",
    "rw",
    "node_confirms",
    "basic_quorum",
    "notfound_ok",
    "returnbody",
    "returnvalue",
    "include_context",
    "timeout",
    "sync_on_write",
    "vtag",
    "asis",
];

/// Checks that no count is above `n`; the text names the counts of writes, as clients know it, for reads too.
fn within<const COUNT: usize>(counts: [u32; COUNT], n: u32) -> Result<(), Fail> {
    if counts.into_iter().all(|count| count <= n) {
        return Ok(());
    }
    let text = format!("Specified w/dw/pw/node_confirms values invalid for bucket n value of {n}\n");
    Err(Fail::bad_request(text))
}

fn quorum(name: &str, value: &[u8], wrong: &mut String) -> Option<Quorum> {
    if value == b"default" {
        return None;
    }
    let quorum = std::str::from_utf8(value).ok().and_then(Quorum::of_text);
    if quorum.is_none() {
        *wrong += name;
        *wrong +=
            " query parameter must be an integer or one of the following words: 'one', 'quorum' or 'all'\n";
    }
    quorum
}

/// Parses a boolean; `None` for that of the bucket, and for a word that is none.
pub(in crate::http) fn boolean(name: &str, value: &[u8], wrong: &mut String) -> Option<bool> {
    match value.to_ascii_lowercase().as_slice() {
        b"true" => Some(true),
        b"false" => Some(false),
        b"default" => None,
        _ => {
            *wrong += name;
            *wrong += " query parameter must be true or false\n";
            None
        }
    }
}

/// Parses a time in milliseconds.
pub(in crate::http) fn timeout(value: &[u8], wrong: &mut String) -> Option<Duration> {
    let text = String::from_utf8_lossy(value);
    let millis = text.parse().ok().map(Duration::from_millis);
    if millis.is_none() {
        *wrong += &format!("Bad timeout value \"{}\"\n", Cut(value));
    }
    millis
}

fn sync(value: &[u8], wrong: &mut String) -> Option<SyncOnWrite> {
    match value {
        b"default" => None,
        b"backend" => Some(SyncOnWrite::Backend),
        b"one" => Some(SyncOnWrite::One),
        b"all" => Some(SyncOnWrite::All),
        _ => {
            *wrong += "sync_on_write query parameter must be one of the following words: 'default', 'backend', 'one' or 'all'\n";
            None
        }
    }
}
