//! One thing that an answer must be like.

use serde_json::{Map, Value};

use crate::wire::answer::Answer;
use crate::wire::case::Expected;
use crate::wire::json;
use crate::wire::multipart;
use crate::wire::pattern::Pattern;
use crate::wire::variables::Variables;

/// The expectation of one answer. All texts may have variables.
#[derive(Clone, Debug)]
pub(crate) enum Check {
    /// The field has this value.
    Field(String, String),
    /// The value of the field has this text in it.
    FieldHolds(String, String),
    /// The value of the field is a list of these, in any order.
    FieldLists(String, String),
    NoField(String),
    Content(String),
    ContentHolds(String),
    ContentLacks(String),
    Json(String),
    JsonHolds(String),
    /// An object with this member alone, a list of these in any order.
    Keys(String, String),
    /// A run of objects, or a multipart of them, with these members.
    Stream(String, String),
    /// A multipart of these parts, in any order.
    Parts(Vec<Vec<Check>>),
}

impl Expected {
    /// Holds an answer against this.
    ///
    /// # Errors
    /// The first difference, or a check that would pass anything.
    pub(crate) fn check(&self, answer: &Answer, variables: &Variables) -> Result<(), String> {
        let wrong = |wrong| Err(format!("line {}: {wrong} in {answer}", self.line));
        if answer.status != self.status {
            return wrong(format!("status {} instead of {}", answer.status, self.status));
        }
        check_always(answer).or_else(wrong)?;
        for check in &self.checks {
            check.hold(answer, variables).or_else(wrong)?;
            if check.broken().iter().any(|broken| broken.hold(answer, variables).is_ok()) {
                return wrong(format!("{check:?} passes when another thing is expected"));
            }
        }
        Ok(())
    }
}

/// The rules for every answer.
fn check_always(answer: &Answer) -> Result<(), String> {
    let (is_interim, has) = (answer.status < 200, |name| answer.value(name).is_some());
    let is_without_content = is_interim || matches!(answer.status, 204 | 304);
    let rules = [
        (is_interim || has("date"), "no date"),
        (!is_without_content || !has("transfer-encoding"), "a transfer coding without content"),
        (!is_without_content || answer.status == 304 || !has("content-length"), "a length without content"),
        (answer.status != 405 || has("allow"), "405 without allow"),
    ];
    match rules.iter().find(|(holds, _)| !holds) {
        Some((_, rule)) => Err((*rule).to_owned()),
        None => Ok(()),
    }
}

impl Check {
    /// Holds an answer against this.
    ///
    /// # Errors
    /// The difference.
    pub(crate) fn hold(&self, answer: &Answer, variables: &Variables) -> Result<(), String> {
        let pattern = |text: &str| Pattern::read(text, variables);
        let bytes = |text: &str| Pattern::read(text, variables)?.into_bytes();
        let field = |name: &str| answer.value(name);
        match self {
            Self::Field(name, value) => match field(name) {
                Some(came) if pattern(value)?.matches(came.as_bytes()) => Ok(()),
                came => Err(format!("{name}: {came:?} instead of {value:?}")),
            },
            Self::FieldHolds(name, text) => match field(name) {
                Some(came) if contains(came.as_bytes(), &bytes(text)?) => Ok(()),
                came => Err(format!("{name}: {came:?} without {text:?}")),
            },
            Self::FieldLists(name, list) => match field(name) {
                Some(came) if members(&came) == members(&String::from_utf8_lossy(&bytes(list)?)) => Ok(()),
                came => Err(format!("{name}: {came:?} instead of a list of {list:?}")),
            },
            Self::NoField(name) => field(name).map_or(Ok(()), |came| Err(format!("{name}: {came:?}"))),
            Self::Content(text) if pattern(text)?.matches(&answer.content) => Ok(()),
            Self::Content(text) => Err(format!("content instead of {:?}", shortened(text))),
            Self::ContentHolds(text) if contains(&answer.content, &bytes(text)?) => Ok(()),
            Self::ContentHolds(text) => Err(format!("content without {text:?}")),
            Self::ContentLacks(text) if !contains(&answer.content, &bytes(text)?) => Ok(()),
            Self::ContentLacks(text) => Err(format!("content with {text:?}")),
            Self::Json(text) => compare(text, answer, variables, json::is_same),
            Self::JsonHolds(text) => compare(text, answer, variables, json::is_held),
            Self::Keys(name, list) => keys(answer, name, &json::expected(list, variables)?),
            Self::Stream(name, list) => stream(answer, name, &json::expected(list, variables)?),
            Self::Parts(wanted) => {
                let mut came = parts(answer)?;
                wanted.iter().try_for_each(|wanted| take_part(&mut came, wanted, variables))?;
                if came.is_empty() { Ok(()) } else { Err(format!("{} more parts", came.len())) }
            }
        }
    }

    /// The same with something else expected, which no answer is like that is like this.
    fn broken(&self) -> Vec<Self> {
        let another = || "another".to_owned();
        vec![match self {
            Self::Field(name, _) => Self::Field(name.clone(), another()),
            Self::FieldHolds(name, _) => Self::FieldHolds(name.clone(), another()),
            Self::FieldLists(name, list) => Self::FieldLists(name.clone(), format!("{list}, another")),
            Self::NoField(name) => Self::Field(name.clone(), "{*}".to_owned()),
            Self::Content(_) => Self::Content(another()),
            Self::ContentHolds(_) => Self::ContentHolds("another thing".to_owned()),
            Self::ContentLacks(text) => Self::ContentHolds(text.clone()),
            Self::Json(_) => Self::Json("\"another\"".to_owned()),
            Self::JsonHolds(_) => Self::JsonHolds(r#"{"another":1}"#.to_owned()),
            Self::Keys(name, _) => Self::Keys(name.clone(), "[\"another\"]".to_owned()),
            Self::Stream(name, _) => Self::Stream(name.clone(), "[\"another\"]".to_owned()),
            Self::Parts(parts) => {
                let more = parts.iter().cloned().chain([Vec::new()]).collect();
                let other = |part: &Vec<Self>| part.first().map(Self::broken).unwrap_or_default();
                let of_parts = (0..parts.len()).flat_map(|at| {
                    let broken = other(&parts[at]).into_iter().map(move |check| (at, check));
                    broken.map(|(at, check)| {
                        let mut parts = parts.clone();
                        parts[at][0] = check;
                        Self::Parts(parts)
                    })
                });
                return of_parts.chain([Self::Parts(more)]).collect();
            }
        }]
    }
}

fn compare(
    text: &str,
    answer: &Answer,
    variables: &Variables,
    is_like: fn(&Value, &Value) -> bool,
) -> Result<(), String> {
    let came = json::read(&answer.content)?;
    match is_like(&json::expected(text, variables)?, &came) {
        true => Ok(()),
        false => Err(format!("JSON instead of {text}")),
    }
}

fn keys(answer: &Answer, name: &str, wanted: &Value) -> Result<(), String> {
    match json::read(&answer.content)? {
        Value::Object(object)
            if object.len() == 1
                && object.get(name).is_some_and(|list| json::sorted(list) == json::sorted(wanted)) =>
        {
            Ok(())
        }
        _ => Err(format!("no object of {name} with {wanted}")),
    }
}

/// The members of this name, one after the other. Those of a multipart are ordered, those of a run end with
/// an empty list.
fn stream(answer: &Answer, name: &str, wanted: &Value) -> Result<(), String> {
    let is_multipart = answer.value("content-type").is_some_and(|it| it.starts_with("multipart/"));
    let objects = match is_multipart {
        true => {
            let read = parts(answer)?.into_iter().map(|part| json::objects(&part.content));
            read.collect::<Result<Vec<_>, _>>()?.concat()
        }
        false => json::objects(&answer.content)?,
    };
    let lists: Vec<_> = objects.iter().filter_map(|object: &Map<_, _>| object.get(name)).collect();
    let ends = lists.last().and_then(|last| last.as_array()).is_some_and(Vec::is_empty);
    if !is_multipart && !ends {
        return Err(format!("the last object is no empty list of {name}"));
    }
    let all = Value::Array(lists.into_iter().filter_map(Value::as_array).flatten().cloned().collect());
    let is_same = match is_multipart {
        true => json::is_same(wanted, &all),
        false => json::sorted(wanted) == json::sorted(&all),
    };
    if is_same { Ok(()) } else { Err(format!("{all} instead of {wanted}")) }
}

fn parts(answer: &Answer) -> Result<Vec<Answer>, String> {
    let media_type = answer.value("content-type").unwrap_or_default();
    let boundary =
        multipart::boundary(&media_type).ok_or_else(|| format!("{media_type:?} is no multipart"))?;
    multipart::parts(&answer.content, boundary)
}

/// Takes a part away that is as it must be.
fn take_part(came: &mut Vec<Answer>, wanted: &[Check], variables: &Variables) -> Result<(), String> {
    let holds = |part: &Answer| wanted.iter().try_for_each(|check| check.hold(part, variables));
    let mut wrong = "too few parts".to_owned();
    for at in 0..came.len() {
        match holds(&came[at]) {
            Ok(()) => {
                came.remove(at);
                return Ok(());
            }
            Err(error) => wrong = error,
        }
    }
    Err(format!("no part is {wanted:?}: {wrong}"))
}

fn members(list: &str) -> Vec<String> {
    let mut members: Vec<_> = list.split(',').map(|member| member.trim().to_owned()).collect();
    members.sort();
    members
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
}

fn shortened(text: &str) -> &str {
    text.get(..200).unwrap_or(text)
}
