//! Answers that are alike for all resources: refusals, JSON, fields.

pub(in crate::http) mod browser_fields;
pub(in crate::http) mod fail;
pub(in crate::http) mod json_content;
pub(in crate::http) mod sending;
pub(in crate::http) mod software;
pub(in crate::http) mod stand_ins;
pub(in crate::http) mod starting;
pub(in crate::http) mod unrouted;
