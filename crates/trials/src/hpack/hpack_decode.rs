//! Any bytes as blocks for a decoder: in one piece, in random pieces, byte by byte, and by a naive
//! decoder. All must agree on every field, on the table, and on which error it is.

use alula_fields::{FieldSection, Head, KnownName};
use alula_hpack::{Class, Collect, DecodeError, Decoded, Decoder, DecoderLimits, ListLimits, Memo, Visitor};
use alula_testkit::{Pieces, Rng, byte_by_byte, random_split, whole};

use super::naive_hpack::{NaiveDecoder, Owned};
use crate::input::Input;

/// Bytes as limits, and then as blocks with changes of the limits between them.
pub fn hpack_decode(data: &[u8]) {
    let mut input = Input::new(data);
    let limits = DecoderLimits {
        table_bytes: *input.pick(&[4096, 0, 60, 300]),
        string_bytes: *input.pick(&[65_536, 10, 200, 16_384]),
    };
    let mut decoders = Decoders::new(limits, input.byte());
    while !input.is_empty() {
        match input.byte() {
            0xfc => decoders.trim(),
            0xfd | 0xfe => decoders.set_table_limit(u32::from(input.u16() % 5000)),
            0xff => decoders.reset(),
            _ => decoders.block(input.string()),
        }
    }
}

struct Decoders {
    limits: DecoderLimits,
    whole: Decoder,
    cut: Decoder,
    by_byte: Decoder,
    collecting: Decoder,
    naive: NaiveDecoder,
    memo: Memo<Vec<Owned>>,
    rng: Rng,
}

impl Decoders {
    fn new(limits: DecoderLimits, seed: u8) -> Self {
        let decoder = || Decoder::new(limits);
        Self {
            limits,
            whole: decoder(),
            cut: decoder(),
            by_byte: decoder(),
            collecting: decoder(),
            naive: NaiveDecoder::new(limits),
            memo: Memo::new(),
            rng: Rng::new(seed.into()),
        }
    }

    fn all(&mut self) -> [&mut Decoder; 4] {
        [&mut self.whole, &mut self.cut, &mut self.by_byte, &mut self.collecting]
    }

    fn trim(&mut self) {
        self.all().into_iter().for_each(Decoder::trim);
    }

    fn reset(&mut self) {
        self.all().into_iter().for_each(Decoder::reset);
        self.naive = NaiveDecoder::new(self.limits);
    }

    fn set_table_limit(&mut self, bytes: u32) {
        self.all().into_iter().for_each(|decoder| decoder.set_table_limit(bytes));
        self.naive.set_table_limit(bytes as usize);
    }

    fn block(&mut self, block: &[u8]) {
        let known = self.memo.get(&self.whole, block).cloned();
        let answer = decode(&mut self.whole, block, &whole(block), true);
        let with_last = self.rng.one_in(2);
        let pieces = random_split(block, &mut self.rng);
        assert_eq!(decode(&mut self.cut, block, &pieces, with_last), answer, "{:?}", pieces.lengths());
        assert_eq!(decode(&mut self.by_byte, block, &byte_by_byte(block), false), answer);
        let (fields, broken) = self.naive.decode(block);
        assert_eq!((&fields, broken.is_err()), (&answer.0, answer.1.is_err()), "{:?}", answer.1);
        assert_eq!(collect(&mut self.collecting, block, &fields), answer.1);
        if let Some(known) = known {
            assert_eq!(answer, (known, Ok(())));
        }
        self.check(answer.1.is_err());
        match answer.1 {
            Ok(()) => self.memo.put(&self.whole, block, |kept| *kept = fields),
            Err(error) => {
                let again = self.whole.decode(b"\x82", true, &mut |_: Decoded<'_>| ());
                assert_eq!(again, Err(error), "an error is final");
                self.reset();
            }
        }
    }

    fn check(&mut self, has_failed: bool) {
        let expected: Vec<_> = self.naive.entries.iter().cloned().collect();
        let bytes_max = memory_bytes_max(&self.limits);
        for decoder in self.all() {
            decoder.check_invariants();
            assert!(decoder.memory_bytes() <= bytes_max, "{} of {bytes_max}", decoder.memory_bytes());
            assert!(decoder.table().bytes() <= decoder.table().bytes_max());
            assert!(has_failed || entries(decoder) == expected, "{:?}", decoder.table());
        }
    }
}

fn entries(decoder: &Decoder) -> Vec<(Vec<u8>, Vec<u8>)> {
    decoder.table().entries().map(|(name, value)| (name.to_vec(), value.to_vec())).collect()
}

/// Table limits here are below 5000 bytes. A field that waits has two strings; the shortest code word has
/// five bits, and the memory of a list that grows is at most twice what is in it.
fn memory_bytes_max(limits: &DecoderLimits) -> usize {
    5 * 5000
        + 2 * (2 * limits.string_bytes as usize + 64)
        + 2 * 2 * (limits.string_bytes as usize * 8 / 5 + 64)
}

/// Decodes the pieces; the end is said with the last of them or after it.
fn decode(
    decoder: &mut Decoder,
    block: &[u8],
    pieces: &Pieces<'_>,
    with_last: bool,
) -> (Vec<Owned>, Result<(), DecodeError>) {
    let mut fields = Vec::new();
    let mut visit = |field: Decoded<'_>| {
        assert_eq!(field.known, KnownName::lookup(field.name));
        assert_eq!(field.class, Class::of(field.name, field.value));
        fields.push((field.name.to_vec(), field.value.to_vec(), field.never));
    };
    let result = decode_pieces(decoder, block.is_empty(), pieces, with_last, &mut visit);
    (fields, result)
}

fn decode_pieces(
    decoder: &mut Decoder,
    is_empty: bool,
    pieces: &Pieces<'_>,
    with_last: bool,
    visitor: &mut impl Visitor,
) -> Result<(), DecodeError> {
    let count = pieces.iter().len();
    for (at, piece) in pieces.iter().enumerate() {
        decoder.decode(piece, with_last && at + 1 == count, visitor)?;
    }
    // An empty block has no random piece that could be its last.
    if with_last && !(is_empty && count == 0) { Ok(()) } else { decoder.decode(b"", true, visitor) }
}

/// Decodes into a head, of which whatever was stored must be what came.
fn collect(decoder: &mut Decoder, block: &[u8], fields: &[Owned]) -> Result<(), DecodeError> {
    let (mut head, limits) = (Head::new(), ListLimits { bytes: 2000, fields: 20 });
    let mut collect = Collect::head(&mut head, limits);
    let result = decoder.decode(block, true, &mut collect);
    let is_whole = collect.finish().is_ok();
    let stored: Vec<_> = pairs(&head.fields);
    let sent: Vec<_> = fields.iter().filter(|(name, ..)| !name.starts_with(b":")).cloned().collect();
    assert!(sent.starts_with(&stored), "{stored:?} {sent:?}");
    if is_whole && result.is_ok() {
        assert_eq!(stored, sent);
        let size: usize = fields.iter().map(|(name, value, _)| name.len() + value.len() + 32).sum();
        assert!(size <= limits.bytes && fields.len() <= limits.fields);
    }
    result
}

fn pairs(section: &FieldSection) -> Vec<Owned> {
    let owned = section
        .iter()
        .map(|field| (field.name_bytes().to_vec(), field.value().to_vec(), field.is_sensitive()));
    owned.collect()
}
