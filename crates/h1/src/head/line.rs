//! The ends of lines (RFC 9112 §2.2).

use crate::guard::violation::Violation;

/// Returns the length of the line end that begins at `at`; `None` while it is not all here.
///
/// The byte there is a control, since what comes before it is not.
#[inline]
pub(crate) fn end(input: &[u8], at: usize, bare_lf: bool) -> Result<Option<usize>, Violation> {
    match &input[at..] {
        [b'\r', b'\n', ..] => Ok(Some(2)),
        [b'\r'] | [] => Ok(None),
        [b'\n', ..] if bare_lf => Ok(Some(1)),
        [b'\n', ..] => Err(Violation::BARE_LF),
        [b'\r', ..] => Err(Violation::BARE_CR),
        _ => Err(Violation::VALUE_INVALID),
    }
}
