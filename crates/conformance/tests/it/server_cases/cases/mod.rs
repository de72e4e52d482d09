//! The cases, by topic.

mod answer_framing;
mod conditions;
mod connections;
mod errors;
mod expectations;
mod fields;
mod methods;
mod ranges;
mod request_framing;
mod special_methods;
mod statuses;
mod targets;

use super::case::Case;

/// The whole list.
pub(super) fn all() -> Vec<Case> {
    [
        answer_framing::cases,
        conditions::cases,
        connections::cases,
        errors::cases,
        expectations::cases,
        fields::cases,
        methods::cases,
        ranges::cases,
        request_framing::cases,
        special_methods::cases,
        statuses::cases,
        targets::cases,
    ]
    .into_iter()
    .flat_map(|topic| topic())
    .collect()
}
