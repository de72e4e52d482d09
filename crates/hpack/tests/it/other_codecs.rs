//! Against two codecs that are not ours: what one writes the other reads.

use alula_hpack::{
    Decoded, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Huffman, Indexing, Policy,
};
use alula_machine::OutBuf;
use alula_testkit::Rng;

type Owned = (Vec<u8>, Vec<u8>);

fn random_fields(rng: &mut Rng) -> Vec<Owned> {
    const NAMES: [&str; 12] = [
        ":method",
        ":path",
        ":status",
        "accept-encoding",
        "accept",
        "cookie",
        "date",
        "x-request-id",
        "x-a",
        "x-b",
        "content-length",
        "server",
    ];
    (0..1 + rng.below(12))
        .map(|_| {
            let name = match rng.below(8) {
                0 => format!("x-{}", rng.below(60)).into_bytes(),
                _ => rng.pick(&NAMES).as_bytes().to_vec(),
            };
            let len = rng.below(60);
            let value = match rng.below(6) {
                0 => rng.bytes(len),
                1 => rng.bytes_of(b"abcdefghijklmnopqrstuvwxyz0123456789/?=&;, ", len),
                2 => b"GET".to_vec(),
                _ => rng.below(30).to_string().into_bytes(),
            };
            (name, value)
        })
        .collect()
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Vec<Owned> {
    let mut fields = Vec::new();
    let mut visit = |field: Decoded<'_>| fields.push((field.name.to_vec(), field.value.to_vec()));
    decoder.decode(block, true, &mut visit).unwrap();
    decoder.check_invariants();
    fields
}

#[test]
fn others_read_what_we_write() {
    const SIZES: [u32; 4] = [0, 200, 1000, 4096];
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let policy = *rng.pick(&[Policy::Static, Policy::Always, Policy::Repeat, Policy::Never]);
        let huffman = *rng.pick(&[Huffman::Never, Huffman::Shorter, Huffman::Always]);
        let table_bytes_max = *rng.pick(&SIZES);
        let mut encoder = Encoder::new(EncoderConfig { policy, huffman, table_bytes_max });
        let mut httlib = httlib_hpack::Decoder::with_dynamic_size(4096);
        let mut fluke = fluke_hpack::Decoder::new();
        for _ in 0..40 {
            if rng.one_in(10) {
                encoder.set_peer_table_limit(*rng.pick(&SIZES));
            }
            let fields = random_fields(&mut rng);
            let mut out = OutBuf::new();
            encoder.encode(fields.iter().map(|(name, value)| Field::new(name, value)), &mut out);
            let mut read = Vec::new();
            httlib.decode(&mut out.unsent().to_vec(), &mut read).unwrap();
            let read: Vec<_> = read.into_iter().map(|(name, value, _)| (name, value)).collect();
            assert_eq!(read, fields, "httlib-hpack, seed {seed}");
            assert_eq!(fluke.decode(out.unsent()).unwrap(), fields, "fluke-hpack, seed {seed}");
        }
    }
}

#[test]
fn we_read_what_others_write() {
    use httlib_hpack::Encoder as Httlib;
    const HUFFMAN: u8 = Httlib::HUFFMAN_NAME | Httlib::HUFFMAN_VALUE;
    const FORMS: [u8; 3] = [
        Httlib::BEST_FORMAT | Httlib::WITH_INDEXING,
        Httlib::BEST_FORMAT | Httlib::NEVER_INDEXED,
        Httlib::BEST_FORMAT,
    ];
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let mut httlib = Httlib::with_dynamic_size(4096);
        let mut fluke = fluke_hpack::Encoder::new();
        let [mut from_httlib, mut from_fluke] = [(); 2].map(|()| Decoder::new(DecoderLimits::default()));
        for _ in 0..40 {
            let fields = random_fields(&mut rng);
            let mut wire = Vec::new();
            if rng.one_in(10) {
                httlib.update_max_dynamic_size(*rng.pick(&[0, 200, 1000, 4096]), &mut wire).unwrap();
            }
            for (name, value) in &fields {
                let flags = *rng.pick(&FORMS) | if rng.one_in(2) { HUFFMAN } else { 0 };
                httlib.encode((name.clone(), value.clone(), flags), &mut wire).unwrap();
            }
            assert_eq!(decode(&mut from_httlib, &wire), fields, "httlib-hpack, seed {seed}");
            let wire = fluke.encode(fields.iter().map(|(name, value)| (&name[..], &value[..])));
            assert_eq!(decode(&mut from_fluke, &wire), fields, "fluke-hpack, seed {seed}");
        }
    }
}

#[test]
fn our_blocks_are_never_longer_when_everything_is_indexed() {
    use httlib_hpack::Encoder as Httlib;
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let config =
            EncoderConfig { policy: Policy::Always, huffman: Huffman::Never, ..EncoderConfig::default() };
        let mut encoder = Encoder::new(config);
        let mut httlib = Httlib::with_dynamic_size(4096);
        let mut longer = 0;
        for _ in 0..60 {
            let mut fields = random_fields(&mut rng);
            fields.truncate(4);
            let mut out = OutBuf::new();
            let ours = fields.iter().map(|(name, value)| Field::new(name, value).with(Indexing::Index));
            encoder.encode(ours, &mut out);
            let mut wire = Vec::new();
            for (name, value) in &fields {
                let flags = Httlib::BEST_FORMAT | Httlib::WITH_INDEXING;
                httlib.encode((name.clone(), value.clone(), flags), &mut wire).unwrap();
            }
            longer += usize::from(out.len() > wire.len());
        }
        assert_eq!(longer, 0, "our blocks are never longer, seed {seed}");
    }
}
