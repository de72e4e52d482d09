//! The rows of one object: one for each content, by its dot.
//!
//! Rule: a row only goes from absent to a content, and from either to removed. Rows therefore merge to the
//! same, in whatever order and however often they arrive.

use std::collections::BTreeMap;
use std::sync::Arc;

use alula_store::model::{Content, Damaged, Dot, Record};

/// The rows of one object, as one replica or several together have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rows(BTreeMap<Dot, Row>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Row {
    /// A record of one content.
    Content(Arc<[u8]>),
    /// The content is covered, whether it has arrived or not.
    Removed,
}

impl Rows {
    /// Returns the changes of a write: the contents that come, and the removal of those that go.
    pub(super) fn of_change(before: Option<Record<'_>>, after: Option<Record<'_>>) -> Self {
        let before = before.map(|record| record.contents());
        let after = after.map(|record| record.contents());
        let has = |dot: Dot| move |content: Content<'_>| content.dot() == dot;
        let gone = before.clone().into_iter().flatten().map(|content| content.dot());
        let gone = gone.filter(|dot| !after.clone().into_iter().flatten().any(has(*dot)));
        let come = after.clone().into_iter().flatten();
        let come = come.filter(|content| !before.clone().into_iter().flatten().any(has(content.dot())));
        let mut rows: BTreeMap<_, _> = gone.map(|dot| (dot, Row::Removed)).collect();
        rows.extend(come.map(|content| (content.dot(), Row::of(content))));
        Self(rows)
    }

    /// Takes over what the other has.
    pub(super) fn merge(&mut self, other: &Self) {
        for (dot, row) in &other.0 {
            match row {
                Row::Removed => {
                    self.0.insert(*dot, Row::Removed);
                }
                Row::Content(_) => {
                    self.0.entry(*dot).or_insert_with(|| row.clone());
                }
            }
        }
    }

    /// Returns the record of the contents that are left, or `None` if there are none.
    ///
    /// # Errors
    /// [`Damaged`]; a row is a record of one content, which a test rules out.
    pub(super) fn record(&self) -> Result<Option<Arc<[u8]>>, Damaged> {
        let contents = self.0.values().filter_map(Row::content).map(Record::read);
        let contents = contents.collect::<Result<Vec<_>, _>>()?;
        if contents.is_empty() {
            return Ok(None);
        }
        let mut out = Vec::new();
        Record::write(contents.iter().filter_map(Record::single), &mut out);
        Ok(Some(out.into()))
    }
}

impl Row {
    fn of(content: Content<'_>) -> Self {
        let mut out = Vec::new();
        Record::write(std::iter::once(content), &mut out);
        Self::Content(out.into())
    }

    fn content(&self) -> Option<&[u8]> {
        match self {
            Self::Content(bytes) => Some(bytes),
            Self::Removed => None,
        }
    }
}

mod tests {
    use super::*;
    use alula_store::model::{Actor, Context, Moment, NewContent, Rules, Vtag, write};

    fn written(stored: Option<&[u8]>, context: Context<'_>, count: u64) -> Vec<u8> {
        let new = NewContent {
            dot: Dot::new(Actor::new(count % 2), count).expect("a count within its bounds"),
            vtag: Vtag::from_bits(1),
            now: Moment::from_micros(1),
            is_deleted: false,
            attributes: b"",
            value: &count.to_be_bytes(),
        };
        let rules = Rules { allow_mult: true, last_write_wins: false, siblings_max: 9, bytes_max: 999 };
        let mut out = Vec::new();
        write(stored.map(record), context, &new, &rules, &mut out).expect("few and short contents");
        out
    }

    fn record(bytes: &[u8]) -> Record<'_> {
        Record::read(bytes).expect("a record that was written")
    }

    #[test]
    fn changes_merge_to_the_same_in_any_order() {
        let one = written(None, Context::EMPTY, 1);
        let two = written(Some(&one), Context::EMPTY, 2);
        let mut context = Vec::new();
        let three = written(Some(&two), record(&one).context(&mut context), 3);
        let changes = [(None, &one), (Some(&one), &two), (Some(&two), &three)]
            .map(|(before, after)| Rows::of_change(before.map(|bytes| record(bytes)), Some(record(after))));
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut rows = Rows::default();
            order.iter().chain(&order).for_each(|change| rows.merge(&changes[*change]));
            assert_eq!(rows.record(), Ok(Some(three.clone().into())), "{order:?}");
        }
    }

    #[test]
    fn a_removed_object_has_no_record() {
        let one = written(None, Context::EMPTY, 1);
        let mut rows = Rows::of_change(Some(record(&one)), None);
        assert_eq!(rows.record(), Ok(None));
        rows.merge(&Rows::of_change(None, Some(record(&one))));
        assert_eq!(rows.record(), Ok(None));
    }
}
