//! The list of the pages of `alula help TOPIC`, which the help and one of the pages share.

/// The names of the pages, and a line about each.
pub(crate) const TOPICS: [(&str, &str); 4] = [
    ("items", "what can stand behind the URL: fields, query, content"),
    ("exit-codes", "how the program ends, and the codes of curl for the same"),
    ("write-out", "what -w can print"),
    ("environment", "the variables that the program reads"),
];

/// Returns a line for each page.
pub(crate) fn list() -> String {
    let lines = TOPICS.map(|(name, about)| format!("  {name:<12} {about}\n"));
    format!("Topics, by `alula help TOPIC`:\n{}", lines.concat())
}

pub(crate) const ENVIRONMENT: &str = "\
Environment:
  NO_COLOR                             no colours unless --color=always
  COLORFGBG                            the background that --style=auto is for
  http_proxy, https_proxy, all_proxy   proxies for a scheme, and for all
  no_proxy                             hosts to which no proxy leads
  SSLKEYLOGFILE                        a file for the secrets of TLS, for tools
                                       that record traffic";
