//! Content on its way in and out: bounds, early answers, long lines.

mod bytes_in_flight;
#[cfg(feature = "fuzzing")]
mod early_answers;
mod long_lines;
