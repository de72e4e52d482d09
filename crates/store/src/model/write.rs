//! Writes: the record that results from the stored one, the context of the client and a new content.

use std::{fmt, iter};

use super::{Content, Context, Dot, Moment, Record, Vtag};

/// The properties of a bucket that a write depends on, and the limits of an object.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Contents that the client did not know stay beside the new one. Otherwise the new one replaces all.
    pub allow_mult: bool,
    /// The new content replaces all others, whatever `allow_mult` says.
    pub last_write_wins: bool,
    /// The most contents that an object may have.
    pub siblings_max: usize,
    /// The most bytes of attributes and values of all contents together.
    pub bytes_max: u64,
}

/// A content that is to be stored.
#[derive(Clone, Copy, Debug)]
pub struct NewContent<'a> {
    /// The name of the write, which no other has.
    pub dot: Dot,
    /// A random token.
    pub vtag: Vtag,
    /// The time of the clock. The content is never older than those before it.
    pub now: Moment,
    /// The content says that the object was deleted.
    pub is_deleted: bool,
    /// The attributes in stored form, see [`Attribute::write`](super::Attribute::write).
    pub attributes: &'a [u8],
    /// The bytes to store.
    pub value: &'a [u8],
}

/// The reason for which a write is refused. The object stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// The object would have more contents than [`Rules::siblings_max`].
    Siblings {
        /// The contents that it would have.
        siblings: usize,
        /// The limit.
        siblings_max: usize,
    },
    /// The contents together would be longer than [`Rules::bytes_max`].
    Bytes {
        /// The bytes that they would take.
        bytes: u64,
        /// The limit.
        bytes_max: u64,
    },
    /// The dot of the write is not newer than a stored one of its actor: two stores have used the actor.
    Dot,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Siblings { siblings, siblings_max } => {
                write!(f, "the object would have {siblings} siblings, and {siblings_max} are allowed")
            }
            Self::Bytes { bytes, bytes_max } => {
                write!(f, "the object would take {bytes} bytes, and {bytes_max} are allowed")
            }
            Self::Dot => f.write_str("the actor of this store has been used by another one"),
        }
    }
}

impl std::error::Error for Refused {}

/// Writes the record that results when a client with `context` stores `new`, over `out`.
///
/// Contents that the context covers go; the others stay beside the new one where the rules allow siblings.
/// Allocates only what `out` grows by.
///
/// ```
/// use alula_store::model::{Actor, Context, Dots, Moment, NewContent, Record, Rules, Vtag, write};
///
/// let rules = Rules { allow_mult: true, last_write_wins: false, siblings_max: 100, bytes_max: 1 << 20 };
/// let dots = Dots::new(Actor::new(7));
/// let new = |value| NewContent {
///     dot: dots.next().expect("far from the last"),
///     vtag: Vtag::from_bits(1),
///     now: Moment::from_micros(1),
///     is_deleted: false,
///     attributes: b"",
///     value,
/// };
///
/// let (mut first, mut second, mut third) = (Vec::new(), Vec::new(), Vec::new());
/// write(None, Context::EMPTY, &new(b"one"), &rules, &mut first)?;
/// let stored = Record::read(&first)?;
/// write(Some(stored), Context::EMPTY, &new(b"two"), &rules, &mut second)?;
/// let stored = Record::read(&second)?;
/// assert_eq!(stored.contents().len(), 2);
///
/// let mut bytes = Vec::new();
/// let context = stored.context(&mut bytes);
/// write(Some(stored), context, &new(b"three"), &rules, &mut third)?;
/// assert_eq!(Record::read(&third)?.single().map(|content| content.value()), Some(&b"three"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A [`Refused`] if the object would pass a limit, or if the dot is none that follows the stored ones; `out`
/// is then of no use.
pub fn write(
    stored: Option<Record<'_>>,
    context: Context<'_>,
    new: &NewContent<'_>,
    rules: &Rules,
    out: &mut Vec<u8>,
) -> Result<(), Refused> {
    let has_siblings = rules.allow_mult && !rules.last_write_wins;
    let contents = || stored.iter().flat_map(Record::contents);
    let follows = |content: Content<'_>| content.dot.actor() != new.dot.actor() || content.dot < new.dot;
    if !contents().all(follows) {
        return Err(Refused::Dot);
    }
    let kept = contents().filter(|content| has_siblings && !context.covers(content.dot));
    check_limits(kept.clone(), new, rules)?;
    let content = content_after(stored, new);
    // A record has its contents by ascending dots.
    let before = kept.clone().filter(|content| content.dot < new.dot);
    let after = kept.filter(|content| content.dot > new.dot);
    Record::write(before.chain(iter::once(content)).chain(after), out);
    Ok(())
}

/// Returns the new content with a time after every stored one, so that the content written last is the
/// latest.
fn content_after<'a>(stored: Option<Record<'_>>, new: &NewContent<'a>) -> Content<'a> {
    let earliest = stored.map_or(new.now, |stored| stored.modified().next());
    Content {
        dot: new.dot,
        vtag: new.vtag,
        modified: new.now.max(earliest),
        is_deleted: new.is_deleted,
        attributes: new.attributes,
        value: new.value,
    }
}

fn check_limits<'a>(
    kept: impl Iterator<Item = Content<'a>>,
    new: &NewContent<'_>,
    rules: &Rules,
) -> Result<(), Refused> {
    let (mut siblings, mut bytes) = (1, (new.attributes.len() + new.value.len()) as u64);
    for content in kept {
        siblings += 1;
        bytes += (content.attributes.len() + content.value.len()) as u64;
    }
    if bytes > rules.bytes_max {
        return Err(Refused::Bytes { bytes, bytes_max: rules.bytes_max });
    }
    if siblings > rules.siblings_max {
        return Err(Refused::Siblings { siblings, siblings_max: rules.siblings_max });
    }
    Ok(())
}
