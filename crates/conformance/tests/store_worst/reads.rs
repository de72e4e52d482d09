//! Shapes of reads: values of data types and siblings, whose answers are read or not.

use crate::attack::{Attack, get, put};
use crate::bodies;

/// Clients that do not read.
const UNREAD: usize = 8;

pub(crate) fn data_types() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (shape, path, before, bytes) in bodies::large_values() {
        let read = Attack::of(format!("{shape}, read"), get(path, ""));
        attacks.push(read.after(before.clone(), bytes));
        // The record and the answer.
        let unread = Attack::of(format!("{shape}, unread"), get(path, "")).unread(UNREAD);
        attacks.push(unread.after(before.clone(), 2 * bytes));
        let object = path.replace("/datatypes/", "/keys/");
        let unread = Attack::of(format!("{shape}, unread as an object"), get(&object, "")).unread(UNREAD);
        attacks.push(unread.after(before, 2 * bytes));
    }
    attacks
}

pub(crate) fn siblings() -> Vec<Attack> {
    const PATH: &str = "/types/many/buckets/b/keys/k";
    let mut attacks = Vec::new();
    for (count, bytes, meta) in [(90, 100, 10), (20, 100_000, 0), (90, 10_000, 0), (90, 100, 2_000)] {
        let fields = format!("x-riak-meta-a: {}\r\nx-riak-index-a_bin: a, b, c\r\n", "m".repeat(meta));
        let before: Vec<_> = (0..count).map(|_| put(PATH, &fields, &vec![b'x'; bytes])).collect();
        let touched = count * (bytes + meta + 100);
        let mixed = "accept: multipart/mixed\r\n";
        let shape = format!("{count} siblings of {bytes} and {meta}");
        attacks.push(Attack::of(format!("{shape}, read"), get(PATH, mixed)).after(before.clone(), touched));
        attacks
            .push(Attack::of(format!("{shape}, their names"), get(PATH, "")).after(before.clone(), touched));
        let unread = Attack::of(format!("{shape}, unread"), get(PATH, mixed)).unread(UNREAD);
        attacks.push(unread.after(before, 2 * touched));
    }
    attacks
}
