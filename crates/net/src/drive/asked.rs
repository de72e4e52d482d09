//! The request and its origin, as errors show them.

use std::fmt::{self, Write as _};

use alula_fields::{OneLine, masked_target};

/// A request as it may be shown: its method, and its URL without credentials and without the values of its
/// query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Asked {
    method: Box<str>,
    origin: Box<str>,
    path: Box<str>,
}

impl Asked {
    /// Creates one from a method, an origin such as `https://a.example:8443`, and a path with its query.
    pub fn new(method: &str, origin: &str, path: &str) -> Self {
        Self { method: method.into(), origin: origin.into(), path: masked_target(path).to_string().into() }
    }

    /// Returns the method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the origin: scheme, host, and port unless it is the scheme's.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the path, and of the query the names.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = OneLine(f);
        write!(line, "{} {}", self.method, self.origin)?;
        // Such as the asterisk of OPTIONS.
        if !self.path.starts_with('/') {
            line.write_str(" ")?;
        }
        line.write_str(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_query_are_not_shown() {
        for (path, shown) in [("/", "/"), ("/a?b=c&d=&e", "/a?b=…&d=&…")] {
            assert_eq!(Asked::new("GET", "http://a", path).to_string(), format!("GET http://a{shown}"));
        }
        assert_eq!(Asked::new("OPTIONS", "http://a", "*").to_string(), "OPTIONS http://a *");
    }
}
