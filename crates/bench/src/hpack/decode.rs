//! HPACK decoding of a browser's request, in five cases, and of a proxy's.
//!
//! The blocks come from an encoder that enters every field but the path, as nghttp2 does.

use std::hint::black_box;

use alula_fields::Head;
use alula_hpack::{
    Collect, Decoded, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Indexing, Memo, Policy,
};
use alula_machine::{Limits, OutBuf};
use alula_testkit::lists::{BROWSER, PATH};

use crate::hpack::encode::{List, fields, front_page, proxied, same, visits};
use crate::workload::{Run, Workload};

/// All of them. Peers that show fields to a caller stand beside visiting, those that fill a map of fields
/// beside `-section`.
pub(crate) const WORKLOADS: &[Workload] = &[
    visited("decode-a", 2000, "decode 12 fields, all indexed but the path, visiting", || {
        visiting(Blocks::of(&same(BROWSER), 2), never)
    }),
    collected("decode-a-section", 2000, || into_section(Blocks::of(&same(BROWSER), 2), never)),
    visited("decode-e", 2000, "decode 12 fields, all indexed, visiting", || {
        visiting(Blocks::of(&same(front_page()), 2), never)
    }),
    collected("decode-e-section", 2000, || into_section(Blocks::of(&same(front_page()), 2), never)),
    Workload::new("decode-e-memo", 2000, "the same, remembered and copied into a field section", by_memo),
    visited("decode-b", 1000, "decode 12 fields, path and request id new each time, visiting", || {
        visiting(Blocks::of(&visits(), BLOCKS), never)
    }),
    collected("decode-b-section", 1000, || into_section(Blocks::of(&visits(), BLOCKS), never)),
    visited(
        "decode-proxied",
        1000,
        "decode 15 fields of 50 browsers' requests from a proxy, visiting",
        || visiting(Blocks::proxied(), never),
    ),
    collected("decode-proxied-section", 1000, || into_section(Blocks::proxied(), never)),
    visited("decode-c", 200, "decode 12 fields, all literals, with a new decoder, visiting", || {
        visiting(Blocks::of(&same(BROWSER), 1), |decoder, _| *decoder = new_decoder())
    }),
    Workload::new("decode-c-reset", 200, "the same, with a decoder that is reset", || {
        visiting(Blocks::of(&same(BROWSER), 1), |decoder, _| decoder.reset())
    }),
    visited("decode-d", 2000, "decode 12 fields, a new decoder per 100 blocks, visiting", || {
        visiting(Blocks::of(&same(BROWSER), 100), |decoder, number| {
            if number == 0 {
                *decoder = new_decoder()
            }
        })
    }),
    Workload::new("decode-d-reset", 2000, "the same, with a decoder that is reset", || {
        visiting(Blocks::of(&same(BROWSER), 100), |decoder, number| {
            if number == 0 {
                decoder.reset()
            }
        })
    }),
];

const fn visited(name: &'static str, units: u64, what: &'static str, prepare: fn() -> Run) -> Workload {
    Workload::new(name, units, what, prepare).beside("shown to a visitor")
}

const fn collected(name: &'static str, units: u64, prepare: fn() -> Run) -> Workload {
    Workload::new(name, units, "the same, into a field section", prepare).beside("collected")
}

fn never(_: &mut Decoder, _: usize) {}

/// More than are decoded after the first, as each is only right once after all before it.
pub(crate) const BLOCKS: usize = 8192;

/// Blocks to decode in a row; after the last the first come again, which a decoder that goes on would read
/// wrongly.
pub(crate) struct Blocks {
    blocks: Vec<Vec<u8>>,
    /// Where to go on behind the last.
    again_from: usize,
}

impl Blocks {
    /// The first `count` blocks that one encoder makes of these lists. Of one list, the second block stands
    /// for all that follow it unless there are more; else decoding begins anew.
    pub(crate) fn of(lists: &[List], count: usize) -> Self {
        let policy = Policy::Always;
        let mut encoder = Encoder::new(EncoderConfig { policy, ..EncoderConfig::default() });
        let list = |number: usize| lists[number % lists.len()].iter().enumerate().map(without_path);
        let blocks = (0..count).map(|number| block(&mut encoder, list(number))).collect();
        Self { blocks, again_from: usize::from(count == 2) }
    }

    /// Those of a proxy's requests.
    pub(crate) fn proxied() -> Self {
        let lists: Vec<List> = proxied().iter().map(|list| fields(list)).collect();
        Self::of(&lists, BLOCKS)
    }

    /// All of them, each behind its length in two bytes.
    pub(crate) fn behind_lengths(&self) -> Vec<u8> {
        let length = |block: &Vec<u8>| u16::try_from(block.len()).expect("a short block").to_be_bytes();
        self.blocks.iter().flat_map(|block| [&length(block)[..], block].concat()).collect()
    }

    fn after(&self, number: usize) -> usize {
        if number + 1 < self.blocks.len() { number + 1 } else { self.again_from }
    }
}

pub(crate) fn block<'f>(encoder: &mut Encoder, fields: impl IntoIterator<Item = Field<'f>>) -> Vec<u8> {
    let mut out = OutBuf::new();
    encoder.encode(fields, &mut out);
    out.unsent().to_vec()
}

fn without_path((place, field): (usize, &Field<'static>)) -> Field<'static> {
    // `/` is in the static table.
    if place == PATH && field.value != b"/" { field.with(Indexing::Without) } else { *field }
}

fn new_decoder() -> Decoder {
    Decoder::new(DecoderLimits::default())
}

/// Decodes block after block; `renew` may do something to the decoder before each.
fn visiting(blocks: Blocks, renew: impl Fn(&mut Decoder, usize) + 'static) -> Run {
    let mut decoder = new_decoder();
    let mut number = 0;
    Box::new(move |count| {
        for _ in 0..count {
            renew(&mut decoder, number);
            visit(&mut decoder, &blocks.blocks[number]);
            number = blocks.after(number);
            assert!(number != 0 || blocks.blocks.len() != BLOCKS, "the workload has more blocks");
        }
    })
}

/// Decodes a block and looks at every field.
#[inline(always)]
pub(crate) fn visit(decoder: &mut Decoder, block: &[u8]) {
    let mut visit = |field: Decoded<'_>| {
        black_box((field.name, field.value));
    };
    decoder.decode(black_box(block), true, &mut visit).expect("a valid block");
}

fn into_section(blocks: Blocks, renew: impl Fn(&mut Decoder, usize) + 'static) -> Run {
    let (mut decoder, mut head, limits) = (new_decoder(), Head::new(), Limits::default());
    let mut number = 0;
    Box::new(move |count| {
        for _ in 0..count {
            renew(&mut decoder, number);
            head.clear();
            collect(&mut decoder, &blocks.blocks[number], &mut head, &limits);
            black_box(&head);
            number = blocks.after(number);
            assert!(number != 0 || blocks.blocks.len() != BLOCKS, "the workload has more blocks");
        }
    })
}

/// Decodes a block into a head, with every check of single fields.
#[inline(always)]
pub(crate) fn collect(decoder: &mut Decoder, block: &[u8], head: &mut Head, limits: &Limits) {
    let mut collect = Collect::head(head, limits);
    decoder.decode(black_box(block), true, &mut collect).expect("a valid block");
    collect.finish().expect("within the limits");
}

fn by_memo() -> Run {
    let Blocks { blocks, .. } = Blocks::of(&same(front_page()), 2);
    let (mut decoder, mut memo) = (new_decoder(), Memo::<Head>::new());
    let (mut head, limits) = (Head::new(), Limits::default());
    for block in &blocks {
        head.clear();
        collect(&mut decoder, block, &mut head, &limits);
    }
    // It is remembered when it comes for the second time.
    (0..2).for_each(|_| memo.put(&decoder, &blocks[1], |kept| kept.clone_from(&head)));
    Box::new(move |count| {
        for _ in 0..count {
            head.fields.clear();
            let kept = memo.get(&decoder, black_box(&blocks[1])).expect("it is remembered");
            head.fields.extend_from(&kept.fields);
            black_box(&head);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that nghttp2 made of case b were 51.9 per block: then the decoders had the same work.
    #[test]
    fn the_blocks_are_as_long_as_those_the_peers_decoded() {
        let blocks = Blocks::of(&visits(), BLOCKS).blocks;
        let bytes: usize = blocks[1024..].iter().map(Vec::len).sum();
        let per_block = bytes as f64 / (BLOCKS - 1024) as f64;
        assert!((51.0..53.0).contains(&per_block), "{per_block}");
        assert_eq!(Blocks::of(&same(front_page()), 2).blocks[1].len(), 12);
    }
}
