//! The columns of a table, and how their figures are printed.

use crate::costs::table::thousands;

/// A column: one figure of everybody in a contest.
#[derive(Debug)]
pub(crate) struct Measure {
    /// With the unit.
    pub(crate) name: &'static str,
    pub(crate) better: Better,
    pub(crate) print: fn(f64) -> String,
}

/// The side on which the better figures are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Better {
    Less,
    More,
    /// Nobody is ahead by it.
    Neither,
}

/// Returns a column in which less is better.
pub(crate) const fn less(name: &'static str, print: fn(f64) -> String) -> Measure {
    Measure { name, better: Better::Less, print }
}

/// Returns a column in which more is better.
pub(crate) const fn more(name: &'static str, print: fn(f64) -> String) -> Measure {
    Measure { name, better: Better::More, print }
}

/// Returns a column that is told and not compared.
pub(crate) const fn told(name: &'static str, print: fn(f64) -> String) -> Measure {
    Measure { name, better: Better::Neither, print }
}

/// Prints to the hundredth, so that what a start has left does not show, nor does −0.
pub(crate) fn few(figure: f64) -> String {
    let text = format!("{:.2}", figure.max(0.0));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Prints whole numbers, and small ones to the tenth.
pub(crate) fn whole(figure: f64) -> String {
    if figure < 10.0 { format!("{figure:.1}") } else { thousands(figure) }
}

/// Prints to the hundredth.
pub(crate) fn fine(figure: f64) -> String {
    format!("{figure:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_no_fraction() {
        assert_eq!([0.0, -0.001, 0.004, 3.0, 2.532].map(few), ["0", "0", "0", "3", "2.53"]);
        assert_eq!([9.96, 1234.4].map(whole), ["10.0", "1,234"]);
    }
}
