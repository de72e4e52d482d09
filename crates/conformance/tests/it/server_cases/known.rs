//! Rules that the server does not keep, each with the reason.

/// The name of a case, and why it fails.
pub(crate) const DIFFERENCES: &[(&str, &str)] = &[];

/// Returns why a case of this name fails, if it is known to.
pub(crate) fn reason(name: &str) -> Option<&'static str> {
    DIFFERENCES.iter().find(|(own, _)| *own == name).map(|(_, reason)| *reason)
}
