//! Version vectors, and the bytes that they and records are written in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// An actor and its count: the name of a write, and an entry of a version vector.
#[derive(Clone, Copy)]
pub(crate) struct Dot {
    pub(crate) actor: u64,
    pub(crate) count: u64,
}

#[derive(Clone, Default)]
pub(crate) struct Vector(Vec<Dot>);

impl Vector {
    pub(crate) fn count(&self, actor: u64) -> u64 {
        self.0.iter().find(|dot| dot.actor == actor).map_or(0, |dot| dot.count)
    }

    pub(crate) fn descends(&self, other: &Self) -> bool {
        other.0.iter().all(|dot| self.count(dot.actor) >= dot.count)
    }

    /// Takes the greater count of each actor.
    pub(crate) fn merge(&mut self, other: &Self) {
        for dot in &other.0 {
            match self.0.iter_mut().find(|own| own.actor == dot.actor) {
                Some(own) => own.count = own.count.max(dot.count),
                None => self.0.push(*dot),
            }
        }
    }

    /// One more write of an actor.
    pub(crate) fn next(&mut self, actor: u64) -> Dot {
        let count = self.count(actor) + 1;
        self.merge(&Self(vec![Dot { actor, count }]));
        Dot { actor, count }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_number(self.0.len() as u64, out);
        for dot in &self.0 {
            dot.write(out);
        }
    }

    pub(crate) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let count = number(bytes)?;
        (0..count).map(|_| Dot::read(bytes)).collect::<Option<_>>().map(Self)
    }

    pub(crate) fn text(&self) -> String {
        let mut out = Vec::with_capacity(1 + 18 * self.0.len());
        self.write(&mut out);
        STANDARD.encode(out)
    }

    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let bytes = STANDARD.decode(text).ok()?;
        let mut rest = &bytes[..];
        Self::read(&mut rest).filter(|_| rest.is_empty())
    }
}

impl Dot {
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.actor.to_be_bytes());
        put_number(self.count, out);
    }

    pub(crate) fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self { actor: u64::from_be_bytes(*array(bytes)?), count: number(bytes)? })
    }
}

pub(crate) fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn put_counted(bytes: &[u8], out: &mut Vec<u8>) {
    put_number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

pub(crate) fn array<'a, const COUNT: usize>(bytes: &mut &'a [u8]) -> Option<&'a [u8; COUNT]> {
    let (array, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(array)
}

pub(crate) fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = *array(bytes)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

pub(crate) fn counted<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let count = usize::try_from(number(bytes)?).ok()?;
    let (counted, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(counted)
}
