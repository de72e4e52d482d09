//! Field sections alone.

use std::hint::black_box;

use alula_fields::{FieldSection, KnownName};

use crate::workload::{Run, Workload};

/// All of them.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload::new("fields-odd", 4000, "add 4 fields by names in odd spelling", || add(ODD)),
    Workload::new("fields-lower", 4000, "add 4 fields by names in lower case", || add(LOWER)),
    Workload::new("fields-known", 4000, "add 4 fields by constants", || add(KNOWN)),
];

const ODD: [(&str, &str); 4] = [
    ("Content-Type", VALUES[0]),
    ("ACCEPT-encoding", VALUES[1]),
    ("X-Request-ID", VALUES[2]),
    ("X-cliEnt-Shard", VALUES[3]),
];

const LOWER: [(&str, &str); 4] = [
    ("content-type", VALUES[0]),
    ("accept-encoding", VALUES[1]),
    ("x-request-id", VALUES[2]),
    ("x-client-shard", VALUES[3]),
];

const KNOWN: [(KnownName, &str); 4] = [
    (KnownName::CONTENT_TYPE, VALUES[0]),
    (KnownName::ACCEPT_ENCODING, VALUES[1]),
    (KnownName::X_REQUEST_ID, VALUES[2]),
    (KnownName::USER_AGENT, VALUES[3]),
];

const VALUES: [&str; 4] = ["application/json", "gzip, deflate, br", "3f1c8a6e9b0d4725", "shard-17"];

fn add<N: alula_fields::IntoName<'static> + Copy + 'static>(pairs: [(N, &'static str); 4]) -> Run {
    let mut section = FieldSection::new();
    Box::new(move |count| {
        for _ in 0..count {
            section.clear();
            for (name, value) in *black_box(&pairs) {
                section.append(name, value).expect("a valid field");
            }
            black_box(&section);
        }
    })
}
