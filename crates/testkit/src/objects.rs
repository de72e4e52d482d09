//! The objects of an object store under load: 512 bytes and a counter of four, eight binary indexes of two
//! terms each, two fields of metadata.

use crate::Rng;

/// Bytes of a value without its counter.
const RANDOM_BYTES: usize = 512;

const INDEXES: u64 = 8;

/// The index entries of an object that was not updated: two terms of each index.
pub const ENTRIES: usize = 2 * INDEXES as usize;

/// The index that queries ask, each object under a term of its own.
pub const ORDERED: &str = "field1_bin";

/// The media type of all.
pub const MEDIA_TYPE: &str = "application/octet-stream";

/// A name and a value.
pub type Field = (String, Vec<u8>);

/// Such as `K00000012`.
pub fn key(number: u64) -> String {
    format!("K{}", term(number))
}

/// Terms in the order of numbers.
pub fn term(number: u64) -> String {
    format!("{number:08}")
}

/// Bytes that only this object has, so that no storage finds them twice, and the number of the object behind
/// them.
pub fn value(seed: u64, client: u64, number: u64) -> Vec<u8> {
    let mut bytes = bytes(seed ^ client << 48 ^ number << 16, RANDOM_BYTES);
    bytes.extend_from_slice(&(number as u32).to_be_bytes());
    bytes
}

/// A number of bytes, made eight at a time.
pub fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut bytes = Vec::with_capacity(count + 8);
    while bytes.len() < count {
        bytes.extend_from_slice(&rng.next_u64().to_le_bytes());
    }
    bytes.truncate(count);
    bytes
}

/// The fields that a new object has beside its media type.
pub fn fields(number: u64) -> Vec<Field> {
    let mut fields = vec![index(ORDERED, format!("{}, group-{}", term(number), number % 16))];
    for place in 2..=INDEXES {
        let terms = format!("{place}-{}, {:06}", number % 1000, number * place % 1_000_000);
        fields.push(index(&format!("field{place}_bin"), terms));
    }
    fields.push(("x-riak-meta-metadata1".to_owned(), b"value1".to_vec()));
    fields.push(("x-riak-meta-metadata2".to_owned(), b"value2".to_vec()));
    fields
}

/// The further index of an update: each update of an object adds another one.
pub fn added(updates: usize, step: u64) -> Field {
    index(&format!("added{updates}_bin"), term(step))
}

fn index(name: &str, terms: String) -> Field {
    (format!("x-riak-index-{name}"), terms.into_bytes())
}

/// The index entries among the fields of an answer.
pub fn entries(fields: &[Field]) -> usize {
    let indexes = fields.iter().filter(|(name, _)| name.starts_with("x-riak-index-"));
    indexes.map(|(_, terms)| terms.split(|byte| *byte == b',').count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_as_the_workload_has_it() {
        let (first, second) = (value(1, 0, 7), value(1, 1, 7));
        assert_eq!((first.len(), &first[512..]), (516, &[0, 0, 0, 7][..]));
        assert_ne!(first, second);
        assert_ne!(value(1, 0, 8)[..512], first[..512]);
        assert_eq!((fields(3).len(), entries(&fields(3))), (10, ENTRIES));
    }
}
