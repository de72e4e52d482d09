//! Field sections alone, and methods.

use std::hint::black_box;

use alula_fields::{FieldSection, KnownName, Method};
use alula_testkit::lists::{METHODS, ODD, Pair, SAME};

use crate::workload::{Run, Workload};

/// All of them. Maps of peers are cleared or made anew as the section is.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload::new(
        "fields-odd",
        4000,
        "add 4 fields by names in odd spelling to a section that is cleared",
        || add(ODD),
    )
    .beside("names as text, cleared"),
    Workload::new("fields-odd-new", 4000, "the same to a new section", || add_to_new(ODD))
        .beside("names as text, new"),
    Workload::new("fields-lower", 4000, "the same by names in lower case, cleared", || add(LOWER)),
    Workload::new("fields-known", 4000, "the same by constants, cleared", || add(KNOWN))
        .beside("names known, cleared"),
    Workload::new("fields-same", 4000, "add the same field 4 times to a section that is cleared", || {
        add(SAME)
    })
    .beside("names as text, cleared"),
    Workload::new("method-connect", 4000, "is it CONNECT: `POST`, `connect`, `CONNECT`", || {
        ask(|method| Method::eq_ignore_case(Method::Connect.as_str(), method))
    }),
    Workload::new("method-connect-parsed", 4000, "the same, each made a method first", || {
        ask(|method| Method::parse_folded(method) == Ok(Method::Connect))
    }),
];

const LOWER: [(&str, &str); 4] = [
    ("content-type", ODD[0].1),
    ("accept-encoding", ODD[1].1),
    ("x-request-id", ODD[2].1),
    ("x-client-shard", ODD[3].1),
];

const KNOWN: [(KnownName, &str); 4] = [
    (KnownName::CONTENT_TYPE, ODD[0].1),
    (KnownName::ACCEPT_ENCODING, ODD[1].1),
    (KnownName::X_REQUEST_ID, ODD[2].1),
    (KnownName::USER_AGENT, ODD[3].1),
];

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

fn add_to_new(pairs: [Pair; 4]) -> Run {
    Box::new(move |count| {
        for _ in 0..count {
            let mut section = FieldSection::new();
            for (name, value) in *black_box(&pairs) {
                section.append(name, value).expect("a valid field");
            }
            black_box(&section);
        }
    })
}

/// Three questions each.
fn ask(is_connect: impl Fn(&str) -> bool + 'static) -> Run {
    Box::new(move |count| {
        for _ in 0..count {
            let methods = black_box(&METHODS).iter();
            assert_eq!(methods.filter(|method| is_connect(method)).count(), 2);
        }
    })
}
