//! How far content may grow by being decoded.

/// Content up to this many octets may have grown as it likes.
const FREE_OCTETS: u64 = 1 << 20;
/// More must be no more than this many times what came over the wire. Deflate can do a thousandfold, brotli and zstd far more;
/// text and even logs stay well below.
const RATIO_MAX: u64 = 100;

/// Whether content that came as `taken` octets may have grown to `made`, which holds between two codings as well.
pub(super) fn check(taken: u64, made: u64) -> Result<(), &'static str> {
    if made > FREE_OCTETS && made > taken.saturating_mul(RATIO_MAX) {
        return Err("it grows more than a hundredfold, as only attacks do");
    }
    Ok(())
}
