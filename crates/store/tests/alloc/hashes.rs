//! The memory of a slow hash goes back to the system when it is computed, as the process
//! measures itself.

use alula_store::access::hash_password;

const HASHES: u64 = 20;

/// The bytes of another thing that is allocated on the thread of a hash, and stays.
const KEPT_BYTES: usize = 100_000;

/// Returns the bytes of this process that are in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("what the system says of this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line of it");
    let kib = line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number");
    kib * 1024
}

pub(crate) fn the_memory_of_hashes_does_not_stay() {
    let hash = |number: u64| {
        hash_password(format!("{number}").as_bytes()).expect("random bytes");
        vec![1_u8; KEPT_BYTES]
    };
    let hashing = std::thread::spawn(move || {
        let mut kept = vec![hash(0)];
        let before = resident();
        kept.extend((0..HASHES).map(hash));
        (resident().saturating_sub(before), kept.len())
    });
    let (stayed, kept) = hashing.join().expect("no panic");
    assert!(stayed < HASHES * 1024 * 1024, "{stayed} bytes stay of {kept} hashes");
}
