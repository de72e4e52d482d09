//! Content on its way in and out: bounds, early answers, long lines.

#[cfg(feature = "fuzzing")]
mod early_answers;
mod long_lines;
mod octets_in_flight;
