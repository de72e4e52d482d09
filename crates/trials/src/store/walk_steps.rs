//! Steps of walks along links, as they stand in a path.

use alula_store::fuzzing;

use crate::memory::bounded;

/// A list of steps is short: a walk has a hundred at most.
const FOR_ANY: u64 = 16 * 1024;

/// The bytes are the path behind the key.
pub fn walk_steps(data: &[u8]) {
    let steps = bounded(data.len(), FOR_ANY, || fuzzing::walk_steps(data));
    let segments: Vec<_> = data.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
    let has_three_parts = |segment: &&[u8]| segment.iter().filter(|byte| **byte == b',').count() == 2;
    if let Some(steps) = steps {
        assert_eq!(steps, segments.len());
        assert!(steps > 0 && segments.iter().all(has_three_parts));
    }
}
