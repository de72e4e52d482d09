//! Records, contexts and states, as the store reads them of its disk and its clients: any bytes are refused,
//! or are in the one form that is written.

use alula_store::model::types::State;
use alula_store::model::{Context, Record, Vtag};

use crate::memory::bounded;

/// One sketch of the greatest precision.
const FOR_STATES: u64 = 128 * 1024;
const FOR_CONTEXTS: u64 = 1024;

/// The first byte says what the others are.
pub fn stored(data: &[u8]) {
    let Some((kind, bytes)) = data.split_first() else { return };
    match kind % 5 {
        0 => record(bytes),
        1 => context(bytes),
        2 => context_text(bytes),
        3 => state(bytes),
        _ => vtag(bytes),
    }
}

fn record(bytes: &[u8]) {
    let Ok(record) = Record::read(bytes) else { return };
    let contents: Vec<_> = record.contents().collect();
    assert_eq!(contents.len(), record.contents().len());
    assert!(contents.is_sorted_by(|one, next| one.dot() < next.dot()));
    let mut out = Vec::new();
    let context = record.context(&mut out);
    assert!(contents.iter().all(|content| context.covers(content.dot())));
    let bytes_max = bytes.len();
    for content in contents {
        assert!(content.value().len() <= bytes_max);
        assert!(content.attributes().count() <= bytes_max);
    }
}

fn context(bytes: &[u8]) {
    let Ok(context) = Context::read(bytes) else { return };
    let (mut text, mut out) = (Vec::new(), Vec::new());
    context.write_text(&mut text);
    assert_eq!(Context::from_text(&text, &mut out), Ok(context));
}

fn context_text(text: &[u8]) {
    let (mut out, mut again) = (Vec::new(), Vec::new());
    let context = bounded(text.len(), FOR_CONTEXTS, || Context::from_text(text, &mut out));
    if let Ok(context) = context {
        context.write_text(&mut again);
        assert_eq!(again, text);
    }
}

fn state(bytes: &[u8]) {
    let state = bounded(bytes.len(), FOR_STATES, || State::read(bytes));
    let Ok(state) = state else { return };
    let mut again = Vec::new();
    state.write(&mut again);
    assert_eq!(again, bytes);
    let mut merged = state.clone();
    merged.merge(&state);
    assert_eq!(merged, state);
}

fn vtag(text: &[u8]) {
    if let Some(vtag) = Vtag::parse(text) {
        assert_eq!(vtag.text().as_bytes(), text);
    }
}
