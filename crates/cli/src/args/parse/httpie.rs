//! Flags that people know from HTTPie, converted to the other flags.

use std::{path::PathBuf, time::Duration};

use clap::{ArgAction, Args as ClapArgs, ValueEnum};

use crate::args::{
    fetch::request::Options,
    values::{
        From, credentials,
        durations::{Limit, seconds_or_none},
    },
};

#[derive(ClapArgs, Debug, Default)]
#[command(next_help_heading = "Known from HTTPie")]
pub(crate) struct HttpieArgs {
    /// Send name and password, or the token of --auth-type=bearer.
    ///
    /// Without a colon the password is asked for, if stdin is a terminal.
    #[arg(short = 'a', long, value_name = "NAME:PASSWORD|TOKEN", conflicts_with_all = ["user", "bearer"], hide_short_help = true)]
    auth: Option<String>,

    /// Send what --auth gives by this scheme; it is basic unless given.
    #[arg(long, value_name = "SCHEME", requires = "auth", hide_short_help = true)]
    auth_type: Option<AuthType>,

    /// Keep the content in a file named by the response or the URL, and follow redirects.
    ///
    /// -o FILE names it otherwise. A file that is there is left alone: the new one has a number at the end of
    /// its name.
    #[arg(long, conflicts_with_all = ["remote_name", "remote_header_name"], hide_short_help = true)]
    download: bool,

    /// Go on with the file of --download -o FILE where it ends, as -C - does.
    #[arg(long = "continue", requires_all = ["download", "output"], conflicts_with = "continue_at", hide_short_help = true)]
    continues: bool,

    /// Print the content of the response only, as -p b does.
    #[arg(long, overrides_with_all = ["headers", "meta"], hide_short_help = true)]
    body: bool,

    /// Print the head of the response only, as -p h does.
    #[arg(long, overrides_with = "meta", hide_short_help = true)]
    headers: bool,

    /// Print facts about the response only, as -p m does.
    #[arg(long, hide_short_help = true)]
    meta: bool,

    /// Print the heads of redirects that are followed, too.
    #[arg(long, hide_short_help = true)]
    pub(crate) all: bool,

    /// Fail when the status is 300 or above, and do write the content.
    ///
    /// A redirect that is followed is no failure.
    #[arg(long, conflicts_with_all = ["fail", "fail_with_body"], hide_short_help = true)]
    pub(crate) check_status: bool,

    /// Check certificates, or not (no), or trust those in this PEM file too.
    #[arg(long, value_name = "yes|no|FILE", conflicts_with_all = ["insecure", "cacert"], hide_short_help = true)]
    verify: Option<String>,

    /// Speak this version of TLS.
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["tls13", "tls_max"], hide_short_help = true)]
    ssl: Option<TlsVersion>,

    /// Give up when connecting, the head of the response, or a pause in the content takes longer; 0 is no
    /// limit.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_or_none, hide_short_help = true)]
    timeout: Option<Limit>,

    /// Read nothing from stdin; this is what is done unless `-` names it.
    #[arg(long, hide = true)]
    ignore_stdin: bool,

    /// Print nothing of the response; twice, no errors either.
    #[arg(long, action = ArgAction::Count, hide_short_help = true)]
    quiet: u8,

    /// Print the request that would be sent, and send nothing.
    ///
    /// It is printed as HTTP/1.1 has it, with its content: to a pipe or a file byte by byte, on a terminal
    /// for the eye. It is held in memory.
    #[arg(long, conflicts_with = "print_curl", hide_short_help = true)]
    pub(crate) offline: bool,

    /// Keep fields, credentials and cookies in a session, and send those that it has.
    ///
    /// A name stands for a file of this host in the folder alula/sessions of the user's configuration; with a
    /// slash it is the path of a file. The file is JSON as HTTPie writes it, for its owner alone. Fields that
    /// begin with `content-` or `if-` are not kept.
    #[arg(long, value_name = "NAME|PATH", value_parser = session, hide_short_help = true)]
    pub(crate) session: Option<String>,

    /// As --session, but leave the file as it is; it is made if it is not there.
    #[arg(long, value_name = "NAME|PATH", value_parser = session, conflicts_with = "session", hide_short_help = true)]
    pub(crate) session_read_only: Option<String>,

    /// Take this scheme for URLs without one; it is http unless given.
    #[arg(long, alias = "proto-default", value_name = "SCHEME", hide_short_help = true)]
    pub(crate) default_scheme: Option<Scheme>,
}

/// The scheme of --auth.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum AuthType {
    /// Name and password (RFC 7617).
    Basic,
    /// A token (RFC 6750).
    Bearer,
    /// Name and password as a digest (RFC 7616), once the server asks for one.
    Digest,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum TlsVersion {
    /// TLS 1.2 or later, as without the flag.
    #[value(name = "ssl2.3", alias = "auto")]
    Any,
    /// TLS 1.2 only.
    #[value(name = "tls1.2")]
    Tls12,
    /// TLS 1.3 only.
    #[value(name = "tls1.3")]
    Tls13,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Scheme {
    /// Clear text.
    Http,
    /// TLS.
    Https,
}

impl HttpieArgs {
    /// Returns the limit of each wait.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout.and_then(|limit| limit.0)
    }

    /// Returns true if opening a connection may take any time.
    pub(crate) fn waits_without_bound(&self) -> bool {
        self.timeout == Some(Limit(None))
    }
}

/// Sets the flags that HTTPie's flags stand for.
///
/// # Errors
/// The credentials have no password, and nobody can be asked for it.
pub(in crate::args) fn adopt(options: &mut Options) -> Result<(), String> {
    adopt_credentials(options)?;
    adopt_connection(options);
    adopt_output(options);
    Ok(())
}

fn adopt_credentials(options: &mut Options) -> Result<(), String> {
    let Some(auth) = options.httpie.auth.take() else { return Ok(()) };
    match options.httpie.auth_type {
        Some(AuthType::Bearer) => options.request.bearer = Some(auth),
        Some(AuthType::Basic | AuthType::Digest) | None => {
            options.request.digest |= options.httpie.auth_type == Some(AuthType::Digest);
            options.request.user = Some(credentials(&auth).map_err(|why| format!("--auth: {why}"))?);
        }
    }
    Ok(())
}

fn adopt_connection(options: &mut Options) {
    let Options { httpie, connection, .. } = options;
    connection.location |= httpie.download;
    connection.tls13 |= httpie.ssl == Some(TlsVersion::Tls13);
    if httpie.ssl == Some(TlsVersion::Tls12) {
        connection.tls_max = Some("1.2".to_owned());
    }
    match httpie.verify.as_deref().map(str::to_ascii_lowercase).as_deref() {
        None | Some("yes" | "true") => {}
        Some("no" | "false") => connection.insecure = true,
        Some(_) => connection.cacert = httpie.verify.as_ref().map(PathBuf::from),
    }
}

fn adopt_output(options: &mut Options) {
    let Options { httpie, output, .. } = options;
    let parts = match (httpie.body, httpie.headers, httpie.meta) {
        (true, ..) => Some("b"),
        (_, true, _) => Some("h"),
        (.., true) => Some("m"),
        _ if httpie.quiet > 0 && output.print.is_none() => {
            Some(if output.output.is_empty() { "" } else { "b" })
        }
        _ => None,
    };
    if let Some(parts) = parts {
        output.print = Some(parts.to_owned());
    }
    output.is_download = httpie.download;
    output.no_progress_meter |= httpie.quiet > 0;
    output.silent |= httpie.quiet > 1;
    if httpie.continues {
        output.continue_at = Some(From::EndOfFile);
    }
}

/// Parses a session: a name of letters, digits and `_.-`, or a path with a slash in it.
fn session(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    match text.contains(std::path::is_separator) || !text.is_empty() && text.bytes().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("a name of letters, digits, `_`, `.` and `-`, or a path with a slash".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};

    fn options(flags: &[&str]) -> Options {
        match Args::tried(&[&["get", "a"], flags].concat()).unwrap().command {
            Command::Get(args) => args.options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_of_httpie_stand_for_others() {
        assert_eq!(options(&["-a", "n:p"]).request.user, Some(("n".to_owned(), "p".to_owned())));
        let bearer = options(&["--auth-type", "bearer", "--auth", "t:1"]).request;
        assert_eq!((bearer.user, bearer.bearer.as_deref()), (None, Some("t:1")));
        assert!(options(&["--verify", "no"]).connection.insecure);
        assert!(!options(&["--verify=yes"]).connection.insecure);
        assert_eq!(options(&["--verify", "a.pem"]).connection.cacert, Some(PathBuf::from("a.pem")));
        assert!(options(&["--ssl=tls1.3"]).connection.tls13 && !options(&["--ssl=auto"]).connection.tls13);
        assert_eq!(options(&["--ssl=tls1.2"]).connection.tls_max.as_deref(), Some("1.2"));
        let timeout = |text| options(&["--timeout", text]).httpie;
        assert_eq!(timeout("0.5").timeout(), Some(Duration::from_millis(500)));
        assert!(timeout("0").timeout().is_none() && timeout("0").waits_without_bound());
        for (flags, parts) in [
            (&["--body"][..], Some("b")),
            (&["--headers"], Some("h")),
            (&["--meta"], Some("m")),
            (&["--body", "--headers"], Some("h")),
            (&["--quiet"], Some("")),
            (&["--quiet", "-o", "x"], Some("b")),
            (&["--quiet", "-p", "h"], Some("h")),
            (&[], None),
        ] {
            assert_eq!(options(flags).output.print.as_deref(), parts, "{flags:?}");
        }
        assert!(!options(&["--quiet"]).output.silent && options(&["--quiet", "--quiet"]).output.silent);
        let download = options(&["--download", "--continue", "-o", "x"]);
        assert!(download.connection.location && download.output.continue_at == Some(From::EndOfFile));
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for flags in [
            &["-a", "n"][..],
            &["-a", "n:p", "-u", "n:p"],
            &["--auth-type", "bearer"],
            &["--auth-type", "ntlm", "-a", "n:p"],
            &["--continue"],
            &["--download", "-O"],
            &["--verify", "no", "-k"],
            &["--timeout", "-1"],
            &["--ssl", "tls1.1"],
            &["--ssl", "tls1.2", "--tls-max", "1.3"],
            &["--session", "a b"],
            &["--session", "a", "--session-read-only", "a"],
            &["--default-scheme", "ftp"],
        ] {
            assert!(Args::tried(&[&["get", "a"], flags].concat()).is_err(), "{flags:?}");
        }
    }
}
