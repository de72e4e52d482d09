//! Operations on an encoder, and a decoder that must understand every block of it.

use alula_hpack::{
    Decoded, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Huffman, Indexing, Part, Policy,
    PreparedBlock, TableView,
};
use alula_machine::OutBuf;

use super::naive_hpack::{NaiveDecoder, Owned};
use crate::input::Input;

const POLICIES: [Policy; 4] = [Policy::Repeat, Policy::Static, Policy::Always, Policy::Never];
const CODINGS: [Huffman; 3] = [Huffman::Shorter, Huffman::Never, Huffman::Always];
const TREATMENTS: [Indexing; 4] = [Indexing::Auto, Indexing::Index, Indexing::Without, Indexing::Never];
const SIZES: [u32; 6] = [4096, 0, 40, 100, 400, 20_000];

/// Coded with the longest codes, of 30 bits, it is still a string that the decoder takes.
const LONG_BYTES_MAX: usize = 16_000;

/// Bytes as a configuration, and then as operations.
pub fn hpack_round_trip(data: &[u8]) {
    let mut input = Input::new(data);
    let mut pair = Pair::new(&mut input);
    while !input.is_empty() {
        match input.below(12) {
            0 => pair.set_policy(*input.pick(&POLICIES)),
            1 => pair.encoder.set_huffman(*input.pick(&CODINGS)),
            2 => pair.set_table_limit(*input.pick(&SIZES)),
            3 => pair.trim(),
            4 => pair.reset(),
            5 => pair.prepare(&mut input),
            6 | 7 => pair.emit(&mut input),
            8 => pair.field_by_field(&mut input),
            _ => pair.list(&mut input),
        }
    }
}

/// A field that owns what it is made of.
type Line = (Vec<u8>, Vec<u8>, Indexing);

struct Pair {
    policy: Policy,
    encoder: Encoder,
    decoder: Decoder,
    naive: NaiveDecoder,
    out: OutBuf,
    prepared: Vec<(PreparedBlock, Vec<Line>)>,
    /// True if the encoder has let go of entries that the decoder still holds, as `Policy::Static` makes it.
    has_forgotten: bool,
}

impl Pair {
    fn new(input: &mut Input<'_>) -> Self {
        let policy = *input.pick(&POLICIES);
        let (huffman, table_bytes_max) = (*input.pick(&CODINGS), *input.pick(&SIZES));
        Self {
            policy,
            encoder: Encoder::new(EncoderConfig { policy, huffman, table_bytes_max }),
            decoder: Decoder::new(DecoderLimits::default()),
            naive: NaiveDecoder::new(DecoderLimits::default()),
            out: OutBuf::new(),
            prepared: Vec::new(),
            has_forgotten: false,
        }
    }

    fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
        self.has_forgotten |= policy == Policy::Static;
        self.encoder.set_policy(policy);
    }

    fn set_table_limit(&mut self, bytes: u32) {
        self.encoder.set_peer_table_limit(bytes);
        self.decoder.set_table_limit(bytes);
        self.naive.set_table_limit(bytes as usize);
    }

    fn trim(&mut self) {
        self.encoder.trim();
        self.decoder.trim();
    }

    fn reset(&mut self) {
        self.encoder.reset();
        self.decoder.reset();
        self.naive = NaiveDecoder::new(DecoderLimits::default());
        self.has_forgotten = false;
    }

    fn list(&mut self, input: &mut Input<'_>) {
        let lines = lines(input);
        self.out.clear();
        self.encoder.encode(lines.iter().map(field), &mut self.out);
        self.check(&lines);
    }

    fn field_by_field(&mut self, input: &mut Input<'_>) {
        let lines = lines(input);
        self.out.clear();
        let mut block = self.encoder.block(&mut self.out);
        lines.iter().for_each(|line| block.field(field(line)));
        block.finish();
        self.check(&lines);
    }

    /// A block is made at most of fields that may be sent; each third is a hole.
    fn prepare(&mut self, input: &mut Input<'_>) {
        let lines = lines(input);
        let parts = lines.iter().enumerate().map(|(at, line)| match is_hole(at) {
            true => Part::Hole { name: &line.0, indexing: line.2 },
            false => Part::Field(field(line)),
        });
        if let Ok(block) = PreparedBlock::new(parts) {
            assert_eq!(block.holes(), (0..lines.len()).filter(|&at| is_hole(at)).count());
            // More than an encoder has plans for, and few enough to come again.
            if self.prepared.len() < 14 {
                self.prepared.push((block, lines));
            }
        }
    }

    fn emit(&mut self, input: &mut Input<'_>) {
        // The first one comes often, so that its plan holds.
        let choice = input.below(2 * self.prepared.len()).saturating_sub(self.prepared.len());
        let Some((block, lines)) = self.prepared.get(choice) else { return };
        let mut lines = lines.clone();
        let holes = (0..lines.len()).filter(|&at| is_hole(at)).collect::<Vec<_>>();
        for &at in &holes {
            lines[at].1 = value(input);
        }
        let values: Vec<&[u8]> = holes.iter().map(|&at| &*lines[at].1).collect();
        self.out.clear();
        self.encoder.emit(block, &values, &mut self.out);
        self.check(&lines);
    }

    fn check(&mut self, lines: &[Line]) {
        self.encoder.check_invariants();
        let mut fields: Vec<Owned> = Vec::new();
        let mut visit =
            |field: Decoded<'_>| fields.push((field.name.to_vec(), field.value.to_vec(), field.never));
        let block = self.out.unsent();
        assert_eq!(self.decoder.decode(block, true, &mut visit), Ok(()));
        self.decoder.check_invariants();
        let expected: Vec<Owned> = lines.iter().map(|line| self.expected(line)).collect();
        assert_eq!(fields, expected, "{:?}", self.policy);
        let (naive, broken) = self.naive.decode(block);
        assert!(broken.is_ok() && naive == expected, "{broken:?} {naive:?}");
        self.check_tables();
        if self.policy == Policy::Static {
            let mut fresh = NaiveDecoder::new(DecoderLimits { table_bytes: 20_000, ..Default::default() });
            assert_eq!(fresh.decode(block).0, expected, "a static block needs nothing before it");
        }
    }

    fn expected(&self, (name, value, indexing): &Line) -> Owned {
        let is_secret = name == b"authorization" || (name == b"cookie" && value.len() < 20);
        let is_auto = *indexing == Indexing::Auto;
        let never = *indexing == Indexing::Never || is_auto && (self.policy == Policy::Never || is_secret);
        (name.clone(), value.clone(), never)
    }

    fn check_tables(&self) {
        let (own, peer) = (entries(self.encoder.table()), entries(self.decoder.table()));
        assert!(peer.starts_with(&own), "{own:?} {peer:?}");
        assert!(self.has_forgotten || self.policy == Policy::Static || own == peer);
    }
}

fn entries(table: TableView<'_>) -> Vec<(&[u8], &[u8])> {
    assert!(table.bytes() <= table.bytes_max());
    table.entries().collect()
}

const fn is_hole(at: usize) -> bool {
    at % 3 == 2
}

fn field((name, value, indexing): &Line) -> Field<'_> {
    Field::new(name, value).with(*indexing)
}

fn lines(input: &mut Input<'_>) -> Vec<Line> {
    (0..input.below(12)).map(|_| (name(input), value(input), *input.pick(&TREATMENTS))).collect()
}

fn name(input: &mut Input<'_>) -> Vec<u8> {
    const NAMES: [&str; 16] = [
        "x-a",
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
        "x-b",
        "content-length",
        "server",
        "a",
        "",
    ];
    match input.byte() {
        0xff => input.string().to_vec(),
        choice @ 0xc0.. => format!("x-{choice}").into_bytes(),
        choice => NAMES[usize::from(choice) % NAMES.len()].into(),
    }
}

fn value(input: &mut Input<'_>) -> Vec<u8> {
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
    match input.byte() {
        0xff => input.string().to_vec(),
        0xfe => {
            let mut long = input.string().repeat(40);
            long.truncate(LONG_BYTES_MAX);
            long
        }
        choice @ 0xc0.. => format!("{choice}").into_bytes(),
        choice => VALUES[usize::from(choice) % VALUES.len()].into(),
    }
}
