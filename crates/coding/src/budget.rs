//! The bounds on the size of decoded content.

use alula_net::Cause;

/// The bytes of content up to which growth is not checked.
const FREE_BYTES: u64 = 1 << 20;
/// The largest growth of content beyond that, as a multiple of the bytes on the wire. Deflate can do a
/// thousandfold, brotli and zstd far more; text and even logs stay well below.
const RATIO_MAX: u64 = 100;
/// The bytes that codings may add to content, beside doubling it: headers of gzip and zstd, and frequent
/// flushes.
const CODED_OVERHEAD: u64 = 64 << 10;

/// Returns the most coded bytes for content of at most `bytes_max` decoded bytes: twice as many and 64 KiB,
/// so that bytes that decode to nothing come to an end.
pub const fn coded_bytes_max(bytes_max: u64) -> u64 {
    bytes_max.saturating_mul(2).saturating_add(CODED_OVERHEAD)
}

/// Checks content: so many bytes came, one coding turned them into `between`, and the other, if there is one,
/// into `made`.
pub(crate) fn check(taken: u64, between: u64, made: u64, bytes_max: u64) -> Result<(), Cause> {
    let most = between.max(made);
    // Small content is spared: repetitive text may honestly grow a thousandfold.
    if most > FREE_BYTES && most > taken.saturating_mul(RATIO_MAX) {
        return Err(Cause::Growth(RATIO_MAX));
    }
    if made > bytes_max || taken > coded_bytes_max(bytes_max) {
        return Err(Cause::TooLong(bytes_max));
    }
    Ok(())
}
