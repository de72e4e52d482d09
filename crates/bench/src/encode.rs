//! HPACK encoding of a browser's request, in the five cases the peers were measured in.

use std::hint::black_box;

use alula_fields::OutBuf;
use alula_hpack::{Encoder, EncoderConfig, Field, Indexing, Part, PreparedBlock};
use alula_testkit::lists::{self, BROWSER, PATH, Pair, REQUEST_ID};

use crate::workload::{Run, Workload};

/// All of them; encoders have the default settings.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload::new("encode-a", 2000, "encode 12 fields, the same each time", || {
        plain(same(BROWSER), |_, _| {})
    }),
    Workload::new("encode-e", 2000, "encode 12 fields, path `/`, all indexed", || {
        plain(same(front_page()), |_, _| {})
    }),
    Workload::new("encode-e-names", 2000, "the same, names looked up", || by_name(front_page())),
    Workload::new("encode-e-prepared", 2000, "the same, prepared", || prepared_same(front_page())),
    Workload::new("encode-b", 2000, "encode 12 fields, path and request id new each time", || {
        plain(visits(), |_, _| {})
    }),
    Workload::new("encode-b-prepared", 2000, "the same, prepared with two holes", prepared_visits),
    Workload::new("encode-c", 200, "encode 12 fields with a new encoder", || {
        plain(same(BROWSER), |encoder, _| *encoder = new_encoder())
    }),
    Workload::new("encode-c-reset", 200, "the same, with an encoder that is reset", || {
        plain(same(BROWSER), |encoder, _| encoder.reset())
    }),
    Workload::new("encode-d", 2000, "encode 12 fields, a new encoder per 100 blocks", || {
        plain(same(BROWSER), |encoder, number| {
            if number % 100 == 0 {
                *encoder = new_encoder()
            }
        })
    }),
    Workload::new("encode-d-reset", 2000, "the same, with an encoder that is reset", || {
        plain(same(BROWSER), |encoder, number| {
            if number % 100 == 0 {
                encoder.reset()
            }
        })
    }),
];

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
    let list = |number| {
        let [path, id] = lists::visit(number).map(|value| &*value.leak());
        let mut pairs = BROWSER;
        (pairs[PATH].1, pairs[REQUEST_ID].1) = (path, id);
        fields(&pairs)
    };
    (0..lists::VISITS).map(list).collect()
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

/// As those do who have text only.
fn by_name(pairs: [Pair; 12]) -> Run {
    let mut encoder = new_encoder();
    let mut out = OutBuf::with_capacity(1024);
    Box::new(move |blocks| {
        for _ in 0..blocks {
            out.clear();
            let list = black_box(&pairs).iter();
            encoder.encode(list.map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes())), &mut out);
            black_box(out.unsent());
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
