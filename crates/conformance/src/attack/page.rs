//! The page that users read about the limits, held against what attacks really come to.

use std::fs;
use std::path::Path;

use super::answer::Answer;

pub(super) const PAGE: &str = "docs/limits.md";

/// One line of the page's tables of attacks.
#[derive(Debug)]
pub struct Row {
    /// The attack.
    pub attack: String,
    /// The field of `Limits` that answers it; nothing when it is a rule of the protocol that does.
    pub limit: Option<String>,
    /// What the attacker gets.
    pub answer: String,
    /// What the ledger counts it by, one or the other as the frames fall into reads; none when nothing went
    /// wrong.
    pub counters: Vec<String>,
}

/// Every attack of the page.
///
/// # Panics
/// When the page cannot be read.
#[must_use]
pub fn rows() -> Vec<Row> {
    text().lines().filter_map(Row::parse).collect()
}

/// The page.
///
/// # Panics
/// When it cannot be read.
pub(super) fn text() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    fs::read_to_string(page).expect("the page is in the repository")
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        let [attack, limit, answer, counters] = cells[..] else { return None };
        let is_heading = attack == "attack" || attack.starts_with('-');
        let code = |cell: &str| cell.strip_prefix('`')?.strip_suffix('`').map(str::to_owned);
        (!is_heading).then(|| Self {
            attack: attack.to_owned(),
            limit: code(limit),
            answer: answer.to_owned(),
            counters: counters.split(", ").filter_map(code).collect(),
        })
    }

    /// The row of this attack, which must say what is so.
    ///
    /// # Panics
    /// When it is not there, or says something else.
    pub(super) fn checked(attack: &str, answer: Answer, has_limit: bool) -> Self {
        let row = rows().into_iter().find(|row| row.attack == attack);
        let row = row.unwrap_or_else(|| panic!("{PAGE} has no row for {attack}: {answer}"));
        assert_eq!(row.answer, answer.to_string(), "{PAGE}: {attack}");
        assert_eq!(row.limit.is_some(), has_limit, "{PAGE}: the limit of {attack}");
        row
    }

    /// The ledger must have counted it.
    ///
    /// # Panics
    /// When it has not.
    pub(super) fn check_counted(&self, ledger: &::alula::Ledger) {
        let grown: Vec<_> = ledger.counts().filter(|(_, count)| *count > 0).collect();
        let is_counted = match self.counters.is_empty() {
            true => grown.is_empty(),
            false => self.counters.iter().any(|counter| ledger.count(counter) > 0),
        };
        assert!(is_counted, "{}: counted {grown:?}", self.attack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read() {
        let row = Row::parse("| rapid reset | `glitch_burst` | GOAWAY ENHANCE_YOUR_CALM | `A`, `B` |")
            .expect("a row");
        assert_eq!((row.attack.as_str(), row.limit.as_deref()), ("rapid reset", Some("glitch_burst")));
        assert_eq!((row.answer.as_str(), row.counters.len()), ("GOAWAY ENHANCE_YOUR_CALM", 2));
        assert_eq!(Row::parse("| a | – | served | – |").expect("a row").counters, [""; 0]);
        assert!(Row::parse("| attack | limit | answer | counter |").is_none());
        assert!(Row::parse("| --- | --- | --- | --- |").is_none());
        assert!(Row::parse("| two | cells |").is_none());
    }
}
