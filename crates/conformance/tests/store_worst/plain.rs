//! The time that a byte of a plain PUT takes, with which that of others is compared.

use std::sync::OnceLock;

use crate::attack::{Attack, put};
use crate::measure;

const BYTES: usize = 8 * 1024 * 1024;

/// The seconds that a byte of a plain PUT takes in the program.
pub(crate) fn cost() -> f64 {
    static COST: OnceLock<f64> = OnceLock::new();
    *COST.get_or_init(|| {
        let attack = Attack::of("a plain PUT", put("/buckets/b/keys/plain", "", &vec![b'a'; BYTES]));
        let used = measure::run(&attack, &mut measure::Prepared::default());
        println!("a plain PUT: {}", used.shown());
        used.seconds_per_byte()
    })
}
