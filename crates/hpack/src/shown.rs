//! `Debug` for types that hold fields, without credentials.

use alloc::string::String;
use core::fmt;

use alula_fields::masked_field;

/// A name and a value in displayed form.
pub(crate) struct Shown<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) value: &'a [u8],
    /// The field must never be indexed.
    pub(crate) is_secret: bool,
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = String::from_utf8_lossy(self.name);
        write!(f, "{}: ", name.escape_debug())?;
        match self.is_secret {
            true => f.write_str("\"…\""),
            false => {
                let value = masked_field(&name, self.value);
                write!(f, "\"{}\"", String::from_utf8_lossy(&value).escape_debug())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Encoder, EncoderConfig, Field, Indexing, Part, Policy, PreparedBlock};
    use alloc::format;
    use alula_machine::OutBuf;

    #[test]
    fn no_secret_is_shown() {
        let secret = b"Basic s3cret";
        let plain = Field::new(b"x-plain", b"shown");
        let fields =
            [Field::new(b"authorization", secret), Field::new(b"x-a", secret).with(Indexing::Never), plain];
        let text = format!("{fields:?}");
        assert!(text.contains("x-plain: \"shown\"") && !text.contains("s3cret"), "{text}");
        let mut encoder = Encoder::new(EncoderConfig { policy: Policy::Always, ..EncoderConfig::default() });
        let fields =
            [Field::new(b"x-amz-security-token", b"s3cret"), Field::new(b"location", b"/?s3cret"), plain];
        encoder.encode(fields, &mut OutBuf::new());
        let block = PreparedBlock::new(fields.map(Part::Field)).unwrap();
        for text in [format!("{:?}", encoder.table()), format!("{encoder:?}{block:?}{:?}", encoder.table())] {
            assert!(!text.contains("s3cret") && !text.contains("115, 51, 99"), "{text}");
            assert!(text.contains("shown"), "{text}");
        }
    }
}
