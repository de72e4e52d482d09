//! The properties of a bucket in the form in which requests use them.

use serde_json::Value;

use super::list::{List, is_true};
use crate::model::types::{Kind, Precision};

/// The properties of one bucket that change how requests are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Properties {
    pub(crate) n_val: u32,
    pub(crate) allow_mult: bool,
    /// True for buckets of write-once types as well.
    pub(crate) last_write_wins: bool,
    pub(crate) r: Quorum,
    pub(crate) w: Quorum,
    pub(crate) dw: Quorum,
    pub(crate) rw: Quorum,
    pub(crate) pr: Quorum,
    pub(crate) pw: Quorum,
    pub(crate) node_confirms: Quorum,
    pub(crate) notfound_ok: bool,
    pub(crate) basic_quorum: bool,
    pub(crate) sync_on_write: SyncOnWrite,
    pub(crate) datatype: Option<Kind>,
    /// The precision of a new count of different elements.
    pub(crate) hll_precision: Precision,
}

/// A count of replicas, or a word for one.
#[expect(
    clippy::enum_variant_names,
    reason = "quorum is both the word of clients for a majority and for all of these"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quorum {
    One,
    Quorum,
    All,
    Count(u32),
}

/// The replicas that flush a write before it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncOnWrite {
    Backend,
    One,
    All,
}

impl Properties {
    /// Reads the properties of a list that has all of them, each in its form.
    pub(super) fn of(list: &List) -> Self {
        let quorum = |name| quorum(list, name);
        Self {
            n_val: count(list, "n_val").unwrap_or(1),
            allow_mult: is_true(list, "allow_mult"),
            last_write_wins: is_true(list, "last_write_wins") || is_true(list, "write_once"),
            r: quorum("r"),
            w: quorum("w"),
            dw: quorum("dw"),
            rw: quorum("rw"),
            pr: quorum("pr"),
            pw: quorum("pw"),
            node_confirms: quorum("node_confirms"),
            notfound_ok: is_true(list, "notfound_ok"),
            basic_quorum: is_true(list, "basic_quorum"),
            sync_on_write: word(list, "sync_on_write")
                .and_then(SyncOnWrite::named)
                .unwrap_or(SyncOnWrite::All),
            datatype: word(list, "datatype").and_then(Kind::named),
            hll_precision: precision(list).unwrap_or_default(),
        }
    }
}

impl Quorum {
    /// Parses the quorum of a word or of decimal digits.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        Some(match text {
            "one" => Self::One,
            "quorum" => Self::Quorum,
            "all" => Self::All,
            digits => Self::Count(digits.parse().ok()?),
        })
    }

    /// Returns the number of replicas, of `n`, that the quorum stands for.
    pub(crate) const fn of(self, n: u32) -> u32 {
        match self {
            Self::One => 1,
            Self::Quorum => n / 2 + 1,
            Self::All => n,
            Self::Count(count) => count,
        }
    }
}

impl SyncOnWrite {
    /// Returns the value of this name, or `None`.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "backend" => Self::Backend,
            "one" => Self::One,
            "all" => Self::All,
            _ => return None,
        })
    }
}

/// Returns the precision in a list, or `None`.
pub(super) fn precision(list: &List) -> Option<Precision> {
    u8::try_from(count(list, "hll_precision")?).ok().and_then(Precision::new)
}

fn quorum(list: &List, name: &str) -> Quorum {
    let quorum = match list.get(name) {
        Some(Value::String(word)) => Quorum::of_text(word),
        _ => count(list, name).map(Quorum::Count),
    };
    quorum.unwrap_or(Quorum::Quorum)
}

fn count(list: &List, name: &str) -> Option<u32> {
    list.get(name)?.as_u64()?.try_into().ok()
}

fn word<'a>(list: &'a List, name: &str) -> Option<&'a str> {
    list.get(name)?.as_str()
}
