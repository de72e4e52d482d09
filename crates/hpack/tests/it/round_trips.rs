//! Random fields, policies, codings and table sizes, there and back, beside a naive model of the table.

use alula_hpack::{
    Decoded, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Huffman, Indexing, Policy,
};
use alula_machine::OutBuf;
use alula_testkit::{Rng, at_every_split};

use crate::model::Model;

const POLICIES: [Policy; 4] = [Policy::Static, Policy::Always, Policy::Repeat, Policy::Never];
const CODINGS: [Huffman; 3] = [Huffman::Never, Huffman::Shorter, Huffman::Always];
const SIZES: [u32; 6] = [0, 40, 100, 400, 4096, 20_000];

/// A field that owns what it is made of.
type Owned = (Vec<u8>, Vec<u8>, Indexing);

fn random_name(rng: &mut Rng) -> Vec<u8> {
    const NAMES: [&str; 16] = [
        ":method",
        ":path",
        ":scheme",
        ":status",
        ":authority",
        "accept-encoding",
        "cookie",
        "authorization",
        "date",
        "x-request-id",
        "x-a",
        "x-b",
        "content-length",
        "server",
        "a",
        "",
    ];
    match rng.below(20) {
        0 => {
            let len = rng.below(40);
            rng.bytes(len)
        }
        1 => format!("x-{}", rng.below(30)).into_bytes(),
        _ => rng.pick(&NAMES).as_bytes().to_vec(),
    }
}

fn random_value(rng: &mut Rng) -> Vec<u8> {
    const VALUES: [&str; 12] = [
        "",
        "GET",
        "POST",
        "/",
        "/index.html",
        "https",
        "200",
        "204",
        "gzip, deflate",
        "a",
        "text/html; charset=utf-8",
        "a value that is longer than most of the others are, with Upper, punctuation! and some [rare] {ones}",
    ];
    match rng.below(8) {
        0 => {
            let len = rng.below(300);
            rng.bytes(len)
        }
        1 => {
            let len = rng.below(150);
            rng.bytes_of(b"abcdefghijklmnop0123456789-/. ", len)
        }
        2 => format!("{}", rng.below(40)).into_bytes(),
        _ => rng.pick(&VALUES).as_bytes().to_vec(),
    }
}

fn random_fields(rng: &mut Rng) -> Vec<Owned> {
    const TREATMENTS: [Indexing; 6] =
        [Indexing::Auto, Indexing::Auto, Indexing::Auto, Indexing::Index, Indexing::Without, Indexing::Never];
    (0..rng.below(16)).map(|_| (random_name(rng), random_value(rng), *rng.pick(&TREATMENTS))).collect()
}

fn borrowed(fields: &[Owned]) -> impl Iterator<Item = Field<'_>> {
    fields.iter().map(|(name, value, indexing)| Field::new(name, value).with(*indexing))
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Vec<crate::model::Decoded> {
    let mut fields = Vec::new();
    let mut visit = |field: Decoded<'_>| {
        assert_eq!(field.class, alula_hpack::Class::of(field.name, field.value));
        assert_eq!(field.known, alula_fields::KnownName::lookup(field.name));
        fields.push((field.name.to_vec(), field.value.to_vec(), field.never));
    };
    decoder.decode(block, true, &mut visit).unwrap();
    fields
}

/// Returns true if a field must have come as never to be indexed.
fn is_never(policy: Policy, (name, value, indexing): &Owned) -> bool {
    let secret = name == b"authorization" || (name == b"cookie" && value.len() < 20);
    *indexing == Indexing::Never || (*indexing == Indexing::Auto && (policy == Policy::Never || secret))
}

fn run(seed: u64, policy: Policy, huffman: Huffman, table_bytes_max: u32) {
    let mut rng = Rng::new(seed);
    let mut encoder = Encoder::new(EncoderConfig { policy, huffman, table_bytes_max });
    let mut decoder = Decoder::new(DecoderLimits::default());
    let mut model = Model::new(4096);
    let mut out = OutBuf::new();
    for _ in 0..60 {
        while rng.one_in(6) {
            let limit = *rng.pick(&SIZES);
            encoder.set_peer_table_limit(limit);
            decoder.set_table_limit(limit);
        }
        if rng.one_in(25) {
            encoder.trim();
            decoder.trim();
        }
        let fields = random_fields(&mut rng);
        out.clear();
        match rng.one_in(2) {
            true => encoder.encode(borrowed(&fields), &mut out),
            false => {
                let mut block = encoder.block(&mut out);
                borrowed(&fields).for_each(|field| block.field(field));
                block.finish();
            }
        }
        encoder.check_invariants();
        let decoded = decode(&mut decoder, out.unsent());
        decoder.check_invariants();
        let never = fields.iter().map(|field| is_never(policy, field));
        let expected: Vec<_> = fields
            .iter()
            .zip(never)
            .map(|((name, value, _), never)| (name.clone(), value.clone(), never))
            .collect();
        assert_eq!(decoded, expected, "{policy:?} {huffman:?} {table_bytes_max} seed {seed}");
        let entries = |table: alula_hpack::TableView<'_>| -> Vec<_> {
            table.entries().map(|(name, value)| (name.to_vec(), value.to_vec())).collect()
        };
        assert_eq!(entries(encoder.table()), entries(decoder.table()));
        if policy == Policy::Static {
            assert!(encoder.table().is_empty());
        }
        if huffman == Huffman::Never {
            assert_eq!(model.decode(out.unsent()), expected);
            assert_eq!(entries(decoder.table()), Vec::from(model.entries.clone()));
            assert_eq!(
                (decoder.table().bytes() as usize, decoder.table().len()),
                (model.bytes(), model.entries.len())
            );
        }
    }
}

#[test]
fn all_policies_codings_and_sizes_come_back() {
    let mut seed = 0;
    for policy in POLICIES {
        for huffman in CODINGS {
            for size in SIZES {
                for _ in 0..6 {
                    seed += 1;
                    run(seed, policy, huffman, size);
                }
            }
        }
    }
}

#[test]
fn policy_and_coding_may_change_between_blocks() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let mut encoder = Encoder::new(EncoderConfig::default());
        let mut decoder = Decoder::new(DecoderLimits::default());
        let mut out = OutBuf::new();
        for _ in 0..60 {
            let (policy, huffman) = (*rng.pick(&POLICIES), *rng.pick(&CODINGS));
            encoder.set_policy(policy);
            encoder.set_huffman(huffman);
            let fields = random_fields(&mut rng);
            out.clear();
            encoder.encode(borrowed(&fields), &mut out);
            encoder.check_invariants();
            let expected = fields.iter().map(|field| {
                let (name, value, _) = field;
                (name.clone(), value.clone(), is_never(policy, field))
            });
            assert_eq!(decode(&mut decoder, out.unsent()), expected.collect::<Vec<_>>(), "seed {seed}");
            if policy == Policy::Static {
                // A decoder that has seen nothing else understands it as well.
                assert_eq!(
                    decode(&mut Decoder::new(DecoderLimits::default()), out.unsent()).len(),
                    fields.len()
                );
            }
        }
    }
}

#[test]
fn random_blocks_mean_the_same_at_every_split() {
    for seed in 0..25 {
        let mut rng = Rng::new(seed);
        let mut encoder = Encoder::new(EncoderConfig { policy: Policy::Always, ..EncoderConfig::default() });
        let mut out = OutBuf::new();
        encoder.encode(borrowed(&random_fields(&mut rng)), &mut out);
        encoder.set_peer_table_limit(300);
        encoder.set_peer_table_limit(1000);
        let first = out.unsent().to_vec();
        out.clear();
        encoder.encode(borrowed(&random_fields(&mut rng)), &mut out);
        at_every_split(out.unsent(), seed, |pieces| {
            let mut decoder = Decoder::new(DecoderLimits::default());
            decode(&mut decoder, &first);
            decoder.set_table_limit(300);
            decoder.set_table_limit(1000);
            let mut fields = Vec::new();
            let mut visit = |field: Decoded<'_>| fields.push((field.name.to_vec(), field.value.to_vec()));
            for piece in pieces.iter() {
                decoder.decode(piece, false, &mut visit).unwrap();
                decoder.check_invariants();
            }
            decoder.decode(b"", true, &mut visit).unwrap();
            let table: Vec<_> = decoder.table().entries().map(|(_, value)| value.to_vec()).collect();
            (fields, table)
        });
    }
}

#[test]
fn garbage_never_panics_and_keeps_the_tables_in_order() {
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let mut decoder = Decoder::new(DecoderLimits { table_bytes: 300, string_bytes: 200 });
        for _ in 0..8 {
            let len = rng.below(60);
            let mut block = rng.bytes(len);
            // Mostly literals and indexes that are there.
            block.iter_mut().filter(|byte| **byte >= 0xc0).for_each(|byte| *byte &= 0x5f);
            if decoder.decode(&block, rng.one_in(2), &mut |_: Decoded<'_>| ()).is_err() {
                decoder.check_invariants();
                decoder.reset();
            }
            decoder.check_invariants();
        }
    }
}
