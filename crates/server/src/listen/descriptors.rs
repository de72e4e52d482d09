//! The number of connections for which the process has descriptors.

/// The divisor for the descriptors that are left to the rest of the process: at least `RESERVE_MIN`, and at
/// most half of all.
const RESERVE_SHARE: u64 = 8;
const RESERVE_MIN: u64 = 32;

/// Returns the default of `Limits::connections_max`: the soft limit of descriptors less a reserve, and 1 at
/// least. Without bound where the system has no such limit.
pub(crate) fn connections_max() -> u32 {
    let descriptors = soft_limit();
    u32::try_from(descriptors - reserve_of(descriptors)).unwrap_or(u32::MAX).max(1)
}

fn reserve_of(descriptors: u64) -> u64 {
    (descriptors / RESERVE_SHARE).max(RESERVE_MIN).min(descriptors / 2)
}

#[cfg(unix)]
fn soft_limit() -> u64 {
    use nix::sys::resource::{Resource, getrlimit};

    getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft)
}

#[cfg(not(unix))]
fn soft_limit() -> u64 {
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eighth_is_left_to_others_and_at_least_a_few() {
        let left = [0, 1, 24, 64, 256, 1024, 20_000].map(|all| all - reserve_of(all));
        assert_eq!(left, [0, 1, 12, 32, 224, 896, 17_500]);
        assert!(reserve_of(u64::MAX) > 0);
    }
}
