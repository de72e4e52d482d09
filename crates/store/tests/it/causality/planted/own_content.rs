//! Contents that outlive their record, and records made of them.

use alula_store::model::{Content, Context, Dot, Moment, NewContent, Record, Rules, Vtag, write};

/// A content that outlives its record.
#[derive(Clone, Debug)]
pub(super) struct OwnContent {
    pub(super) dot: Dot,
    vtag: Vtag,
    pub(super) modified: Moment,
    is_deleted: bool,
    attributes: Vec<u8>,
    value: Vec<u8>,
}

/// Writes a record of these contents over `out`.
pub(super) fn rebuild(mut contents: Vec<OwnContent>, out: &mut Vec<u8>) {
    const RULES: Rules =
        Rules { allow_mult: true, last_write_wins: false, siblings_max: usize::MAX, bytes_max: u64::MAX };
    contents.sort_by_key(|content| content.dot);
    let mut before = Vec::new();
    for content in &contents {
        let stored = (!before.is_empty()).then(|| Record::read(&before).expect("just written"));
        write(stored, Context::EMPTY, &content.as_new(), &RULES, out).expect("dots ascend");
        before.clone_from(out);
    }
}

impl OwnContent {
    pub(super) fn of(content: Content<'_>) -> Self {
        let mut attributes = Vec::new();
        content.attributes().map_while(Result::ok).for_each(|attribute| attribute.write(&mut attributes));
        Self {
            dot: content.dot(),
            vtag: content.vtag(),
            modified: content.modified(),
            is_deleted: content.is_deleted(),
            attributes,
            value: content.value().to_vec(),
        }
    }

    fn as_new(&self) -> NewContent<'_> {
        NewContent {
            dot: self.dot,
            vtag: self.vtag,
            now: self.modified,
            is_deleted: self.is_deleted,
            attributes: &self.attributes,
            value: &self.value,
        }
    }
}
