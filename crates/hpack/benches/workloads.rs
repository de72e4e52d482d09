//! One workload so many times, for counting instructions: `workloads NAME TIMES`. Without a name all of them
//! run once and say how many bytes a block takes.
//!
//! Count with callgrind at N and at 2N; the difference divided by N is one block.

#[path = "../tests/it/lists.rs"]
mod lists;

use std::hint::black_box;

use alula_fields::{Head, KnownName};
use alula_hpack::{
    Collect, Decoded, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Huffman, Indexing, Memo, Part,
    Policy, PreparedBlock,
};
use alula_machine::{Limits, OutBuf};

/// A workload: how it is called, and what runs it so many times and says how many bytes the last block had.
type Workload = (&'static str, fn(usize) -> usize);

const WORKLOADS: [Workload; 26] = [
    ("enc-e", |times| encode_same(Policy::Always, &lists::front_page(), times)),
    ("enc-e-repeat", |times| encode_same(Policy::Repeat, &lists::front_page(), times)),
    ("enc-e-static", |times| encode_same(Policy::Static, &lists::front_page(), times)),
    ("enc-e-prepared", encode_prepared_same),
    ("enc-b", |times| encode_changing(Policy::Repeat, times)),
    ("enc-b-always", |times| encode_changing(Policy::Always, times)),
    ("enc-b-prepared", |times| encode_prepared_changing(Policy::Repeat, times)),
    ("enc-b-prepared-always", |times| encode_prepared_changing(Policy::Always, times)),
    ("enc-c", |times| encode_reset(1, times)),
    ("enc-d", |times| encode_reset(100, times)),
    ("enc-small-index", |times| encode_small(Indexing::Index, times)),
    ("enc-small-without", |times| encode_small(Indexing::Without, times)),
    ("enc-push", |times| encode_same(Policy::Always, &lists::fields(&lists::PUSH, Indexing::Index), times)),
    ("dec-e-visit", |times| decode_same(times, decode_visiting)),
    ("dec-e-collect", decode_same_collecting),
    ("dec-e-memo", decode_same_memo),
    ("dec-b-visit", |times| decode_changing(Policy::Repeat, times)),
    ("dec-b-visit-always", |times| decode_changing(Policy::Always, times)),
    ("dec-b-collect", decode_changing_collecting),
    ("dec-small-evicting", decode_small),
    ("dec-c3-reset", decode_c3),
    ("dec-huffman-64k", |times| decode_long(64_400, usize::MAX, times)),
    ("dec-huffman-32k", |times| decode_long(32_200, usize::MAX, times)),
    ("dec-bytes-64k", |times| decode_long(64_400, 1, times)),
    ("dec-bytes-32k", |times| decode_long(32_200, 1, times)),
    ("dec-rare-16k", decode_rare),
];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let name = arguments.next();
    let times = arguments.next().map_or(2000, |times| times.parse().expect("a number of times"));
    for (known, run) in WORKLOADS {
        if name.as_deref().is_none_or(|name| name == known) {
            println!("{known} {} bytes", run(times));
        }
    }
}

fn encoder(policy: Policy) -> Encoder {
    Encoder::new(EncoderConfig { policy, ..EncoderConfig::default() })
}

fn encode_same(policy: Policy, fields: &[Field<'_>], times: usize) -> usize {
    let mut encoder = encoder(policy);
    let mut out = OutBuf::with_capacity(1024);
    for _ in 0..times {
        out.clear();
        encoder.encode(black_box(fields).iter().copied(), &mut out);
        black_box(out.unsent());
    }
    out.len()
}

fn encode_changing(policy: Policy, times: usize) -> usize {
    let visits = lists::visits();
    let lists = lists::browsing(&visits);
    let mut encoder = encoder(policy);
    let mut out = OutBuf::with_capacity(1024);
    for time in 0..times {
        out.clear();
        encoder.encode(black_box(&lists[time % lists.len()]).iter().copied(), &mut out);
        black_box(out.unsent());
    }
    out.len()
}

fn prepare(holes: &[usize]) -> PreparedBlock {
    let fields = lists::front_page();
    let parts = fields.iter().enumerate().map(|(place, field)| match holes.contains(&place) {
        true => Part::Hole { name: field.name, indexing: Indexing::Auto },
        false => Part::Field(*field),
    });
    PreparedBlock::new(parts).unwrap()
}

fn encode_prepared_same(times: usize) -> usize {
    let prepared = prepare(&[]);
    let mut encoder = encoder(Policy::Repeat);
    let mut out = OutBuf::with_capacity(1024);
    for _ in 0..times {
        out.clear();
        encoder.emit(black_box(&prepared), &[], &mut out);
        black_box(out.unsent());
    }
    out.len()
}

fn encode_prepared_changing(policy: Policy, times: usize) -> usize {
    let prepared = prepare(&[lists::PATH, lists::REQUEST_ID]);
    let visits = lists::visits();
    let mut encoder = encoder(policy);
    let mut out = OutBuf::with_capacity(1024);
    for time in 0..times {
        out.clear();
        let [path, id] = &visits[time % visits.len()];
        encoder.emit(black_box(&prepared), &[path.as_bytes(), id.as_bytes()], &mut out);
        black_box(out.unsent());
    }
    out.len()
}

fn encode_reset(every: usize, times: usize) -> usize {
    let fields = lists::fields(&lists::BROWSER, Indexing::Auto);
    let mut encoder = encoder(Policy::Always);
    let mut out = OutBuf::with_capacity(1024);
    for time in 0..times {
        if time % every == 0 {
            encoder.reset();
        }
        out.clear();
        encoder.encode(black_box(&fields).iter().copied(), &mut out);
        black_box(out.unsent());
    }
    out.len()
}

fn encode_small(indexing: Indexing, times: usize) -> usize {
    let fields = lists::fields(&lists::LOCALHOST, indexing);
    let mut encoder = Encoder::new(EncoderConfig { huffman: Huffman::Always, ..EncoderConfig::default() });
    let mut out = OutBuf::with_capacity(1024);
    for _ in 0..times {
        out.clear();
        encoder.encode(black_box(&fields).iter().copied(), &mut out);
        black_box(out.unsent());
    }
    out.len()
}

/// The blocks of a list that is encoded again and again: the one that fills the table, and the one that comes
/// then.
fn blocks_same() -> [Vec<u8>; 2] {
    let mut encoder = encoder(Policy::Always);
    [(); 2].map(|()| {
        let mut out = OutBuf::new();
        encoder.encode(lists::front_page(), &mut out);
        out.unsent().to_vec()
    })
}

#[inline(always)]
fn decode_visiting(decoder: &mut Decoder, block: &[u8]) {
    let mut bytes = 0;
    let mut visit = |field: Decoded<'_>| bytes += field.name.len() + field.value.len();
    decoder.decode(black_box(block), true, &mut visit).unwrap();
    black_box(bytes);
}

fn decode_same(times: usize, decode: impl Fn(&mut Decoder, &[u8])) -> usize {
    let [first, then] = blocks_same();
    let mut decoder = Decoder::new(DecoderLimits::default());
    decode_visiting(&mut decoder, &first);
    for _ in 0..times {
        decode(&mut decoder, &then);
    }
    then.len()
}

fn decode_same_collecting(times: usize) -> usize {
    let [first, then] = blocks_same();
    let mut decoder = Decoder::new(DecoderLimits::default());
    decode_visiting(&mut decoder, &first);
    let mut head = Head::new();
    let limits = Limits::default();
    for _ in 0..times {
        head.clear();
        let mut collect = Collect::head(&mut head, &limits);
        decoder.decode(black_box(&then), true, &mut collect).unwrap();
        collect.finish().unwrap();
        black_box(&head);
    }
    then.len()
}

fn decode_same_memo(times: usize) -> usize {
    let [first, then] = blocks_same();
    let mut decoder = Decoder::new(DecoderLimits::default());
    let mut memo = Memo::<Head>::new();
    decode_visiting(&mut decoder, &first);
    let mut head = Head::new();
    let limits = Limits::default();
    for _ in 0..times {
        let block = black_box(&then[..]);
        head.fields.clear();
        match memo.get(&decoder, block) {
            Some(kept) => head.fields.extend_from(&kept.fields),
            None => {
                head.clear();
                let mut collect = Collect::head(&mut head, &limits);
                decoder.decode(block, true, &mut collect).unwrap();
                memo.put(&decoder, block, |kept| kept.clone_from(&head));
            }
        }
        black_box(&head);
    }
    assert_eq!(head.fields.get(KnownName::ACCEPT_LANGUAGE), Some(&b"en-US,en;q=0.5"[..]));
    then.len()
}

fn blocks_changing(policy: Policy, times: usize) -> Vec<Vec<u8>> {
    let visits = lists::visits();
    let mut encoder = encoder(policy);
    let lists = lists::browsing(&visits);
    (0..times)
        .map(|time| {
            let mut out = OutBuf::new();
            encoder.encode(lists[time % lists.len()].iter().copied(), &mut out);
            out.unsent().to_vec()
        })
        .collect()
}

fn decode_changing(policy: Policy, times: usize) -> usize {
    // A second decoder, so that all that is counted but the encoding is the same work twice.
    let blocks = blocks_changing(policy, MOST);
    let mut decoder = Decoder::new(DecoderLimits::default());
    let mut len = 0;
    for block in blocks.iter().take(times) {
        decode_visiting(&mut decoder, block);
        len = block.len();
    }
    len
}

fn decode_changing_collecting(times: usize) -> usize {
    let blocks = blocks_changing(Policy::Repeat, MOST);
    let mut decoder = Decoder::new(DecoderLimits::default());
    let mut head = Head::new();
    let limits = Limits::default();
    let mut len = 0;
    for block in blocks.iter().take(times) {
        head.clear();
        let mut collect = Collect::head(&mut head, &limits);
        decoder.decode(black_box(block), true, &mut collect).unwrap();
        black_box(&head);
        len = block.len();
    }
    len
}

/// Blocks of changing lists are encoded beforehand, always as many.
const MOST: usize = 4000;

fn decode_small(times: usize) -> usize {
    let mut out = OutBuf::new();
    let config =
        EncoderConfig { policy: Policy::Always, huffman: Huffman::Always, ..EncoderConfig::default() };
    Encoder::new(config).encode(lists::fields(&lists::LOCALHOST, Indexing::Auto), &mut out);
    let mut decoder = Decoder::new(DecoderLimits::default());
    for _ in 0..times {
        decode_visiting(&mut decoder, out.unsent());
    }
    out.len()
}

fn decode_c3(times: usize) -> usize {
    let blocks: [&[u8]; 3] = [
        b"\x82\x86\x84\x41\x0fwww.example.com",
        b"\x82\x86\x84\xbe\x58\x08no-cache",
        b"\x82\x87\x85\xbf\x40\x0acustom-key\x0ccustom-value",
    ];
    let mut decoder = Decoder::new(DecoderLimits::default());
    for _ in 0..times {
        decoder.reset();
        for block in blocks {
            decode_visiting(&mut decoder, block);
        }
    }
    blocks.iter().map(|block| block.len()).sum()
}

/// A value of so many bytes, decoded in pieces of so many: the cost must grow with the first only. Per
/// hundred.
fn decode_long(len: usize, piece: usize, times: usize) -> usize {
    let value = b"The quick brown fox; jumps over\tthe lazy dog? ".repeat(len / 46);
    let mut out = OutBuf::new();
    encoder(Policy::Static).encode([Field::new(b"f", &value)], &mut out);
    decode_pieces(out.unsent(), piece, times / 100)
}

/// The bytes with the longest code words: the worst that can come. Per hundred.
fn decode_rare(times: usize) -> usize {
    let value = b"\r\n\x16\x01\xff\x80".repeat(64_400 / 6);
    let config =
        EncoderConfig { huffman: Huffman::Always, policy: Policy::Static, ..EncoderConfig::default() };
    let mut out = OutBuf::new();
    Encoder::new(config).encode([Field::new(b"f", &value[..16_000])], &mut out);
    decode_pieces(out.unsent(), usize::MAX, times / 100)
}

fn decode_pieces(block: &[u8], piece: usize, times: usize) -> usize {
    let mut decoder = Decoder::new(DecoderLimits::default());
    let mut bytes = 0;
    let mut visit = |field: Decoded<'_>| bytes += field.value.len();
    for _ in 0..times {
        for piece in block.chunks(piece) {
            decoder.decode(black_box(piece), false, &mut visit).unwrap();
        }
        decoder.decode(b"", true, &mut visit).unwrap();
    }
    black_box(bytes);
    block.len()
}
