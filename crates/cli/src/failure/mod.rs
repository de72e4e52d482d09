//! Failures in the words of the command, and its exit codes.

pub(crate) mod exit;
pub(crate) mod sentence;
