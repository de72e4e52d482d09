//! Reads the cases of a file, as `README.txt` describes them.

use crate::wire::case::{Case, Expected, Request, Step};
use crate::wire::check::Check;
use crate::wire::json;
use crate::wire::stores::Kind;

type Line<'a> = (usize, &'a str);

/// Reads all cases of a file.
///
/// # Errors
/// A line, and what is wrong with it.
pub(crate) fn cases(file: &'static str, text: &str) -> Result<Vec<Case>, String> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let mut blocks: Vec<Vec<Line<'_>>> = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        match (line.starts_with("case "), blocks.last_mut()) {
            (true, _) => blocks.push(vec![(number, line)]),
            (false, Some(block)) => block.push((number, line)),
            (false, None) => return Err(format!("line {number}: no case has begun")),
        }
    }
    let read = blocks.iter().map(|block| of_block(file, block));
    Ok(read.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The case of a block of lines, or the cases of its table.
fn of_block(file: &'static str, block: &[Line<'_>]) -> Result<Vec<Case>, String> {
    let row = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let rows = block.iter().filter_map(|(number, line)| Some((*number, row(line.strip_prefix("with ")?))));
    let rows: Vec<_> = rows.collect();
    let lines: Vec<_> = block.iter().filter(|(_, line)| !line.starts_with("with ")).copied().collect();
    let Some(((_, columns), rows)) = rows.split_first() else {
        return Ok(vec![of_lines(file, &lines)?]);
    };
    let of_row = |(number, values): &(usize, Vec<String>)| {
        if values.len() != columns.len() {
            return Err(format!("line {number}: not as many values as columns"));
        }
        let lines: Vec<_> =
            lines.iter().map(|(number, line)| (*number, filled(line, columns, values))).collect();
        let lines: Vec<_> = lines.iter().map(|(number, line)| (*number, &**line)).collect();
        of_lines(file, &lines)
    };
    rows.iter().map(of_row).collect()
}

fn filled(line: &str, columns: &[String], values: &[String]) -> String {
    let pairs = columns.iter().zip(values);
    pairs.fold(line.to_owned(), |line, (column, value)| line.replace(&format!("{{{column}}}"), value))
}

fn of_lines(file: &'static str, lines: &[Line<'_>]) -> Result<Case, String> {
    let (&(line, head), rest) = lines.split_first().ok_or("an empty case")?;
    let head = head.strip_prefix("case §").and_then(|head| head.split_once(": "));
    let (section, name) = head.ok_or_else(|| format!("line {line}: a case begins `case §5.2: NAME`"))?;
    let mut case = Case {
        section: section.to_owned(),
        name: name.to_owned(),
        file,
        line,
        store: Kind::Usual,
        is_http1_only: false,
        steps: Vec::new(),
    };
    for (number, line) in rest {
        add(&mut case, *number, line).map_err(|wrong| format!("line {number}: {wrong}: {line:?}"))?;
    }
    let expects = case.steps.iter().any(|step| matches!(step, Step::Expect(_)));
    if expects { Ok(case) } else { Err(format!("line {line}: nothing is expected")) }
}

/// Adds what a line says.
fn add(case: &mut Case, number: usize, line: &str) -> Result<(), String> {
    if let Some(name) = line.strip_prefix("store: ").filter(|_| case.steps.is_empty()) {
        case.store = Kind::of_name(name).ok_or("no such store")?;
    } else if line == "only: HTTP/1.1" {
        case.is_http1_only = true;
    } else if let Some(bytes) = line.strip_prefix("raw | ") {
        case.is_http1_only = true;
        case.steps.push(Step::Send(bytes.to_owned()));
    } else if let Some(status) = line.strip_prefix("-> ").or(line.strip_prefix("~> ")) {
        let status = status.parse().map_err(|_| "no status")?;
        let is_awaited = line.starts_with('~');
        let expected = Expected { line: number, status, is_awaited, checks: Vec::new() };
        case.steps.push(Step::Expect(expected));
    } else if let Some(request) = request(line) {
        case.steps.push(Step::Ask(request));
    } else {
        return match case.steps.last_mut() {
            Some(Step::Ask(request)) => add_to_request(request, line),
            Some(Step::Send(bytes)) => more(bytes, line),
            Some(Step::Expect(expected)) => add_check(&mut expected.checks, line),
            None => Err("no request has begun".into()),
        };
    }
    Ok(())
}

/// `PUT /path (text/plain) | content`
fn request(line: &str) -> Option<Request> {
    let (method, rest) = line.split_once(' ')?;
    let is_method = method.bytes().all(|byte| byte.is_ascii_uppercase());
    if !is_method || !rest.starts_with(['/', '{']) {
        return None;
    }
    let (head, content) = match rest.split_once(" | ") {
        Some((head, content)) => (head, Some(content.to_owned())),
        None => (rest, None),
    };
    let (path, media_type) = match head.trim().split_once(" (") {
        Some((path, media_type)) => (path, Some(media_type.strip_suffix(')')?)),
        None => (head.trim(), None),
    };
    let fields = media_type.map(|it| ("Content-Type".to_owned(), it.to_owned())).into_iter().collect();
    Some(Request { method: method.to_owned(), path: path.to_owned(), fields, content })
}

fn add_to_request(request: &mut Request, line: &str) -> Result<(), String> {
    if line.starts_with('|') {
        return more(request.content.get_or_insert_default(), line);
    }
    request.fields.push(field(line).ok_or("neither a field nor content")?);
    Ok(())
}

/// Adds the text of a line `| text`.
fn more(content: &mut String, line: &str) -> Result<(), String> {
    let text = line.strip_prefix("| ").ok_or("no content")?;
    content.push_str(text);
    Ok(())
}

/// `Name: value`
fn field(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    (!name.contains(' ')).then(|| (name.to_owned(), value.trim().to_owned()))
}

fn add_check(checks: &mut Vec<Check>, line: &str) -> Result<(), String> {
    if line == "part" {
        match checks.last_mut() {
            Some(Check::Parts(parts)) => parts.push(Vec::new()),
            _ => checks.push(Check::Parts(vec![Vec::new()])),
        }
        return Ok(());
    }
    let checks = match checks.last_mut() {
        Some(Check::Parts(parts)) => parts.last_mut().ok_or("no part has begun")?,
        _ => checks,
    };
    if let (Some(Check::Content(content)), true) = (checks.last_mut(), line.starts_with('|')) {
        return more(content, line);
    }
    checks.push(check(line)?);
    Ok(())
}

fn check(line: &str) -> Result<Check, String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let listed = || {
        let (name, list) = rest.split_once(' ').ok_or("a name and a list")?;
        json::check(list)?;
        Ok::<_, String>((name.to_owned(), list.to_owned()))
    };
    Ok(match word {
        "|" => Check::Content(rest.to_owned()),
        "empty" => Check::Content(String::new()),
        "holds" => Check::ContentHolds(rest.to_owned()),
        "lacks" => Check::ContentLacks(rest.to_owned()),
        "no" => Check::NoField(rest.to_owned()),
        "json" => Check::Json(json::check(rest)?.to_owned()),
        "json-holds" => Check::JsonHolds(json::check(rest)?.to_owned()),
        "keys" => listed().map(|(name, list)| Check::Keys(name, list))?,
        "stream" => listed().map(|(name, list)| Check::Stream(name, list))?,
        name => match (field(line), rest.split_once(' ')) {
            (Some((name, value)), _) => Check::Field(name, value),
            (None, Some(("holds", text))) => Check::FieldHolds(name.to_owned(), text.to_owned()),
            (None, Some(("lists", list))) => Check::FieldLists(name.to_owned(), list.to_owned()),
            _ => return Err("nothing that can be expected".into()),
        },
    })
}

#[test]
fn a_case_is_read() {
    let text = "case §5.2: A name\n only: HTTP/1.1\nPUT {key} (text/plain) | one\n X-A: b\n | two\n-> 204\n no X\n A: b\n";
    let cases = cases("a.txt", text).expect("a case");
    let [Step::Ask(request), Step::Expect(expected)] = &cases[0].steps[..] else { panic!("{cases:?}") };
    assert_eq!((&*cases[0].section, &*cases[0].name, cases[0].is_http1_only), ("5.2", "A name", true));
    assert_eq!((&*request.method, &*request.path), ("PUT", "{key}"));
    assert_eq!((request.fields.len(), request.content.as_deref()), (2, Some("onetwo")));
    assert_eq!((expected.status, expected.checks.len()), (204, 2));
}

#[test]
fn a_table_is_as_many_cases_as_it_has_rows() {
    let text = "case §1: {m} is {s}\nwith m | s\nwith GET | 200\nwith PUT | 405\n{m} /a\n-> {s}\n";
    let names: Vec<_> = cases("a.txt", text).expect("cases").into_iter().map(|case| case.name).collect();
    assert_eq!(names, ["GET is 200", "PUT is 405"]);
}

#[test]
fn what_is_no_case_is_an_error() {
    for text in [
        "GET /a",
        "case 5: a",
        "case §5: a\nGET /a",
        "case §5: a\n-> 200\nwhat is this",
        "case §5: a\nGET /a\n-> ok",
        "case §5: a\nGET /a\n-> 200\njson {",
        "case §5: a\nwith a | b\nwith 1\nGET /a\n-> 200",
        "case §5: a\nstore: none\nGET /a\n-> 200",
    ] {
        assert!(cases("a.txt", text).is_err(), "{text}");
    }
}
