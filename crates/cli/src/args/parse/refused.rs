//! Errors for refused arguments, without the secrets that may be in them.

use std::process;

use alula::masked_url;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::terminal;

/// Flags of other clients that do not exist here, with the equivalent.
const ELSEWHERE: [(&str, &str); 52] = [
    // Those of wget.
    ("--no-check-certificate", "-k does so"),
    ("--output-document", "-o FILE does so"),
    ("--post-data", "-d TEXT does so"),
    ("--post-file", "-d @FILE does so"),
    ("--tries", "--retry COUNT does so"),
    ("--spider", "-I asks for the head only"),
    ("--password", "-u NAME:PASSWORD does so"),
    ("--method", "-X METHOD does so"),
    // Those of curl.
    ("--ntlm", "who asks is told by -u (Basic, or a digest with --digest) or --bearer"),
    ("--negotiate", "who asks is told by -u (Basic, or a digest with --digest) or --bearer"),
    ("--aws-sigv4", "who asks is told by -u (Basic, or a digest with --digest) or --bearer"),
    ("--socks4", "-x takes http, https, socks5 and socks5h"),
    ("--preproxy", "-x takes one proxy"),
    ("-0", "HTTP/1.1 and HTTP/2 are spoken"),
    ("--http1.0", "HTTP/1.1 and HTTP/2 are spoken"),
    ("--http3", "HTTP/1.1 and HTTP/2 are spoken"),
    ("--http3-only", "HTTP/1.1 and HTTP/2 are spoken"),
    ("--http0.9", "HTTP/1.1 and HTTP/2 are spoken"),
    ("--doh-url", "the system's resolver is asked; --resolve HOST:PORT:ADDRESS says an address"),
    ("--dns-servers", "the system's resolver is asked; --resolve HOST:PORT:ADDRESS says an address"),
    ("--alt-svc", "other services of a host are not used; --connect-to leads to one"),
    ("--hsts", "https:// in the URL, or --default-scheme=https, does so"),
    ("--cert-status", "--crlfile FILE names certificates that are revoked"),
    ("--xattr", "-w '%{json}' says what is known of a file"),
    ("--tr-encoding", "--compressed asks for compressed content"),
    ("--rate", "requests follow each other at once; --limit-rate bounds bytes"),
    ("--tcp-fastopen", "connections are opened without it"),
    ("--no-sessionid", "sessions of TLS are resumed within one run only"),
    ("--expect100-timeout", "content waits a second to be asked for, as with curl without the flag"),
    ("--haproxy-protocol", "nothing is said in front of a request"),
    ("--styled-output", "--color says when colours are used"),
    ("--proxy-digest", "proxies are asked by the scheme Basic: -U NAME:PASSWORD"),
    ("--proxy-anyauth", "proxies are asked by the scheme Basic: -U NAME:PASSWORD"),
    ("--no-alpn", "--http1.1 offers nothing else"),
    ("--ignore-content-length", "content ends where the server says"),
    ("--abstract-unix-socket", "--unix-socket PATH leads to one that has a path"),
    ("--proxy-cacert", "--cacert FILE is for proxies, too"),
    ("--proxy-capath", "--capath DIR is for proxies, too"),
    ("--proxy-insecure", "-k is for proxies, too"),
    ("--proxy-cert", "--cert FILE is for proxies, too"),
    ("--proxy-key", "--key FILE is for proxies, too"),
    ("--proxy-ciphers", "--ciphers is for proxies, too"),
    ("--proxy-tls13-ciphers", "--tls13-ciphers is for proxies, too"),
    ("--proxy-pinnedpubkey", "--pinnedpubkey is for proxies, too"),
    ("--proxy-tlsv1", "--tls-max and --tlsv1.3 are for proxies, too"),
    ("--crlf", "files are sent as they are"),
    ("--libcurl", "--print-curl prints the request as a line for curl"),
    ("--manual", "`alula help get` has all flags, and `alula man get` is a page of the manual"),
    ("-M", "`alula help get` has all flags, and `alula man get` is a page of the manual"),
    ("--variable", "variables are those of the shell"),
    ("--data-urlencoded", "it is --data-urlencode"),
    ("--proxytunnel", "https:// goes through proxies in a tunnel, http:// does not"),
];

const FOLDER: &str = "the folder is named without a flag: alula serve DIR";
const ADDRESS: &str = "--listen HOST:PORT does so";
const TLS: &str = "--self-signed, or --cert PEM and --key PEM, serve TLS as well";
/// The advice for flags of versions, whose meaning for requests is different.
const VERSIONS: &str = "both versions are spoken without it; --http2-only speaks no other";
const CACHING: &str = "--header 'cache-control: max-age=SECONDS' does so";

/// Flags of other servers that do not exist here, with the equivalent.
const OF_SERVERS: [(&str, &str); 20] = [
    ("-d", FOLDER),
    ("--dir", FOLDER),
    ("--directory", FOLDER),
    ("--root", FOLDER),
    ("-a", ADDRESS),
    ("--address", ADDRESS),
    ("-b", ADDRESS),
    ("--bind", ADDRESS),
    ("--host", ADDRESS),
    ("-S", TLS),
    ("--ssl", TLS),
    ("--ssl-cert", TLS),
    ("--tls", TLS),
    ("-c", CACHING),
    ("--cache", CACHING),
    ("--browse", "folders are listed unless by --no-listing"),
    ("-v", "--log shows each request"),
    ("--verbose", "--log shows each request"),
    ("--http2", VERSIONS),
    ("--http1", "--http1.1 speaks no other version"),
];

/// Flags that `alula store` no longer has, or that another program has.
const OF_STORE: [(&str, &str); 1] = [("--http2", VERSIONS)];

/// Ends the program with an error as [`told`] shows it; help goes to stdout, and is wrapped already.
pub(in crate::args) fn exit(error: Error) -> ! {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        error.exit();
    }
    terminal::tell_styled(&error.render().ansi().to_string());
    process::exit(error.exit_code())
}

/// Returns the same error as it is shown.
pub(in crate::args) fn told(error: Error) -> Error {
    match error.kind() {
        ErrorKind::UnknownArgument => advised(error),
        ErrorKind::InvalidSubcommand => with_a_host(error),
        _ => masked(error),
    }
}

/// Adds the equivalent of a flag of another program. That a flag could be meant as a value is no help.
fn advised(mut error: Error) -> Error {
    error.remove(ContextKind::Suggested);
    let flag = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) => flag.split('=').next().unwrap_or_default().to_owned(),
        _ => return error,
    };
    let advice = match is_of(&error, &["alula serve", "alula echo"]) {
        true => advice_of_server(&flag),
        false if is_of(&error, &["alula store"]) => find(&OF_STORE, &flag).map(str::to_owned),
        false => find(&ELSEWHERE, &flag).map(str::to_owned),
    };
    if let Some(advice) = advice {
        error.remove(ContextKind::SuggestedArg);
        // It would show the flag that is spelled alike.
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
    }
    error
}

/// Adds the command that requests a host, since most unknown commands are meant as one.
fn with_a_host(mut error: Error) -> Error {
    if let (Some(ContextValue::String(word)), None) =
        (error.get(ContextKind::InvalidSubcommand), error.get(ContextKind::SuggestedSubcommand))
    {
        let advice = format!("`alula get {word}` asks a host of this name; `alula help` lists the commands");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
    }
    error
}

fn find(table: &[(&str, &'static str)], flag: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == flag).map(|(_, advice)| *advice)
}

/// Returns true if the command is one of these.
fn is_of(error: &Error, commands: &[&str]) -> bool {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    commands.iter().any(|command| usage.contains(command))
}

fn advice_of_server(flag: &str) -> Option<String> {
    if flag.parse::<u16>().is_ok() {
        return Some(format!("--listen {flag} does so, if it is a port"));
    }
    match flag.starts_with('-') {
        true => find(&OF_SERVERS, flag).map(str::to_owned),
        false => Some("values of --access-log, --metrics, --cors and --health stand behind `=`".to_owned()),
    }
}

/// Returns the same error without secrets. A value that was refused is shown as far as it holds no secret: of
/// a field its name, of a URL what is no credential, and nothing of what is a name and a password.
fn masked(mut error: Error) -> Error {
    if error.kind() != ErrorKind::ValueValidation {
        return error;
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let shown = shown(&text(ContextKind::InvalidArg), &text(ContextKind::InvalidValue));
    error.insert(ContextKind::InvalidValue, ContextValue::String(shown));
    error
}

fn shown(argument: &str, value: &str) -> String {
    if argument.contains("<FIELD>") && !value.starts_with('@') {
        // All of it may be a secret where no name is told from it.
        let Some((name, _)) = value.split_once([':', ';']) else { return "…".to_owned() };
        return format!("{}: …", name.escape_debug());
    }
    if argument.contains("PASSWORD") {
        return "…".to_owned();
    }
    if value.contains("//") || value.contains('@') { masked_url(value) } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::Parser as _;

    fn said(arguments: &[&str]) -> String {
        let all = ["alula", "get"].iter().chain(arguments).copied();
        masked(Args::try_parse_from(all).unwrap_err()).to_string()
    }

    #[test]
    fn secrets_in_arguments_are_not_shown() {
        let field = said(&["http://a", "-H", "Authorization: Bearer s3cret\r\n"]);
        assert!(field.contains("'Authorization: …'") && !field.contains("s3cret"), "{field}");
        let user = said(&["http://a", "-u", "s3cret"]);
        assert!(!user.contains("s3cret") && user.contains("NAME:PASSWORD"), "{user}");
    }

    #[test]
    fn flags_of_curl_that_are_none_lead_to_what_does_the_same() {
        let told =
            |flag: &str| told(Args::try_parse_from(["alula", "get", "a", flag]).unwrap_err()).to_string();
        for (flag, advice) in ELSEWHERE {
            let text = told(flag);
            assert!(text.contains(advice) && !text.contains("similar"), "{flag}: {text}");
        }
        for (flag, advice) in OF_SERVERS {
            // A server of files has a flag of this name, which takes no address.
            let arguments = match flag {
                "--host" => ["alula", "echo", flag].to_vec(),
                _ => ["alula", "serve", "a", flag].to_vec(),
            };
            let text = super::told(Args::try_parse_from(arguments).unwrap_err()).to_string();
            assert!(text.contains(advice) && !text.contains("similar"), "{flag}: {text}");
        }
        let store = super::told(Args::try_parse_from(["alula", "store", "--http2"]).unwrap_err()).to_string();
        assert!(store.contains("--http2-only speaks no other"), "{store}");
        for (word, advice) in [("8080", "--listen 8080"), ("access.log", "stand behind `=`")] {
            let text =
                super::told(Args::try_parse_from(["alula", "serve", "a", word]).unwrap_err()).to_string();
            assert!(text.contains(advice), "{word}: {text}");
        }
        assert!(told("--locatoin").contains("'--location'"), "{}", told("--locatoin"));
        assert!(!told("-Q").contains("as a value"), "{}", told("-Q"));
        assert!(told("--socks4=a").contains("takes http"), "{}", told("--socks4=a"));
    }

    #[test]
    fn other_values_are_shown() {
        let time = said(&["http://a", "--max-time", "soon"]);
        assert!(time.contains("'soon'"), "{time}");
    }
}
