//! The line of JSON in which the load tells its figures.

use anyhow::{Context, Result};
use serde_json::Value;

use super::cells::KINDS;

/// The figures of a load.
#[derive(Debug)]
pub(super) struct Answers(Value);

impl Answers {
    pub(super) fn parse(printed: &str) -> Result<Self> {
        let line = printed.lines().last().context("the load prints its figures")?;
        Ok(Self(serde_json::from_str(line).with_context(|| line.to_owned())?))
    }

    /// A figure of the whole run.
    pub(super) fn number(&self, name: &str) -> Result<f64> {
        self.0[name].as_f64().with_context(|| format!("no {name} in {}", self.0))
    }

    /// The answers of a kind.
    pub(super) fn count(&self, kind: &str) -> Result<f64> {
        self.0[kind]["requests"].as_f64().with_context(|| format!("no {kind} in {}", self.0))
    }

    /// Microseconds by kind, of those that were asked for.
    pub(super) fn within(&self) -> impl Iterator<Item = (&'static str, [f64; 3])> {
        let times = |kind: &str| ["p50", "p99", "p999"].map(|name| self.0[kind][name].as_f64());
        KINDS.into_iter().chain(["ping"]).filter_map(move |kind| match times(kind) {
            [Some(half), Some(most), Some(nearly)] => Some((kind, [half, most, nearly])),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_load_are_read() {
        let line = r#"{"requests":7,"get":{"requests":7,"p50":1.0,"p99":2.5,"p999":3.0,"max":9.0}}"#;
        let answers = Answers::parse(line).expect("one line");
        assert_eq!(answers.number("requests").expect("there"), 7.0);
        assert_eq!(answers.within().collect::<Vec<_>>(), [("get", [1.0, 2.5, 3.0])]);
        answers.number("seconds").unwrap_err();
    }
}
