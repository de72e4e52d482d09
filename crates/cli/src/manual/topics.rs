//! `alula help TOPIC`: pages about several flags.

use std::{env, io::Write as _, io::stdout};

use crate::{
    args::{ENVIRONMENT, TOPICS, list_of_topics},
    failure::exit,
    fetch,
    terminal::{columns_of_help, wrapping::wrapped},
};

/// Prints the page that the command line asks for, if it does.
pub(crate) fn is_printed() -> bool {
    let words: Vec<String> = env::args().skip(1).collect();
    let page = match &words[..] {
        [help, name] if help == "help" => find(name),
        _ => None,
    };
    let Some(page) = page else { return false };
    // A reader that has seen enough closes the pipe.
    let _ = stdout().write_all(wrapped(&page, columns_of_help(), "      ").as_bytes());
    true
}

/// Returns the page of this name, if there is one; `topics` is the list of pages.
fn find(name: &str) -> Option<String> {
    if name == "topics" {
        return Some(list_of_topics());
    }
    let name = match name {
        "item" | "request-items" => "items",
        "exit-code" | "exit" | "codes" => "exit-codes",
        "-w" | "--write-out" | "w" => "write-out",
        "env" => "environment",
        name => name,
    };
    TOPICS.iter().find(|(topic, _)| *topic == name).map(|(topic, _)| text(topic))
}

fn text(topic: &str) -> String {
    match topic {
        "items" => items(),
        "exit-codes" => exit::table_beside_curl(),
        "write-out" => write_out(),
        _ => ENVIRONMENT.to_owned() + "\n",
    }
}

fn items() -> String {
    "\
Items stand behind the URL, in any order, and make the request:

  name==value     a parameter of the query, which is encoded
  Name:value      a field; `Name:` sends none, `Name;` one without a value
  name=value      a string of the JSON object that is the content
  name:=json      any other JSON: a number, true, null, a list, an object
  name=@FILE      a string from a file
  name:=@FILE     JSON from a file
  name@FILE       a file, in a form (--form)
  @FILE           the whole content
  URL             another URL, which is asked the same

With --form the content is a form instead of JSON, with --multipart one of many
parts. A backslash before `=`, `:`, `@` or `;` makes a plain character of it.

  alula post :8080/people name=Ada born:=1815 tags:='[\"math\"]' x-token:abc
  alula get :8080/search q==rust page==2
  alula post --form :8080/photos title=Sea photo@sea.jpg
"
    .to_owned()
}

fn write_out() -> String {
    format!(
        "\
The text of -w is printed when an exchange is over. In it stand for something:

{}  %{{url.host}}             a part of the URL that was asked for: scheme, host,
                          port, path or query; %{{urle.host}} of the one that
                          answered
  %{{json}}                 all of them as one JSON object
  %{{header_json}}          the fields of the response as a JSON object
  %header{{NAME}}           the first field of this name
  %{{stderr}} %{{stdout}}     what follows goes there
  %time{{FORMAT}}           the time in UTC, as strftime has it: %F %T.%f
  %output{{FILE}}           what follows goes into this file; >>FILE appends
  %{{onerror}}              what follows is printed only if the exchange failed
  \\n \\t \\r                a new line, a tab, a carriage return
  %%                      a percent sign

  alula get -s -o /dev/null -w '%{{http_code}} %{{time_total}}\\n' example.com
",
        fetch::variables()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_by_their_names_and_fit_a_terminal() {
        let others = ["exit", "codes", "-w", "--write-out", "env", "request-items", "topics"];
        for name in TOPICS.iter().map(|(name, _)| *name).chain(others) {
            let page = find(name).unwrap();
            assert!(page.ends_with('\n') && page.lines().all(|line| line.chars().count() <= 80), "{page}");
        }
        assert_eq!(find("get"), None);
    }
}
