//! Histories: the writes of each key in a recording up to some point, and which of them may be found after a
//! loss of power.

use std::collections::BTreeMap;

use alula_power::{Entry, Recording};

/// A key: the number of the task that alone writes it, and its own.
pub(crate) type Key = (u64, u64);

/// The writes of each key.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    keys: BTreeMap<Key, Vec<Write>>,
    followed: usize,
}

/// A write that was begun.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    /// The value that was put; `None` for a removal.
    count: Option<u64>,
    is_flushed: bool,
    is_answered: bool,
}

impl History {
    /// The history of what was found in a folder.
    pub(crate) fn of(found: &BTreeMap<Key, Option<u64>>) -> Self {
        let write = |count: &Option<u64>| vec![Write { count: *count, is_flushed: true, is_answered: true }];
        Self { keys: found.iter().map(|(key, count)| (*key, write(count))).collect(), followed: 0 }
    }

    /// Follows the notes of a recording up to this entry.
    pub(crate) fn follow(&mut self, recording: &Recording, to: usize) {
        for entry in &recording.entries()[self.followed..to] {
            if let Entry::Note { bytes } = entry {
                self.note(std::str::from_utf8(bytes).expect("a text"));
            }
        }
        self.followed = to;
    }

    fn note(&mut self, note: &str) {
        let words: Vec<&str> = note.split(' ').collect();
        let number = |index: usize| words[index].parse::<u64>().expect("a number");
        let writes = self.keys.entry((number(2), number(3))).or_default();
        match words[1] {
            "begun" => {
                let count = (words[4] != "removal").then(|| number(4));
                writes.push(Write { count, is_flushed: words[5] == "flushed", is_answered: false });
            }
            "answered" => writes.last_mut().expect("a write that was begun").is_answered = true,
            other => panic!("a note {other}"),
        }
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.keys.keys()
    }

    /// Checks what is found of a key. Returns true if a write of it was answered as flushed.
    pub(crate) fn check(&self, key: &Key, found: Option<u64>) -> Result<bool, String> {
        let writes = &self.keys[key];
        let flushed = writes.iter().rposition(|write| write.is_answered && write.is_flushed);
        let mut allowed: Vec<Option<u64>> =
            writes[flushed.unwrap_or(0)..].iter().map(|write| write.count).collect();
        if flushed.is_none() {
            allowed.push(None);
        }
        if allowed.contains(&found) {
            return Ok(flushed.is_some());
        }
        let was = if flushed.is_some() { "was flushed" } else { "was not flushed" };
        Err(format!("{key:?} has {found:x?}, and what {was} and later writes are {allowed:x?}"))
    }
}
