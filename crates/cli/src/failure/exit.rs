//! The exit codes, in one table, and the code of each failure.

use std::{fmt, io, process::ExitCode};

use alula::{
    Cause, Error, Phase, Retry, h1,
    h2::{self, ConnectionError},
};
use rustls::{AlertDescription, CertificateError};

use crate::{
    args::ExitCodes,
    failure::sentence,
    terminal::{self, COLUMNS, columns_of_help, wrapping::wrapped},
};

/// The result of a subcommand.
pub(crate) type Outcome = Result<(), Failure>;

/// An exit code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(crate) enum Exit {
    Whole = 0,
    Local = 1,
    Usage = 2,
    Connect = 3,
    Tls = 4,
    Protocol = 5,
    Timeout = 6,
    CutOff = 7,
    Differs = 8,
    Status = 9,
    Resume = 10,
    TooLarge = 11,
}

/// The exit codes with the meaning that the help prints, and curl's code for the same failure.
const TABLE: [(Exit, &str, u8); 12] = [
    (
        Exit::Whole,
        "the whole response is here, whatever its status: 404 and 500 are answers too, but for -f",
        0,
    ),
    (Exit::Local, "a file, stdin or stdout could not be read or written", 23),
    (Exit::Usage, "the arguments, or a request that must not be sent", 2),
    (Exit::Connect, "the host is unknown, nobody listens, or it cannot be reached", 7),
    (Exit::Tls, "the TLS handshake failed, or the certificate is not trusted", 35),
    (
        Exit::Protocol,
        "the peer broke a rule, reset the request, or does not speak the version asked for (or HPACK)",
        56,
    ),
    (Exit::Timeout, "a deadline passed", 28),
    (Exit::CutOff, "the connection ended before the response was whole", 18),
    (Exit::Differs, "the headers given in a story are not what its wire says", 1),
    (Exit::Status, "with -f: the status is 400 or above, and with --check-status 300 or above", 22),
    (Exit::Resume, "with -C: the server did not send the rest of what is there", 33),
    (Exit::TooLarge, "with --max-filesize: the content is larger", 63),
];

/// Returns the table as the help shows it.
pub(crate) fn table() -> String {
    let columns = columns();
    let rows = TABLE.map(|(exit, meaning, _)| row(exit as u8, meaning, columns));
    format!("Exit codes:\n{}", rows.concat())
}

/// Returns the table with curl's codes beside ours; several of curl's map to one of ours.
pub(crate) fn table_beside_curl() -> String {
    let columns = columns();
    let rows = TABLE.map(|(exit, meaning, curl)| {
        row(exit as u8, &format!("{meaning} (curl: {})", curls(exit, curl)), columns)
    });
    format!("Exit codes:\n{}\n--exit-codes=curl ends the program with those of curl.\n", rows.concat())
}

/// Returns curl's codes for one of ours, as far as a request can end with them.
fn curls(exit: Exit, usual: u8) -> String {
    match exit {
        Exit::Local => "23, 26, 58, 77".to_owned(),
        Exit::Usage => "1, 2, 3".to_owned(),
        Exit::Connect => "5, 6, 7, 97".to_owned(),
        Exit::Tls => "35, 60".to_owned(),
        Exit::Protocol => "1, 8, 16, 47, 56, 61, 92".to_owned(),
        Exit::CutOff => "18, 52, 55, 56".to_owned(),
        _ => usual.to_string(),
    }
}

fn columns() -> usize {
    columns_of_help().min(COLUMNS)
}

/// Formats a code and its meaning, on as many lines as necessary.
fn row(code: u8, meaning: &str, columns: usize) -> String {
    wrapped(&format!("  {code:>2}  {meaning}\n"), columns, "      ")
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A failure: its exit code, and a sentence for stderr unless it is quiet.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    /// The exit code of curl.
    curl: u8,
    /// The exit code of HTTPie.
    httpie: u8,
    whose: ExitCodes,
    /// OpenSSL's number for the fault of the server's certificate.
    verify_result: u16,
    /// The advice on trying again.
    retry: Retry,
    /// The failure is that of the proxy, or of the connection to it.
    is_of_proxy: bool,
    sentence: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, sentence: impl fmt::Display) -> Self {
        let curl = TABLE[usize::from(exit as u8)].2;
        let httpie = match exit {
            Exit::Whole => 0,
            Exit::Timeout => 2,
            _ => 1,
        };
        Self {
            exit,
            curl,
            httpie,
            whose: ExitCodes::Alula,
            verify_result: 0,
            retry: Retry::Pointless,
            is_of_proxy: false,
            sentence: Some(sentence.to_string()),
        }
    }

    /// Creates the failure to read or write `what`. A reader of ours that has gone is not worth a word.
    pub(crate) fn local(what: impl fmt::Display, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(Exit::Local, "").quiet();
        }
        let error = match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(error.kind(), error.to_string()),
        };
        // In the words that the library has for it.
        Self::new(Exit::Local, Error::io(Phase::Build, error).about(what.to_string()))
    }

    /// Sets the exit code of curl.
    pub(crate) fn curl(self, curl: u8) -> Self {
        Self { curl, ..self }
    }

    /// Creates the failure of a status of 300 or above.
    pub(crate) fn of_status(status: u16, sentence: impl fmt::Display) -> Self {
        let httpie = u8::try_from(status / 100).unwrap_or(1);
        Self { httpie, ..Self::new(Exit::Status, sentence) }
    }

    /// Creates the failure to read `what` for sending, for which curl has a code.
    pub(crate) fn unread(what: impl fmt::Display, error: &io::Error) -> Self {
        Self::local(what, error).curl(26)
    }

    /// Sets both other exit codes.
    pub(crate) fn with(self, whose: ExitCodes) -> Self {
        Self { whose, ..self }
    }

    /// Removes the sentence.
    pub(crate) fn quiet(self) -> Self {
        Self { sentence: None, ..self }
    }

    /// Removes the sentence for -s; errors in the arguments keep theirs.
    pub(crate) fn hushed(self) -> Self {
        if self.exit == Exit::Usage { self } else { self.quiet() }
    }

    /// Prints the sentence now.
    pub(crate) fn said(self) -> Self {
        if let Some(sentence) = &self.sentence {
            terminal::tell(anstyle::Style::new(), format!("alula: {sentence}").as_bytes());
        }
        self.quiet()
    }

    /// Prints the sentence and returns the code.
    pub(crate) fn report(self) -> ExitCode {
        self.said().code().into()
    }

    pub(crate) fn code(&self) -> u8 {
        match self.whose {
            ExitCodes::Alula => self.exit as u8,
            ExitCodes::Curl => self.curl,
            ExitCodes::Httpie => self.httpie,
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Returns the advice on trying again.
    pub(crate) fn retry(&self) -> Retry {
        self.retry
    }

    /// Returns true if the proxy failed, or the connection to it.
    pub(crate) fn is_of_proxy(&self) -> bool {
        self.is_of_proxy
    }

    /// Returns OpenSSL's number for the fault of the server's certificate; 0 if there is none, or none with a
    /// number.
    pub(crate) fn verify_result(&self) -> u16 {
        self.verify_result
    }

    /// Returns the sentence to print; empty if there is none.
    pub(crate) fn sentence(&self) -> &str {
        self.sentence.as_deref().unwrap_or_default()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let error = if is_refused_by_alpn(&error) {
            Error::new(error.phase(), Cause::Protocol, error.retry())
        } else {
            error
        };
        let failure = Self::new(exit_of(&error), format_args!("{}{}", sentence::of(&error), advice(&error)));
        let curl = finer(&error).unwrap_or(failure.curl);
        let httpie = if matches!(error.cause(), Cause::Redirect(..)) { 6 } else { failure.httpie };
        // Content that has begun to come is not asked for again.
        let retry = if error.phase() == Phase::Content { Retry::Pointless } else { error.retry() };
        let is_of_proxy = error.phase() == Phase::Proxy;
        Self { curl, httpie, verify_result: verify_result(&error), retry, is_of_proxy, ..failure }
    }
}

/// Returns a hint for the user of a command.
fn advice(error: &Error) -> &'static str {
    if is_without_roots(error) {
        return " (use --cacert FILE to trust a CA)";
    }
    if is_of_unknown_issuer(error) {
        return " (use --cacert FILE to trust its CA)";
    }
    if asks_for_certificate(error) {
        return " (use --cert FILE)";
    }
    if matches!(error.cause(), Cause::PinMismatch) {
        return " (by --pinnedpubkey)";
    }
    if let Some(next) = next_step(error) {
        return next;
    }
    let is_doubtful = is_doubtful(error);
    match error.retry() {
        Retry::Safe if is_doubtful => "; it was not carried out, and sending it again is safe",
        Retry::IfIdempotent if is_doubtful && error.phase() != Phase::Build => {
            "; it may have been carried out"
        }
        _ => "",
    }
}

/// Returns true if there is no trusted root at all, for which the library has no cause of its own.
fn is_without_roots(error: &Error) -> bool {
    matches!(error.cause(), Cause::Usage(rule) if rule.contains("no root to trust"))
}

/// Returns true if the user has to know whether the request was carried out: a GET can simply be sent again.
fn is_doubtful(error: &Error) -> bool {
    error.asked().is_some_and(|asked| matches!(asked.method(), "POST" | "PATCH" | "CONNECT"))
}

/// Returns the flag that avoids the failure, or the thing to check.
fn next_step(error: &Error) -> Option<&'static str> {
    match (error.phase(), error.cause()) {
        // A socket of Unix has neither a port nor addresses that are tried.
        (Phase::Connect, Cause::Io(io::ErrorKind::ConnectionRefused, _))
            if !is_doubtful(error) && !error.tried().is_empty() =>
        {
            Some(" (nothing listens on that port)")
        }
        (Phase::Handshake, Cause::Tls(error)) if matches!(**error, rustls::Error::InvalidMessage(_)) => {
            Some(" (http:// goes without TLS)")
        }
        (Phase::Resolve, Cause::Io(..)) => Some(" (check the spelling of the host, and the network)"),
        (_, Cause::Redirect(why)) if why.contains("than may be followed") => {
            Some(" (--max-redirs COUNT follows more)")
        }
        (_, Cause::Connection(ConnectionError::Peer(h2::Violation::SETTINGS_NOT_FIRST))) => {
            Some(" (without --http2-prior-knowledge HTTP/1.1 is spoken)")
        }
        _ => None,
    }
}

fn is_of_unknown_issuer(error: &Error) -> bool {
    let Cause::Tls(error) = error.cause() else { return false };
    matches!(**error, rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer))
}

fn asks_for_certificate(error: &Error) -> bool {
    let Cause::Tls(error) = error.cause() else { return false };
    matches!(**error, rustls::Error::AlertReceived(AlertDescription::CertificateRequired))
}

/// Returns the result of verification by OpenSSL's number (`X509_V_ERR_…`). That the name is another one it
/// does not count.
fn verify_result(error: &Error) -> u16 {
    let error = match error.cause() {
        Cause::Tls(error) => error,
        Cause::Revoked => return 23,
        _ => return 0,
    };
    let rustls::Error::InvalidCertificate(error) = &**error else { return 0 };
    match error {
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => 9,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => 10,
        CertificateError::UnknownIssuer => 20,
        CertificateError::BadSignature => 7,
        CertificateError::UnknownRevocationStatus => 3,
        CertificateError::ExpiredRevocationList | CertificateError::ExpiredRevocationListContext { .. } => 12,
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => 26,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => 0,
        _ => 1,
    }
}

/// Returns true if the server refuses all offered protocols by an alert (RFC 7301 §3.2): a server that
/// chooses none ends as [`Cause::Protocol`].
fn is_refused_by_alpn(error: &Error) -> bool {
    let Cause::Tls(error) = error.cause() else { return false };
    matches!(**error, rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol))
}

fn exit_of(error: &Error) -> Exit {
    match (error.phase(), error.cause()) {
        (_, Cause::Timeout | Cause::Connection(ConnectionError::TimedOut(_))) => Exit::Timeout,
        (_, Cause::Tls(_) | Cause::Revoked | Cause::PinMismatch) => Exit::Tls,
        (_, Cause::Protocol) => Exit::Protocol,
        // The content to send could not be read.
        (Phase::Build, Cause::Io(..)) | (Phase::Send, Cause::Usage(_)) => Exit::Local,
        (Phase::Build, _) => Exit::Usage,
        (Phase::Queue | Phase::Resolve | Phase::Connect | Phase::Proxy, _) => Exit::Connect,
        (Phase::Handshake, _) => Exit::Tls,
        (_, Cause::Closed | Cause::Unanswered | Cause::Io(..)) => Exit::CutOff,
        (_, Cause::Http1(error)) => exit_of_http1(*error),
        _ => Exit::Protocol,
    }
}

/// Returns curl's code where curl distinguishes failures that share one of our codes.
fn finer(error: &Error) -> Option<u8> {
    match (error.phase(), error.cause()) {
        (_, Cause::Timeout) => None,
        (Phase::Resolve, _) => Some(6),
        (_, Cause::Url(why)) => Some(if why.contains("its scheme is") { 1 } else { 3 }),
        (Phase::Connect, Cause::Io(io::ErrorKind::AddrNotAvailable | io::ErrorKind::AddrInUse, _)) => {
            Some(45)
        }
        (Phase::Proxy, cause) => Some(of_proxy(cause)),
        (_, Cause::PinMismatch) => Some(90),
        (_, Cause::Usage(_)) if is_without_roots(error) => Some(60),
        (_, Cause::Revoked) => Some(60),
        (_, Cause::Tls(error)) if is_about_certificate(error) => Some(60),
        (_, Cause::Unanswered | Cause::Http1(h1::ConnectionError::Unanswered { .. })) => Some(52),
        (_, Cause::Http1(h1::ConnectionError::Peer(violation))) => of_http1(*violation),
        (_, Cause::Redirect(why)) => Some(if why.contains("neither to http") { 1 } else { 47 }),
        (_, Cause::Reset(_)) => Some(92),
        (_, Cause::GoAway(_) | Cause::Connection(_)) => Some(16),
        (_, Cause::Coding(_)) => Some(61),
        (Phase::Send, Cause::Io(..)) => Some(55),
        (Phase::Head | Phase::Content, Cause::Io(..)) => Some(56),
        _ => None,
    }
}

/// Returns curl's code for a proxy that refused.
fn of_proxy(cause: &Cause) -> u8 {
    match cause {
        // Only the few bytes of SOCKS are waited for by their number.
        Cause::Socks(_) | Cause::Io(io::ErrorKind::UnexpectedEof, _) => 97,
        Cause::Io(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe, _) => 56,
        // A lookup that fails has no number of the system.
        Cause::Io(_, None) => 5,
        Cause::Io(..) => 7,
        _ => 56,
    }
}

/// Returns curl's code for some rules of HTTP/1.1.
fn of_http1(violation: h1::Violation) -> Option<u8> {
    match violation {
        // To curl it is HTTP/0.9, which is not taken.
        h1::Violation::STATUS_LINE
        | h1::Violation::STATUS_INVALID
        | h1::Violation::VERSION_INVALID
        | h1::Violation::VERSION_UNSUPPORTED => Some(1),
        h1::Violation::LENGTH_INVALID => Some(8),
        _ => None,
    }
}

fn is_about_certificate(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(_) | rustls::Error::InvalidCertRevocationList(_))
}

fn exit_of_http1(error: h1::ConnectionError) -> Exit {
    match error {
        h1::ConnectionError::Peer(
            h1::Violation::CUT_HEAD | h1::Violation::CUT_CONTENT | h1::Violation::TRUNCATED,
        )
        | h1::ConnectionError::Unanswered { .. }
        | h1::ConnectionError::PeerClosed => Exit::CutOff,
        h1::ConnectionError::TimedOut(_) => Exit::Timeout,
        _ => Exit::Protocol,
    }
}

#[cfg(test)]
mod tests {
    use alula::{Retry, h2::ErrorCode};

    use super::*;

    #[test]
    fn each_code_has_one_row_in_order() {
        let codes = TABLE.map(|(exit, ..)| exit as u8);
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert!(table().contains("   7  the connection ended before"));
    }

    #[test]
    fn failures_have_the_code_of_their_phase_and_cause() {
        let io = || Cause::Io(io::ErrorKind::ConnectionReset, None);
        for (phase, cause, exit) in [
            (Phase::Build, Cause::Usage("a rule"), Exit::Usage),
            (Phase::Build, io(), Exit::Local),
            (Phase::Send, Cause::Usage("it is shorter"), Exit::Local),
            (Phase::Connect, io(), Exit::Connect),
            (Phase::Connect, Cause::Timeout, Exit::Timeout),
            (Phase::Handshake, io(), Exit::Tls),
            (Phase::Handshake, Cause::Protocol, Exit::Protocol),
            (Phase::Head, Cause::Reset(ErrorCode::CANCEL), Exit::Protocol),
            (Phase::Head, Cause::GoAway(ErrorCode::NO_ERROR), Exit::Protocol),
            (Phase::Content, Cause::Closed, Exit::CutOff),
            (Phase::Content, io(), Exit::CutOff),
            (Phase::Content, Cause::Timeout, Exit::Timeout),
        ] {
            let error = Error::new(phase, cause, Retry::Pointless);
            assert_eq!(exit_of(&error), exit, "{error}");
        }
    }

    #[test]
    fn curl_has_codes_of_its_own_for_some() {
        let io = || Cause::Io(io::ErrorKind::NotFound, None);
        for (phase, cause, code) in [
            (Phase::Resolve, io(), 6),
            (Phase::Proxy, io(), 5),
            (Phase::Proxy, Cause::Io(io::ErrorKind::ConnectionRefused, Some(111)), 7),
            (Phase::Head, Cause::Http1(h1::ConnectionError::Peer(h1::Violation::STATUS_LINE)), 1),
            (Phase::Proxy, Cause::Socks("a rule"), 97),
            (Phase::Proxy, Cause::Closed, 56),
            (Phase::Send, io(), 55),
            (Phase::Content, io(), 56),
            (Phase::Content, Cause::Coding("a rule"), 61),
            (Phase::Head, Cause::Http1(h1::ConnectionError::Peer(h1::Violation::LENGTH_INVALID)), 8),
            (Phase::Head, Cause::Redirect("it leads neither to http nor to https"), 1),
            (Phase::Connect, io(), 7),
            (Phase::Resolve, Cause::Timeout, 28),
            (Phase::Handshake, io(), 35),
            (Phase::Head, Cause::Reset(ErrorCode::CANCEL), 92),
            (Phase::Head, Cause::GoAway(ErrorCode::NO_ERROR), 16),
        ] {
            let failure = Failure::from(Error::new(phase, cause, Retry::Pointless)).with(ExitCodes::Curl);
            assert_eq!(failure.code(), code, "{failure:?}");
        }
    }

    #[test]
    fn a_reader_that_has_gone_is_no_news() {
        let failure = Failure::local("stdout", &io::ErrorKind::BrokenPipe.into());
        assert!(failure.sentence.is_none() && failure.exit == Exit::Local);
    }
}
