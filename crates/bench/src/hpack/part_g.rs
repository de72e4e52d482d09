//! The HPACK workloads of other projects' own benchmarks: small lists by three policies, a push sender, long
//! texts.
//!
//! The output is cleared after every block, the table has 4096 bytes and lives on, and every string is
//! Huffman-coded.

use std::hint::black_box;

use alula_fields::Head;
use alula_hpack::{Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Huffman, Indexing};
use alula_machine::{Limits, OutBuf};
use alula_testkit::lists::{ENGLISH, JAPANESE, LOCALHOST, PUSH, VISITS, device, doubled};

use crate::hpack::decode::{block, collect, visit};
use crate::hpack::encode::{List, encode_all, fields};
use crate::workload::{Run, Workload};

/// All of them.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload::new("g1-a", 2000, "encode 5 fields, one encoder for all blocks", || {
        encode_all(encoder(), vec![small(Indexing::Index)], |_, _| {})
    })
    .beside("NIO's own"),
    Workload::new("g1-b", 2000, "encode 5 fields, a new encoder per 100 blocks", || {
        let renew = |own: &mut Encoder, number| {
            if number % 100 == 0 {
                *own = encoder()
            }
        };
        encode_all(encoder(), vec![small(Indexing::Index)], renew)
    }),
    Workload::new("g1-b-reset", 2000, "the same, with an encoder that is reset", || {
        let renew = |own: &mut Encoder, number| {
            if number % 100 == 0 {
                own.reset()
            }
        };
        encode_all(encoder(), vec![small(Indexing::Index)], renew)
    }),
    Workload::new("g2-indexable", 2000, "encode 5 fields, all to be indexed", || {
        encode_small(Indexing::Index)
    }),
    Workload::new("g2-without", 2000, "encode 5 fields, none to be indexed", || {
        encode_small(Indexing::Without)
    }),
    Workload::new("g2-never", 2000, "encode 5 fields, none ever to be indexed", || {
        encode_small(Indexing::Never)
    }),
    Workload::new("g3-indexable", 2000, "decode 5 fields, 2 of them entered, visiting", || {
        visit_small(Indexing::Index)
    }),
    Workload::new("g3-indexable-section", 2000, "the same, into a field section", || {
        collect_small(Indexing::Index)
    }),
    Workload::new("g3-without", 2000, "decode 5 literals, visiting", || visit_small(Indexing::Without)),
    Workload::new("g3-without-section", 2000, "the same, into a field section", || {
        collect_small(Indexing::Without)
    }),
    Workload::new("g3-never", 2000, "decode 5 literals never to be indexed, visiting", || {
        visit_small(Indexing::Never)
    }),
    Workload::new("g3-never-section", 2000, "the same, into a field section", || {
        collect_small(Indexing::Never)
    }),
    Workload::new("g4", 2000, "encode the 10 fields of a push notification", || {
        encode_all(encoder(), vec![push(PUSH[1].1)], |_, _| {})
    })
    .beside("NIO's own"),
    Workload::new("g4-fresh", 2000, "the same, each to another device", || {
        let lists = (0..VISITS).map(|number| push(device(number).leak())).collect();
        encode_all(encoder(), lists, |_, _| {})
    }),
    Workload::new("g5-encode-basic", 4, "encode 245 KiB of English", || {
        encode_text(ENGLISH, Huffman::Always)
    }),
    Workload::new("g5-encode-complex", 4, "encode 149 KiB of Japanese, which grows", || {
        encode_text(JAPANESE, Huffman::Always)
    }),
    Workload::new("g5-encode-complex-shorter", 4, "the same, in the shorter form, which is raw", || {
        encode_text(JAPANESE, Huffman::Shorter)
    }),
    Workload::new("g5-decode-basic", 4, "decode 245 KiB of English", || decode_text(ENGLISH)),
    Workload::new("g5-decode-complex", 4, "decode 149 KiB of Japanese", || decode_text(JAPANESE)),
    Workload::new(
        "g6",
        1000,
        "decode the 3 blocks of RFC 7541 Appendix C.3 with a decoder that is reset",
        || decode_examples(Decoder::reset),
    ),
    Workload::new("g6-new", 1000, "the same with a new decoder", || {
        decode_examples(|decoder| *decoder = Decoder::new(DecoderLimits::default()))
    })
    .beside("NIO's own"),
];

fn encoder() -> Encoder {
    Encoder::new(EncoderConfig { huffman: Huffman::Always, ..EncoderConfig::default() })
}

fn small(indexing: Indexing) -> List {
    fields(&LOCALHOST).into_iter().map(|field| field.with(indexing)).collect()
}

/// The path is left to the encoder's policy, and so only entered when it comes again.
fn push(path: &'static str) -> List {
    let mut pairs = PUSH;
    pairs[1].1 = path;
    let mut list: List = fields(&pairs).into_iter().map(|field| field.with(Indexing::Index)).collect();
    list[1].indexing = Indexing::Auto;
    list
}

fn encode_small(indexing: Indexing) -> Run {
    first_block(indexing);
    encode_all(encoder(), vec![small(indexing)], |_, _| {})
}

/// The first block of a small list, which the other projects' encoders write just so.
fn first_block(indexing: Indexing) -> Vec<u8> {
    let block = block(&mut encoder(), small(indexing));
    let expected = match indexing {
        Indexing::Index => "8284874186a0e41d139d09408294e7838c767f",
        Indexing::Without => "0283c5837f0481630684 9d29ad1f0186a0e41d139d09008294e7838c767f",
        _ => "1283c5837f148163168 49d29ad1f1186a0e41d139d09108294e7838c767f",
    };
    assert_eq!(hex(&block), expected.replace(' ', ""));
    block
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Entering the same two fields over and over soon evicts two others each time.
fn visit_small(indexing: Indexing) -> Run {
    let (mut decoder, block) = (Decoder::new(DecoderLimits::default()), first_block(indexing));
    Box::new(move |count| {
        for _ in 0..count {
            visit(&mut decoder, &block);
        }
    })
}

fn collect_small(indexing: Indexing) -> Run {
    let (mut decoder, block) = (Decoder::new(DecoderLimits::default()), first_block(indexing));
    let (mut head, limits) = (Head::new(), Limits::default());
    Box::new(move |count| {
        for _ in 0..count {
            head.clear();
            collect(&mut decoder, &block, &mut head, &limits);
            black_box(&head);
        }
    })
}

fn text_field(text: &str) -> Field<'static> {
    Field::new(b"f", doubled(text).leak().as_bytes()).with(Indexing::Never)
}

fn encode_text(text: &str, huffman: Huffman) -> Run {
    let mut encoder = Encoder::new(EncoderConfig { huffman, ..EncoderConfig::default() });
    let (field, mut out) = (text_field(text), OutBuf::new());
    Box::new(move |count| {
        for _ in 0..count {
            out.clear();
            encoder.encode([black_box(field)], &mut out);
            black_box(out.unsent());
        }
    })
}

fn decode_text(text: &str) -> Run {
    let block = block(&mut encoder(), [text_field(text)]);
    let mut decoder = Decoder::new(DecoderLimits { string_bytes: u32::MAX, ..DecoderLimits::default() });
    Box::new(move |count| {
        for _ in 0..count {
            visit(&mut decoder, &block);
        }
    })
}

fn decode_examples(renew: fn(&mut Decoder)) -> Run {
    const BLOCKS: [&[u8]; 3] = [
        b"\x82\x86\x84\x41\x0fwww.example.com",
        b"\x82\x86\x84\xbe\x58\x08no-cache",
        b"\x82\x87\x85\xbf\x40\x0acustom-key\x0ccustom-value",
    ];
    let mut decoder = Decoder::new(DecoderLimits::default());
    Box::new(move |count| {
        for _ in 0..count {
            renew(&mut decoder);
            for block in BLOCKS {
                visit(&mut decoder, block);
            }
        }
    })
}
