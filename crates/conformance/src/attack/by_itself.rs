//! Attacks on what a client does by itself: decoding content, following redirects, keeping cookies, trying
//! again.
//!
//! What bounds them is no field of `Limits`, and what the caller is told is the point, so their table has
//! other cells.

use ::alula::{Error, Response};
use alula_tally::{Side, enter};

use super::one_at_a_time;
use super::page::{PAGE, text};
use super::watch::Watch;

/// One line of the page's table.
#[derive(Debug, Eq, PartialEq)]
pub struct ByItself {
    /// The attack.
    pub attack: String,
    /// What bounds it.
    pub bound: String,
    /// What the caller gets.
    pub told: String,
}

/// The heading of their table: others of the page have as many cells.
const HEADING: &str = "\n## Attacks on what clients do by themselves\n";

/// Every such attack of the page.
///
/// # Panics
/// When the page cannot be read, or has no such table.
#[must_use]
pub fn rows_by_itself() -> Vec<ByItself> {
    let text = text();
    let (_, section) = text.split_once(HEADING).expect("the page has this table");
    let lines = section.lines().take_while(|line| !line.starts_with("## "));
    lines.filter_map(ByItself::read).collect()
}

impl ByItself {
    fn read(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        let [attack, bound, told] = cells[..] else { return None };
        let is_heading = attack == "attack" || attack.starts_with('-');
        let [attack, bound, told] = [attack, bound, told].map(str::to_owned);
        (!is_heading).then_some(Self { attack, bound, told })
    }

    /// The page must say of this attack what was found, word for word.
    ///
    /// # Panics
    /// When it is not there, or says something else.
    pub fn check(attack: &str, bound: &str, told: &str) {
        println!("| {attack} | {bound} | {told} |");
        let row = rows_by_itself().into_iter().find(|row| row.attack == attack);
        let row = row.unwrap_or_else(|| panic!("{PAGE} has no row: | {attack} | {bound} | {told} |"));
        assert_eq!((&*row.bound, &*row.told), (bound, told), "{PAGE}: {attack}");
    }
}

/// What the page says that a caller is told: the cause of the error, or the status of the response.
#[must_use]
pub fn told(outcome: &Result<Response, Error>) -> String {
    match outcome {
        Ok(response) => format!("the response, {}", response.status().as_u16()),
        Err(error) => {
            let name = format!("{:?}", error.cause());
            let name = name.split('(').next().unwrap_or_default();
            format!("`Cause::{name}`: {}", error.cause())
        }
    }
}

/// Does this as a client, on this thread, and says the most bytes that the client held meanwhile beyond what
/// it held before.
pub fn held<T>(play: impl FnOnce() -> T) -> (T, i64) {
    let _turn = one_at_a_time();
    let _side = enter(Side::CLIENT);
    let watch = Watch::on(Side::CLIENT);
    let result = play();
    let peak = watch.peak();
    (result, peak)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read() {
        let row = ByItself::read("| a bomb | two codings | an error |").expect("a row");
        assert_eq!((&*row.attack, &*row.bound, &*row.told), ("a bomb", "two codings", "an error"));
        assert_eq!(ByItself::read("| attack | what bounds it | what the caller gets |"), None);
        assert_eq!(ByItself::read("| --- | --- | --- |"), None);
        assert_eq!(ByItself::read("| rapid reset | `glitch_burst` | closed | `A` |"), None);
    }
}
