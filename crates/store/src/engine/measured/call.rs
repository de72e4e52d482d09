//! The labels of calls and of their outcomes.

use crate::engine::EngineError;

/// A call of an engine or of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    Get,
    /// The length of a record.
    Bytes,
    Write,
    Snapshot,
    /// A page of keys.
    Keys,
    /// A page of entries.
    Entries,
    /// A page of buckets.
    Buckets,
    /// A page of objects that read as deleted.
    Deleted,
    Settings,
    Set,
}

/// The way in which a call ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallOutcome {
    Ok,
    Busy,
    TimedOut,
    Unavailable,
    Refused,
    NoRoom,
    Unknown,
    Unreadable,
    /// The caller went away before. A write goes on then.
    Abandoned,
}

impl Call {
    /// The labels, in the order of the calls.
    pub(super) const LABELS: [&str; 10] =
        ["get", "bytes", "write", "snapshot", "keys", "entries", "buckets", "deleted", "settings", "set"];
}

impl CallOutcome {
    /// The labels, in the order of the outcomes.
    pub(super) const LABELS: [&str; 9] = [
        "ok",
        "busy",
        "timed_out",
        "unavailable",
        "refused",
        "no_room",
        "unknown",
        "unreadable",
        "abandoned",
    ];

    pub(super) const fn of<T>(result: &Result<T, EngineError>) -> Self {
        match result {
            Ok(_) => Self::Ok,
            Err(EngineError::Busy) => Self::Busy,
            Err(EngineError::TimedOut) => Self::TimedOut,
            Err(EngineError::Unavailable(_)) => Self::Unavailable,
            Err(EngineError::WritesRefused | EngineError::Reopening) => Self::Refused,
            Err(EngineError::NoRoom) => Self::NoRoom,
            Err(EngineError::Unknown(_)) => Self::Unknown,
            Err(EngineError::Unreadable(_)) => Self::Unreadable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_in_the_order_of_what_they_name() {
        for (call, label) in [
            (Call::Get, "get"),
            (Call::Snapshot, "snapshot"),
            (Call::Entries, "entries"),
            (Call::Deleted, "deleted"),
            (Call::Set, "set"),
        ] {
            assert_eq!(Call::LABELS[call as usize], label);
        }
        for (result, label) in [
            (Ok(()), "ok"),
            (Err(EngineError::Busy), "busy"),
            (Err(EngineError::TimedOut), "timed_out"),
            (Err(EngineError::WritesRefused), "refused"),
            (Err(EngineError::NoRoom), "no_room"),
        ] {
            assert_eq!(CallOutcome::LABELS[CallOutcome::of(&result) as usize], label);
        }
        assert_eq!(CallOutcome::LABELS[CallOutcome::Abandoned as usize], "abandoned");
    }
}
