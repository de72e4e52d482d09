//! The crate httlib-hpack, which takes and gives fields as vectors of their own.

use std::hint::black_box;

use httlib_hpack::{Decoder, Encoder};

use crate::hpack::lists::{Blocks, Case};
use crate::measure::Run;

pub(crate) fn encode(case: &str) -> Run {
    let case = Case::of(case);
    let (mut encoder, mut out, mut number) = (Encoder::default(), Vec::with_capacity(1024), 0);
    let flags = Encoder::HUFFMAN_VALUE | Encoder::WITH_INDEXING | Encoder::BEST_FORMAT;
    Box::new(move |blocks| {
        for _ in 0..blocks {
            if number % case.renew == 0 {
                encoder = Encoder::default();
            }
            out.clear();
            for (name, value) in black_box(&case.lists[number & (case.lists.len() - 1)]) {
                let field = (name.as_bytes().to_vec(), value.as_bytes().to_vec(), flags);
                encoder.encode(field, &mut out).expect("a valid field");
            }
            black_box(&out);
            number += 1;
        }
    })
}

pub(crate) fn decode(lists: &str, case: &str) -> Run {
    let (mut blocks, mut decoder) = (Blocks::load(lists, case), Decoder::default());
    let (mut input, mut fields) = (Vec::with_capacity(1024), Vec::with_capacity(16));
    Box::new(move |count| {
        for _ in 0..count {
            input.clear();
            input.extend_from_slice(black_box(blocks.next()));
            fields.clear();
            decoder.decode(&mut input, &mut fields).expect("a valid block");
            black_box(&fields);
        }
    })
}
