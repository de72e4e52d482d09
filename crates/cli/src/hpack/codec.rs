//! The encoder and the decoder of one connection.

use alula::{
    hpack::{
        DecodeError, Decoded, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Huffman, Indexing,
        Policy,
    },
    machine::OutBuf,
};

/// Names and values, which may be any bytes.
pub(super) type Headers = Vec<(Vec<u8>, Vec<u8>)>;

/// The largest table of the encoder, whatever the peer allows.
const ENCODER_TABLE_BYTES_MAX: u32 = 1024 * 1024;
/// The longest string that the decoder accepts: the input comes from the user.
const STRING_BYTES_MAX: u32 = 64 * 1024 * 1024;
/// The size of a table before any setting (RFC 9113 §6.5.2).
const TABLE_BYTES_INITIAL: u32 = 4096;

/// An encoder and a decoder, one for each direction.
pub(super) struct Codec {
    encoder: Encoder,
    table_bytes: u32,
    decoder: Decoder,
    out: OutBuf,
}

impl Codec {
    pub(super) fn new() -> Self {
        let config = EncoderConfig { table_bytes_max: ENCODER_TABLE_BYTES_MAX, ..EncoderConfig::default() };
        Self {
            encoder: Encoder::new(config),
            table_bytes: TABLE_BYTES_INITIAL,
            decoder: Decoder::new(DecoderLimits {
                string_bytes: STRING_BYTES_MAX,
                ..DecoderLimits::default()
            }),
            out: OutBuf::new(),
        }
    }

    /// Applies SETTINGS_HEADER_TABLE_SIZE, acknowledged, in both directions.
    pub(super) fn limit(&mut self, table_bytes: u32) {
        self.table_bytes = table_bytes;
        self.encoder.set_peer_table_limit(table_bytes);
        self.decoder.set_table_limit(table_bytes);
    }

    /// Changes the policy of the encoder.
    pub(super) fn configure(&mut self, policy: Option<Policy>, huffman: Option<Huffman>) {
        if let Some(policy) = policy {
            self.encoder.set_policy(policy);
            // While the table was of no use, no room was taken that the peer gave.
            self.encoder.set_peer_table_limit(self.table_bytes);
        }
        if let Some(huffman) = huffman {
            self.encoder.set_huffman(huffman);
        }
    }

    /// Encodes these headers as a block; `indexing` says for each, by its place and name, what may be done
    /// with it.
    pub(super) fn encode(&mut self, headers: &Headers, indexing: impl Fn(usize, &[u8]) -> Indexing) -> &[u8] {
        self.out.clear();
        let fields = headers.iter().enumerate();
        let fields = fields.map(|(at, (name, value))| Field::new(name, value).with(indexing(at, name)));
        self.encoder.encode(fields, &mut self.out);
        self.out.unsent()
    }

    /// Decodes this block. After an error the decoder is as new: a connection would have ended.
    pub(super) fn decode(&mut self, block: &[u8]) -> Result<Headers, DecodeError> {
        let mut headers = Headers::new();
        let mut visit = |field: Decoded<'_>| headers.push((field.name.to_vec(), field.value.to_vec()));
        let decoded = self.decoder.decode(block, true, &mut visit);
        if let Err(error) = decoded {
            self.decoder.reset();
            return Err(error);
        }
        Ok(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers() -> Headers {
        vec![(b"x-a".to_vec(), b"one".to_vec()), (b"authorization".to_vec(), b"two".to_vec())]
    }

    fn auto(_: usize, _: &[u8]) -> Indexing {
        Indexing::Auto
    }

    #[test]
    fn what_one_encodes_one_decodes_whatever_changes_on_the_way() {
        let (mut from, mut to) = (Codec::new(), Codec::new());
        let policies = [Policy::Always, Policy::Repeat, Policy::Static, Policy::Always, Policy::Never];
        for (round, policy) in policies.into_iter().enumerate() {
            for huffman in [Huffman::Never, Huffman::Shorter] {
                for table_bytes in [4096, 100, 0, 70_000] {
                    from.limit(table_bytes);
                    to.limit(table_bytes);
                    from.configure(Some(policy), Some(huffman));
                    for _ in 0..3 {
                        let block = from.encode(&headers(), auto).to_vec();
                        assert_eq!(
                            to.decode(&block),
                            Ok(headers()),
                            "{round} {policy:?} {huffman:?} {table_bytes}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_table_outlives_every_change_but_that_to_static() {
        let (mut codec, header) = (Codec::new(), vec![(b"x-a".to_vec(), b"one".to_vec())]);
        codec.configure(Some(Policy::Always), None);
        let entered = codec.encode(&header, auto).to_vec();
        for (policy, huffman) in [(Policy::Always, Huffman::Never), (Policy::Repeat, Huffman::Shorter)] {
            codec.configure(Some(policy), Some(huffman));
            assert_eq!(codec.encode(&header, auto), b"\xbe");
        }
        codec.configure(Some(Policy::Static), None);
        codec.configure(Some(Policy::Always), None);
        assert_eq!(codec.encode(&header, auto), entered);
    }

    #[test]
    fn after_an_error_the_decoder_is_as_new() {
        let mut codec = Codec::new();
        assert!(codec.decode(&[0x80]).is_err());
        assert!(codec.decode(&[0x40, 1, b'a']).is_err());
        assert_eq!(codec.decode(&[0x82]), Ok(vec![(b":method".to_vec(), b"GET".to_vec())]));
    }
}
