//! `alula help TOPIC`: what holds for several flags, a page for each.

use crate::{exit, fetch};

/// A page: its name, others that are typed for it, a line about it, and its text.
struct Topic {
    name: &'static str,
    also: &'static [&'static str],
    about: &'static str,
    text: fn() -> String,
}

const TOPICS: [Topic; 4] = [
    Topic {
        name: "items",
        also: &["item", "request-items"],
        about: "what can stand behind the URL: fields, query, content",
        text: items,
    },
    Topic {
        name: "exit-codes",
        also: &["exit-code", "exit", "codes"],
        about: "how the program ends, and the codes of curl for the same",
        text: exit_codes,
    },
    Topic {
        name: "write-out",
        also: &["-w", "--write-out", "w"],
        about: "what -w can print",
        text: write_out,
    },
    Topic {
        name: "environment",
        also: &["env"],
        about: "the variables that the program reads",
        text: environment,
    },
];

/// The page of this name, if there is one; that of `topics` is the list of them.
pub(crate) fn find(name: &str) -> Option<String> {
    if name == "topics" {
        return Some(list());
    }
    let topic = TOPICS.iter().find(|topic| topic.name == name || topic.also.contains(&name));
    topic.map(|topic| (topic.text)())
}

/// A line for each page.
pub(crate) fn list() -> String {
    let lines = TOPICS.each_ref().map(|topic| format!("  {:<12} {}\n", topic.name, topic.about));
    format!("Topics, by `alula help TOPIC`:\n{}", lines.concat())
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
parts. A backslash takes from the next `=`, `:`, `@` or `;` what it means here.

  alula post :8080/people name=Ada born:=1815 tags:='[\"math\"]' x-token:abc
  alula get :8080/search q==rust page==2
  alula post --form :8080/photos title=Sea photo@sea.jpg
"
    .to_owned()
}

fn exit_codes() -> String {
    exit::table_beside_curl()
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
  %output{{FILE}}           what follows goes into this file; >>FILE appends
  %{{onerror}}              what follows is printed only if the exchange failed
  \\n \\t \\r                a new line, a tab, a carriage return
  %%                      a percent sign

  alula get -s -o /dev/null -w '%{{http_code}} %{{time_total}}\\n' example.com
",
        fetch::variables()
    )
}

fn environment() -> String {
    crate::args::ENVIRONMENT.to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_by_their_names_and_fit_a_terminal() {
        for topic in &TOPICS {
            for name in topic.also.iter().chain([&topic.name]) {
                let page = find(name).unwrap();
                assert!(
                    page.ends_with('\n') && page.lines().all(|line| line.chars().count() <= 80),
                    "{page}"
                );
            }
            assert!(list().contains(topic.about));
        }
        assert_eq!(find("get"), None);
    }
}
