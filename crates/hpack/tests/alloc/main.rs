//! Nothing is allocated per block once everything is warm.

#[path = "../it/lists.rs"]
mod lists;

use alula_fields::{FieldSection, Head};
use alula_hpack::{
    Collect, Decoded, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Huffman, Indexing, Memo, Part,
    Policy, PreparedBlock,
};
use alula_machine::{Limits, OutBuf};
use alula_testkit::{Tally, allocations};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

const ALL_HUFFMAN: EncoderConfig =
    EncoderConfig { policy: Policy::Always, huffman: Huffman::Always, table_bytes_max: 4096 };

fn config(policy: Policy) -> EncoderConfig {
    EncoderConfig { policy, ..EncoderConfig::default() }
}

/// Runs it often to warm it up, and then counts.
fn assert_free(what: &str, mut run: impl FnMut(usize)) {
    (0..300).for_each(&mut run);
    assert_eq!(allocations(|| (300..700).for_each(&mut run)), 0, "{what}");
}

fn block_of(config: EncoderConfig, fields: &[Field<'_>]) -> Vec<u8> {
    let mut out = OutBuf::new();
    Encoder::new(config).encode(fields.iter().copied(), &mut out);
    out.unsent().to_vec()
}

#[test]
fn encoding_the_small_request() {
    for indexing in [Indexing::Index, Indexing::Without, Indexing::Never] {
        let fields = lists::fields(&lists::LOCALHOST, indexing);
        let (mut encoder, mut out) = (Encoder::new(ALL_HUFFMAN), OutBuf::with_capacity(1024));
        assert_free("one encoder for all", |round| {
            out.clear();
            if round % 100 == 0 {
                encoder.reset();
            }
            encoder.encode(fields.iter().copied(), &mut out);
        });
    }
}

#[test]
fn encoding_what_changes_under_every_policy() {
    let visits = lists::visits();
    let browsing = lists::browsing(&visits);
    for policy in [Policy::Static, Policy::Always, Policy::Repeat, Policy::Never] {
        let (mut encoder, mut out) = (Encoder::new(config(policy)), OutBuf::with_capacity(1024));
        assert_free("new paths and ids", |round| {
            out.clear();
            encoder.encode(browsing[round].iter().copied(), &mut out);
        });
    }
}

#[test]
fn encoding_the_push_notification_to_changing_devices() {
    let paths: Vec<String> =
        (0..700u64).map(|i| format!("/3/device/{:064x}", i * 0x1234_5678_9abc)).collect();
    let mut fields = lists::fields(&lists::PUSH, Indexing::Index);
    let (mut encoder, mut out) = (Encoder::new(ALL_HUFFMAN), OutBuf::with_capacity(1024));
    assert_free("the same device", |_| {
        out.clear();
        encoder.encode(fields.iter().copied(), &mut out);
    });
    assert_free("another device each time", |round| {
        out.clear();
        fields[1].value = paths[round].as_bytes();
        encoder.encode(fields.iter().copied(), &mut out);
    });
}

#[test]
fn emitting_prepared_blocks() {
    let visits = lists::visits();
    let fields = lists::front_page();
    let parts = fields.iter().enumerate().map(|(place, field)| match place {
        lists::PATH | lists::REQUEST_ID => Part::Hole { name: field.name, indexing: Indexing::Auto },
        _ => Part::Field(*field),
    });
    let prepared = PreparedBlock::new(parts).unwrap();
    for policy in [Policy::Static, Policy::Always, Policy::Repeat, Policy::Never] {
        let (mut encoder, mut out) = (Encoder::new(config(policy)), OutBuf::with_capacity(1024));
        assert_free("two holes", |round| {
            out.clear();
            encoder.emit(&prepared, &visits[round].each_ref().map(String::as_bytes), &mut out);
        });
    }
}

#[test]
fn a_prepared_block_allocates_only_when_it_is_new() {
    let fields = lists::fields(&lists::LOCALHOST, Indexing::Auto);
    let prepared = PreparedBlock::new(fields.iter().copied().map(Part::Field)).unwrap();
    let (mut encoder, mut out) = (Encoder::new(EncoderConfig::default()), OutBuf::with_capacity(1024));
    let mut cost = || {
        out.clear();
        allocations(|| encoder.emit(&prepared, &[], &mut out))
    };
    cost();
    // From the second time on it is nothing but indexes, which are kept in room that was made the first time.
    assert_eq!([cost(), cost(), cost()], [0; 3]);
}

#[test]
fn decoding_to_a_visitor() {
    let small = block_of(ALL_HUFFMAN, &lists::fields(&lists::LOCALHOST, Indexing::Index));
    let mut decoder = Decoder::new(DecoderLimits::default());
    let mut bytes = 0;
    let mut visit = |field: Decoded<'_>| bytes += field.name.len() + field.value.len();
    assert_free("insertions that evict", |_| decoder.decode(&small, true, &mut visit).unwrap());
    let c3: [&[u8]; 3] = [
        b"\x82\x86\x84\x41\x0fwww.example.com",
        b"\x82\x86\x84\xbe\x58\x08no-cache",
        b"\x82\x87\x85\xbf\x40\x0acustom-key\x0ccustom-value",
    ];
    assert_free("RFC 7541 C.3 with a reset decoder", |_| {
        decoder.reset();
        c3.iter().for_each(|block| decoder.decode(block, true, &mut visit).unwrap());
    });
    assert_free("byte by byte", |_| {
        small.chunks(1).for_each(|piece| decoder.decode(piece, false, &mut visit).unwrap());
        decoder.decode(b"", true, &mut visit).unwrap();
    });
    assert!(bytes > 0);
}

#[test]
fn decoding_into_a_section_and_a_head() {
    let limits = Limits::default();
    let small = block_of(ALL_HUFFMAN, &lists::fields(&lists::LOCALHOST[4..], Indexing::Index));
    let mut decoder = Decoder::new(DecoderLimits::default());
    let mut section = FieldSection::new();
    assert_free("a section", |_| {
        section.clear();
        let mut collect = Collect::section(&mut section, &limits);
        decoder.decode(&small, true, &mut collect).unwrap();
        collect.finish().unwrap();
    });
    let browser = block_of(config(Policy::Always), &lists::fields(&lists::BROWSER, Indexing::Auto));
    let mut head = Head::new();
    assert_free("a head", |_| {
        head.clear();
        let mut collect = Collect::head(&mut head, &limits);
        decoder.decode(&browser, true, &mut collect).unwrap();
        collect.finish().unwrap();
    });
}

#[test]
fn remembering_blocks() {
    let mut decoder = Decoder::new(DecoderLimits::default());
    let mut memo = Memo::<usize>::new();
    assert_free("hits and misses", |round| {
        let block = [0x82, 0x80 | (round % 7 + 1) as u8];
        if memo.get(&decoder, &block).is_none() {
            decoder.decode(&block, true, &mut |_: Decoded<'_>| ()).unwrap();
            memo.put(&decoder, &block, |kept| *kept = round);
        }
    });
}

/// Values of 250,880 bytes of English and 152,576 of Japanese, the second longer in Huffman code than
/// without.
#[test]
fn long_values() {
    let english =
        "The quick brown fox\tjumps over the lazy dog,\r\nand the lazy dog sleeps on. ".repeat(3400);
    let japanese = "いろはにほへと ちりぬるを わかよたれそ つねならむ".repeat(2100);
    for huffman in [Huffman::Shorter, Huffman::Always] {
        let (mut encoder, mut out) =
            (Encoder::new(EncoderConfig { huffman, ..ALL_HUFFMAN }), OutBuf::with_capacity(1024));
        let mut decoder = Decoder::new(DecoderLimits { string_bytes: 1 << 20, ..DecoderLimits::default() });
        let mut run = |text: &str| {
            out.clear();
            encoder.encode([Field::new(b"f", text.as_bytes()).with(Indexing::Never)], &mut out);
            let mut same = false;
            let mut visit = |field: Decoded<'_>| same = field.value == text.as_bytes() && field.never;
            decoder.decode(out.unsent(), true, &mut visit).unwrap();
            assert!(same);
            out.len()
        };
        let lens = [run(&english), run(&japanese)];
        assert!(lens[0] < english.len() && (lens[1] < japanese.len() + 8) == (huffman == Huffman::Shorter));
        assert_eq!(allocations(|| assert_eq!([run(&english), run(&japanese)], lens)), 0);
    }
}
