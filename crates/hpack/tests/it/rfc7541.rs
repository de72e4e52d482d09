//! The examples of RFC 7541 Appendix C, in both directions and however they are cut.

use alula_hpack::{
    Decoded, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Huffman, Indexing, Policy,
};
use alula_machine::OutBuf;
use alula_testkit::{Case, Pieces, Vectors, at_every_split, truncations, whole};

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

const FILES: [&str; 5] = ["rfc7541-c2", "rfc7541-c3", "rfc7541-c4", "rfc7541-c5", "rfc7541-c6"];

fn load(file: &str) -> Vectors {
    Vectors::load(&format!("hpack/{file}.txt"))
}

/// The values of a key, each `name: value`.
fn pairs(case: &Case, key: &str) -> Pairs {
    case.all(key)
        .map(|line| {
            let colon = 1 + line[1..].find(": ").expect("a name and a value");
            (line.as_bytes()[..colon].to_vec(), line.as_bytes()[colon + 2..].to_vec())
        })
        .collect()
}

/// A decoder that has gone through the first cases of a file.
fn decoder_after(file: &Vectors, cases: usize) -> Decoder {
    let table_bytes = file.settings.number("table_bytes_max");
    let mut decoder = Decoder::new(DecoderLimits { table_bytes, ..DecoderLimits::default() });
    if file.settings.get("shares_table") != Some("no") {
        for case in &file.cases[..cases] {
            decode(&mut decoder, &whole(&case.hex("wire"))).unwrap();
        }
    }
    decoder
}

fn decode(decoder: &mut Decoder, pieces: &Pieces<'_>) -> Result<Pairs, String> {
    let mut fields = Pairs::new();
    let mut visit = |field: Decoded<'_>| fields.push((field.name.to_vec(), field.value.to_vec()));
    let count = pieces.iter().len();
    for (at, piece) in pieces.iter().enumerate() {
        decoder.decode(piece, at + 1 == count, &mut visit).map_err(|error| error.rule().to_string())?;
        decoder.check_invariants();
    }
    if count == 0 {
        decoder.decode(&[], true, &mut visit).map_err(|error| error.rule().to_string())?;
    }
    decoder.check_invariants();
    Ok(fields)
}

fn entries(decoder: &Decoder) -> (u32, Pairs) {
    let entries = decoder.table().entries().map(|(name, value)| (name.to_vec(), value.to_vec()));
    (decoder.table().bytes(), entries.collect())
}

#[test]
fn decodes_the_examples_at_every_split() {
    for name in FILES {
        let file = load(name);
        for (at, case) in file.cases.iter().enumerate() {
            let (fields, table) = at_every_split(&case.hex("wire"), at as u64, |pieces| {
                let mut decoder = decoder_after(&file, at);
                let fields = decode(&mut decoder, pieces);
                (fields, entries(&decoder))
            });
            assert_eq!(fields, Ok(pairs(case, "field")), "{}", case.name);
            assert_eq!(table, (case.number("table_bytes"), pairs(case, "entry")), "{}", case.name);
        }
    }
}

#[test]
fn a_truncated_example_fails_the_same_at_every_split() {
    for name in FILES {
        let file = load(name);
        for (at, case) in file.cases.iter().enumerate() {
            for cut in truncations(&case.hex("wire")) {
                let (fields, _) = at_every_split(cut, 7, |pieces| {
                    let mut decoder = decoder_after(&file, at);
                    (decode(&mut decoder, pieces), entries(&decoder))
                });
                // What is left ends between two fields, or inside one.
                match fields {
                    Ok(fields) => assert!(pairs(case, "field").starts_with(&fields)),
                    Err(rule) => assert!(rule.starts_with("a block that ends "), "{rule}"),
                }
            }
        }
    }
}

#[test]
fn encodes_the_examples_byte_for_byte() {
    for name in FILES {
        let file = load(name);
        let mut encoder = encoder_for(&file.settings);
        for case in &file.cases {
            if file.settings.get("shares_table") == Some("no") {
                encoder = encoder_for(&file.settings);
            }
            let indexing = match case.get("indexing") {
                Some("without") => Indexing::Without,
                Some("never") => Indexing::Never,
                _ => Indexing::Index,
            };
            let pairs = pairs(case, "field");
            let mut out = OutBuf::new();
            encoder
                .encode(pairs.iter().map(|(name, value)| Field::new(name, value).with(indexing)), &mut out);
            let wire = out.unsent().strip_prefix(b"\x3f\xe1\x01").unwrap_or(out.unsent());
            assert_eq!(wire, case.hex("wire"), "{}", case.name);
            encoder.check_invariants();
            let entries = encoder.table().entries().map(|(name, value)| (name.to_vec(), value.to_vec()));
            assert_eq!(entries.collect::<Pairs>(), self::pairs(case, "entry"), "{}", case.name);
        }
    }
}

/// The table of C.5 and C.6 has 256 bytes from the start there; here that is said by a size update.
fn encoder_for(settings: &Case) -> Encoder {
    let huffman = if settings.get("huffman") == Some("always") { Huffman::Always } else { Huffman::Never };
    let table_bytes_max = settings.number("table_bytes_max");
    Encoder::new(EncoderConfig { policy: Policy::Always, huffman, table_bytes_max })
}

#[test]
fn resetting_a_decoder_is_as_good_as_a_new_one() {
    let file = load("rfc7541-c3");
    let mut decoder = decoder_after(&file, 0);
    for _ in 0..3 {
        decoder.reset();
        for case in &file.cases {
            assert_eq!(decode(&mut decoder, &whole(&case.hex("wire"))), Ok(pairs(case, "field")));
        }
    }
}
