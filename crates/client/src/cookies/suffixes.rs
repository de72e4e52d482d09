//! The list of public suffixes (publicsuffix.org), below which anybody can register a domain.
//!
//! `suffixes.txt` has a line for each domain that has rules: the domain, and the labels that are suffixes in
//! front of it. `*` is every label, and `!label` is none though `*` stands beside it. Lines are in the order
//! of their domains, and what is not ASCII is in Punycode, as in URLs. `cargo xtask suffixes --write` makes
//! it of the list that the crate `psl` has.

use std::cmp::Ordering;

static TABLE: &str = include_str!("suffixes.txt");

/// The labels of the longest rule: more labels of a long host are not looked up.
const LABELS_MAX: usize = 7;

/// Returns true if this domain, in lower case, is a public suffix. A domain of one label always is.
pub(super) fn is_public(domain: &str) -> bool {
    let domain = without_dot(domain);
    !domain.is_empty() && suffix(domain) == domain
}

/// Returns the registrable domain of this host: a public suffix and one label. `None` if the host is a
/// suffix.
pub(super) fn site(host: &str) -> Option<&str> {
    let host = without_dot(host);
    let before = host.strip_suffix(suffix(host))?.strip_suffix('.')?;
    Some(&host[before.rfind('.').map_or(0, |dot| dot + 1)..])
}

fn without_dot(domain: &str) -> &str {
    domain.strip_suffix('.').unwrap_or(domain)
}

/// Returns the longest suffix of a domain that has a rule, or its last label.
fn suffix(domain: &str) -> &str {
    let mut suffix = domain.rsplit('.').next().unwrap_or(domain);
    for (dot, _) in domain.rmatch_indices('.').take(LABELS_MAX - 1) {
        let parent = &domain[dot + 1..];
        let start = domain[..dot].rfind('.').map_or(0, |dot| dot + 1);
        match rule(parent, &domain[start..dot]) {
            Some(Rule::Suffix) => suffix = &domain[start..],
            Some(Rule::Exception) => return parent,
            None => {}
        }
    }
    suffix
}

enum Rule {
    Suffix,
    Exception,
}

fn rule(parent: &str, label: &str) -> Option<Rule> {
    // Exceptions stand first in a line, as the byte `!` is before those of labels and `*`.
    labels(parent)?.split(' ').find_map(|rule| match rule.strip_prefix('!') {
        Some(exception) => (exception == label).then_some(Rule::Exception),
        None => (rule == label || rule == "*").then_some(Rule::Suffix),
    })
}

/// The labels in the line of this domain.
fn labels(domain: &str) -> Option<&'static str> {
    // Both lie at the beginning of a line, or at the end.
    let (mut low, mut high) = (0, TABLE.len());
    while low < high {
        let middle = low.midpoint(high);
        let start = TABLE[low..middle].rfind('\n').map_or(low, |at| low + at + 1);
        let end = TABLE[middle..high].find('\n').map_or(high, |at| middle + at);
        let (name, labels) = TABLE[start..end].split_once(' ')?;
        match name.cmp(domain) {
            Ordering::Less => low = end + 1,
            Ordering::Greater => high = start,
            Ordering::Equal => return Some(labels),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The crate forgets that `*` stands for a label that has rules of its own behind it.
    fn psl_errs(host: &str) -> bool {
        let names = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]).chain([host]);
        let pairs = names.filter(|name| labels(name).is_some()).filter_map(|name| name.split_once('.'));
        let beside = pairs.filter_map(|(label, parent)| Some((label, labels(parent)?)));
        beside.into_iter().any(|(label, labels)| {
            let has = |rule| labels.split(' ').any(|other| other == rule);
            has("*") && !has(label)
        })
    }

    fn is_as_in_psl(host: &str) {
        let expected = psl::suffix(host.as_bytes()).expect("a suffix");
        let is_alike = suffix(without_dot(host)).as_bytes() == expected.trim().as_bytes();
        assert!(is_alike || psl_errs(host), "{host}: {} and {expected:?}", suffix(host));
    }

    #[test]
    fn every_rule_is_that_of_the_crate_psl() {
        let mut rules = 0;
        for line in TABLE.lines() {
            let (parent, labels) = line.split_once(' ').expect("a domain and labels");
            for label in labels.split(' ') {
                let label = label.trim_start_matches('!').replace('*', "star");
                for host in ["", "a."].map(|below| format!("{below}{label}.{parent}")) {
                    is_as_in_psl(&host);
                }
                rules += 1;
            }
            is_as_in_psl(parent);
            is_as_in_psl(&format!("none.{parent}"));
        }
        assert!(rules > 8000, "{rules}");
    }

    #[test]
    fn rules_have_no_more_labels_than_are_looked_at() {
        let dots = TABLE.lines().map(|line| line.split(' ').next().unwrap_or(line).matches('.').count());
        assert_eq!(dots.max().unwrap_or(0) + 2, LABELS_MAX);
    }

    #[test]
    fn hosts_that_no_rule_is_for() {
        for host in [
            "internal",
            "a.internal",
            "b.a.internal",
            "com.",
            "a.com.",
            "127.0.0.1",
            "www.ck",
            "a.www.ck",
            "ck",
        ] {
            is_as_in_psl(host);
            assert_eq!(site(host), psl::domain_str(host), "{host}");
        }
        assert!(is_public("r.cloud.int.apple") && is_public("a.ap-north-1.r.cloud.int.apple"));
        assert!(!is_public("") && !is_public("."));
        assert_eq!((site(""), site("com"), site("b.a.co.uk")), (None, None, Some("a.co.uk")));
        let deep = format!("{}com", "a.".repeat(1000));
        assert_eq!(site(&deep), Some("a.com"));
    }
}
