//! Matching the texts of a page against a pattern: short ones at once, others on a blocking thread.

use super::pattern::Pattern;
use super::range::Range;
use crate::engine::{EngineError, Page};
use crate::searches::{Going, Searches};

/// The bytes that are matched on the thread of the connection: they take ten milliseconds at most.
const SHORT_BYTES: usize = 1024;

/// The texts of a page, in one piece of memory, with the pattern to search them for.
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    pattern: Pattern,
}

/// Returns for each item of a page whether the pattern is found in its text.
///
/// # Errors
/// [`EngineError::TimedOut`] after the deadline.
pub(super) async fn matches(
    searches: &Searches,
    pattern: &Pattern,
    range: &Range,
    page: &Page,
    deadline: tokio::time::Instant,
) -> Result<Vec<bool>, EngineError> {
    let texts = || page.items().map(|item| range.searched(item));
    if texts().map(<[u8]>::len).sum::<usize>() <= SHORT_BYTES {
        return Ok(texts().map(|text| pattern.is_in(text)).collect());
    }
    // What a search remembers lasts for a page: it is far longer than the pattern, and clients may be slow to
    // read.
    let mut all = Texts { bytes: Vec::new(), ends: Vec::new(), pattern: pattern.for_one_search() };
    for text in texts() {
        all.bytes.extend_from_slice(text);
        all.ends.push(all.bytes.len());
    }
    searches.run(deadline, move |going| all.search(going)).await
}

impl Texts {
    fn search(&self, going: &Going) -> Result<Vec<bool>, EngineError> {
        let mut start = 0;
        let search = self.ends.iter().map(|end| {
            going.check()?;
            let is_in = self.pattern.is_in(&self.bytes[start..*end]);
            start = *end;
            Ok(is_in)
        });
        search.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::*;
    use crate::engine::Item;

    fn page(terms: &[Vec<u8>]) -> Page {
        let mut page = Page::new(terms.len());
        assert!(terms.iter().all(|term| page.push(Item { term, key: b"key" })));
        page
    }

    async fn found(
        searches: Searches,
        terms: &[Vec<u8>],
        deadline: Instant,
    ) -> Result<Vec<bool>, EngineError> {
        let pattern = Pattern::compile(b"^a+b").expect("a pattern");
        let range = Range::read(b"a_bin", b"a", None).expect("a range");
        matches(&searches, &pattern, &range, &page(terms), deadline).await
    }

    #[tokio::test]
    async fn the_thread_of_a_connection_searches_short_texts_alone() {
        let far = Instant::now() + Duration::from_secs(600);
        for (count, is_short) in [(SHORT_BYTES / 2, true), (SHORT_BYTES / 2 + 1, false)] {
            let terms: Vec<_> = (0..count)
                .map(|number| if number % 3 == 0 { b"ab".to_vec() } else { b"ba".to_vec() })
                .collect();
            let expected: Vec<_> = terms.iter().map(|term| term == b"ab").collect();
            let found_then = found(Searches::new(), &terms, far).await;
            assert!(found_then.is_ok_and(|found| found == expected), "{count}");
            // Without a place for a search, short texts alone are searched.
            let without_place = found(Searches::of_places(0), &terms, Instant::now()).await;
            assert_eq!(without_place.is_ok(), is_short, "{count}");
        }
    }

    #[tokio::test]
    async fn a_search_ends_with_its_time() {
        let terms = vec![vec![b'a'; SHORT_BYTES]; 2];
        let found = found(Searches::new(), &terms, Instant::now()).await;
        assert!(matches!(found, Err(EngineError::TimedOut)), "{found:?}");
    }
}
