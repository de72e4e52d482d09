//! Version vectors, and the octets that they and records are written in.

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

    pub(crate) fn read(octets: &mut &[u8]) -> Option<Self> {
        let count = number(octets)?;
        (0..count).map(|_| Dot::read(octets)).collect::<Option<_>>().map(Self)
    }

    pub(crate) fn text(&self) -> String {
        let mut out = Vec::with_capacity(1 + 18 * self.0.len());
        self.write(&mut out);
        STANDARD.encode(out)
    }

    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let octets = STANDARD.decode(text).ok()?;
        let mut rest = &octets[..];
        Self::read(&mut rest).filter(|_| rest.is_empty())
    }
}

impl Dot {
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.actor.to_be_bytes());
        put_number(self.count, out);
    }

    pub(crate) fn read(octets: &mut &[u8]) -> Option<Self> {
        Some(Self { actor: u64::from_be_bytes(*array(octets)?), count: number(octets)? })
    }
}

pub(crate) fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn put_counted(octets: &[u8], out: &mut Vec<u8>) {
    put_number(octets.len() as u64, out);
    out.extend_from_slice(octets);
}

pub(crate) fn array<'a, const COUNT: usize>(octets: &mut &'a [u8]) -> Option<&'a [u8; COUNT]> {
    let (array, rest) = octets.split_first_chunk()?;
    *octets = rest;
    Some(array)
}

pub(crate) fn number(octets: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let [octet] = *array(octets)?;
        number |= u64::from(octet & 0x7f) << shift;
        if octet < 0x80 {
            return Some(number);
        }
    }
    None
}

pub(crate) fn counted<'a>(octets: &mut &'a [u8]) -> Option<&'a [u8]> {
    let count = usize::try_from(number(octets)?).ok()?;
    let (counted, rest) = octets.split_at_checked(count)?;
    *octets = rest;
    Some(counted)
}
