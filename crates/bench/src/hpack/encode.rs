//! HPACK encoding of a browser's request, in five cases, and of a proxy's.

use std::hint::black_box;

use alula_hpack::{Encoder, EncoderConfig, Field, Indexing, Part, PreparedBlock};
use alula_machine::OutBuf;
use alula_testkit::lists::{self, BROWSER, PATH, Pair, REQUEST_ID};
use alula_testkit::traffic::Traffic;

use crate::workload::{Run, Workload};

/// All of them; encoders have the default settings. Peers that look names up stand beside `-names`, and those
/// that are given names known before beside the others.
pub(crate) const WORKLOADS: &[Workload] = &[
    known("encode-a", 2000, "encode 12 fields, the same each time", || plain(same(BROWSER), never)),
    text("encode-a-names", 2000, "the same, names looked up", || by_name(vec![BROWSER.to_vec()], never)),
    known("encode-e", 2000, "encode 12 fields, path `/`, all indexed", || plain(same(front_page()), never)),
    text("encode-e-names", 2000, "the same, names looked up", || by_name(vec![front_page().to_vec()], never)),
    Workload::new("encode-e-prepared", 2000, "the same, prepared", || prepared_same(front_page())),
    known("encode-b", 2000, "encode 12 fields, path and request id new each time", || plain(visits(), never)),
    text("encode-b-names", 2000, "the same, names looked up", || by_name(visited(), never)),
    Workload::new("encode-b-prepared", 2000, "the same, prepared with two holes", prepared_visits),
    known("encode-proxied", 2000, "encode 15 fields of 50 browsers' requests from a proxy", || {
        plain(proxied().iter().map(|list| fields(list)).collect(), never)
    }),
    text("encode-proxied-names", 2000, "the same, names looked up", || by_name(proxied(), never)),
    known("encode-c", 200, "encode 12 fields with a new encoder", || {
        plain(same(BROWSER), |encoder, _| *encoder = new_encoder())
    }),
    text("encode-c-names", 200, "the same, names looked up", || {
        by_name(vec![BROWSER.to_vec()], |encoder, _| *encoder = new_encoder())
    }),
    Workload::new("encode-c-reset", 200, "encode 12 fields with an encoder that is reset", || {
        plain(same(BROWSER), |encoder, _| encoder.reset())
    }),
    known("encode-d", 2000, "encode 12 fields, a new encoder per 100 blocks", || {
        plain(same(BROWSER), new_per_100)
    }),
    text("encode-d-names", 2000, "the same, names looked up", || {
        by_name(vec![BROWSER.to_vec()], new_per_100)
    }),
    Workload::new("encode-d-reset", 2000, "encode 12 fields, the encoder reset per 100 blocks", || {
        plain(same(BROWSER), |encoder, number| {
            if number % 100 == 0 {
                encoder.reset()
            }
        })
    }),
];

const fn known(name: &'static str, units: u64, what: &'static str, prepare: fn() -> Run) -> Workload {
    Workload::new(name, units, what, prepare).beside("names known")
}

const fn text(name: &'static str, units: u64, what: &'static str, prepare: fn() -> Run) -> Workload {
    Workload::new(name, units, what, prepare).beside("names as text")
}

fn never(_: &mut Encoder, _: usize) {}

fn new_per_100(encoder: &mut Encoder, number: usize) {
    if number.is_multiple_of(100) {
        *encoder = new_encoder()
    }
}

/// A list of fields whose names are known by number already, as a field section holds them.
pub(crate) type List = Vec<Field<'static>>;

/// Lists whose number is a power of two.
pub(crate) fn same<const N: usize>(pairs: [Pair; N]) -> Vec<List> {
    vec![fields(&pairs)]
}

pub(crate) fn fields(pairs: &[Pair]) -> List {
    pairs.iter().map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes())).collect()
}

/// Case e.
pub(crate) fn front_page() -> [Pair; 12] {
    let mut pairs = BROWSER;
    pairs[PATH].1 = "/";
    pairs
}

/// Case b.
pub(crate) fn visits() -> Vec<List> {
    visited().iter().map(|list| fields(list)).collect()
}

/// Case b as text.
fn visited() -> Vec<Vec<Pair>> {
    let list = |number| {
        let [path, id] = lists::visit(number).map(|value| &*value.leak());
        let mut pairs = BROWSER;
        (pairs[PATH].1, pairs[REQUEST_ID].1) = (path, id);
        pairs.to_vec()
    };
    (0..lists::VISITS).map(list).collect()
}

/// A proxy's requests as text.
pub(crate) fn proxied() -> Vec<Vec<Pair>> {
    let list = |number| Traffic::Proxied.request(number, "www.example.com").into_iter();
    let leaked = |(name, value): (&'static str, String)| (name, &*value.leak());
    (0..lists::VISITS).map(|number| list(number).map(leaked).collect()).collect()
}

/// A field that the encoder's policy decides about, unless it has this name: then it is a literal.
pub(crate) fn field_but<'f>(name: &'f str, value: &'f str, literal: &str) -> Field<'f> {
    let indexing = if name == literal { Indexing::Without } else { Indexing::Auto };
    Field::new(name.as_bytes(), value.as_bytes()).with(indexing)
}

/// Encodes list after list; `renew` may do something to the encoder before each block.
pub(crate) fn plain(lists: Vec<List>, renew: impl Fn(&mut Encoder, usize) + 'static) -> Run {
    encode_all(new_encoder(), lists, renew)
}

pub(crate) fn encode_all(
    mut encoder: Encoder,
    lists: Vec<List>,
    renew: impl Fn(&mut Encoder, usize) + 'static,
) -> Run {
    assert!(lists.len().is_power_of_two());
    let mut out = OutBuf::with_capacity(1024);
    let mut number = 0;
    Box::new(move |blocks| {
        for _ in 0..blocks {
            renew(&mut encoder, number);
            out.clear();
            let list = black_box(&lists[number & (lists.len() - 1)]);
            encoder.encode(list.iter().copied(), &mut out);
            black_box(out.unsent());
            number += 1;
        }
    })
}

/// Encodes list after list whose names are text.
fn by_name(lists: Vec<Vec<Pair>>, renew: impl Fn(&mut Encoder, usize) + 'static) -> Run {
    assert!(lists.len().is_power_of_two());
    let mut encoder = new_encoder();
    let mut out = OutBuf::with_capacity(1024);
    let mut number = 0;
    Box::new(move |blocks| {
        for _ in 0..blocks {
            renew(&mut encoder, number);
            out.clear();
            let list = black_box(&lists[number & (lists.len() - 1)]).iter();
            encoder.encode(list.map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes())), &mut out);
            black_box(out.unsent());
            number += 1;
        }
    })
}

fn prepared_same(pairs: [Pair; 12]) -> Run {
    let prepared = PreparedBlock::new(fields(&pairs).into_iter().map(Part::Field)).expect("valid fields");
    let mut encoder = new_encoder();
    let mut out = OutBuf::with_capacity(1024);
    Box::new(move |blocks| {
        for _ in 0..blocks {
            out.clear();
            encoder.emit(black_box(&prepared), &[], &mut out);
            black_box(out.unsent());
        }
    })
}

fn prepared_visits() -> Run {
    let prepared =
        PreparedBlock::new(fields(&BROWSER).into_iter().enumerate().map(with_holes)).expect("valid fields");
    let visits: Vec<[String; 2]> = (0..lists::VISITS).map(lists::visit).collect();
    let mut encoder = new_encoder();
    let mut out = OutBuf::with_capacity(1024);
    let mut number = 0;
    Box::new(move |blocks| {
        for _ in 0..blocks {
            out.clear();
            let [path, id] = black_box(&visits[number & (lists::VISITS - 1)]);
            encoder.emit(black_box(&prepared), &[path.as_bytes(), id.as_bytes()], &mut out);
            black_box(out.unsent());
            number += 1;
        }
    })
}

fn with_holes((place, field): (usize, Field<'static>)) -> Part<'static> {
    match place {
        PATH | REQUEST_ID => Part::Hole { name: field.name, indexing: Indexing::Auto },
        _ => Part::Field(field),
    }
}

fn new_encoder() -> Encoder {
    Encoder::new(EncoderConfig::default())
}
