//! The crate fluke-hpack, a descendant of the crate hpack; its encoder enters nothing into the table.

use std::borrow::Cow;
use std::hint::black_box;

use fluke_hpack::{Decoder, Encoder};

use crate::hpack::lists::{Blocks, Case};
use crate::measure::Run;

pub(crate) fn encode(case: &str) -> Run {
    let case = Case::of(case);
    let (mut encoder, mut out, mut number) = (Encoder::new(), Vec::with_capacity(1024), 0);
    Box::new(move |blocks| {
        for _ in 0..blocks {
            if number % case.renew == 0 {
                encoder = Encoder::new();
            }
            out.clear();
            let list = black_box(&case.lists[number & (case.lists.len() - 1)]).iter();
            let fields = list.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
            encoder.encode_into(fields, &mut out).expect("a Vec takes any bytes");
            black_box(&out);
            number += 1;
        }
    })
}

pub(crate) fn decode(lists: &str, case: &str) -> Run {
    let (mut blocks, mut decoder) = (Blocks::load(lists, case), Decoder::new());
    Box::new(move |count| {
        for _ in 0..count {
            let look = |name: Cow<'_, [u8]>, value: Cow<'_, [u8]>| {
                black_box((&*name, &*value));
            };
            decoder.decode_with_cb(black_box(blocks.next()), look).expect("a valid block");
        }
    })
}
