//! A parser of dictionaries in structured fields (RFC 9651 §4.2.2) for known keys: it checks all of the
//! syntax, and returns integers and booleans.

/// The value of a member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Member {
    Integer(i64),
    Boolean(bool),
    /// Anything else that is well-formed.
    Other,
}

/// Returns the members in order, including repeated keys (the last one counts); `None` if the text is no
/// dictionary, and then nothing that was given counts.
pub(crate) fn parse(text: &[u8], mut member: impl FnMut(&[u8], Member)) -> Option<()> {
    let mut rest = Cursor(text);
    rest.skip(b" ");
    while !rest.0.is_empty() {
        let key = rest.key()?;
        let value = if rest.take(b'=') {
            rest.member()?
        } else {
            rest.parameters().map(|()| Member::Boolean(true))?
        };
        member(key, value);
        rest.skip(b" \t");
        if rest.0.is_empty() {
            break;
        }
        if !rest.take(b',') {
            return None;
        }
        rest.skip(b" \t");
        if rest.0.is_empty() {
            return None;
        }
    }
    Some(())
}

/// The rest of the text.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn skip(&mut self, blank: &[u8]) {
        while let [first, rest @ ..] = self.0
            && blank.contains(first)
        {
            self.0 = rest;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        match self.0 {
            [first, rest @ ..] if *first == byte => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// Takes the longest prefix of accepted bytes, at least one.
    fn span(&mut self, is_fit: impl Fn(&u8) -> bool) -> Option<&'a [u8]> {
        let len = self.0.iter().position(|byte| !is_fit(byte)).unwrap_or(self.0.len());
        let (span, rest) = self.0.split_at(len);
        self.0 = rest;
        Some(span).filter(|span| !span.is_empty())
    }

    fn key(&mut self) -> Option<&'a [u8]> {
        let key = self.span(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*'))?;
        matches!(key[0], b'a'..=b'z' | b'*').then_some(key)
    }

    fn member(&mut self) -> Option<Member> {
        let value = if self.take(b'(') { self.inner_list()? } else { self.item()? };
        self.parameters()?;
        Some(value)
    }

    /// Parses an inner list after its opening bracket.
    fn inner_list(&mut self) -> Option<Member> {
        loop {
            self.skip(b" ");
            if self.take(b')') {
                return Some(Member::Other);
            }
            self.item()?;
            self.parameters()?;
            if !matches!(self.0.first(), Some(b' ' | b')')) {
                return None;
            }
        }
    }

    fn parameters(&mut self) -> Option<()> {
        while self.take(b';') {
            self.skip(b" ");
            self.key()?;
            if self.take(b'=') {
                self.item()?;
            }
        }
        Some(())
    }

    fn item(&mut self) -> Option<Member> {
        match *self.0.first()? {
            b'-' | b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            b'?' => self.boolean(),
            b':' => self.bytes(),
            b'@' => {
                self.take(b'@');
                self.number().and_then(|date| matches!(date, Member::Integer(_)).then_some(Member::Other))
            }
            b'*' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.span(|byte| alula_fields::bytes::is_token(&[*byte]) || matches!(byte, b':' | b'/'))?;
                Some(Member::Other)
            }
            _ => None,
        }
    }

    fn number(&mut self) -> Option<Member> {
        let sign = if self.take(b'-') { -1 } else { 1 };
        let digits = self.span(u8::is_ascii_digit)?;
        if self.take(b'.') {
            let fraction = self.span(u8::is_ascii_digit)?;
            return (digits.len() <= 12 && fraction.len() <= 3).then_some(Member::Other);
        }
        if digits.len() > 15 {
            return None;
        }
        let value = digits.iter().fold(0i64, |sum, digit| 10 * sum + i64::from(digit - b'0'));
        Some(Member::Integer(sign * value))
    }

    fn boolean(&mut self) -> Option<Member> {
        let [b'?', digit @ (b'0' | b'1'), rest @ ..] = self.0 else { return None };
        self.0 = rest;
        Some(Member::Boolean(*digit == b'1'))
    }

    fn string(&mut self) -> Option<Member> {
        self.take(b'"');
        loop {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            match byte {
                b'"' => return Some(Member::Other),
                b'\\' if !(self.take(b'"') || self.take(b'\\')) => return None,
                b'\\' | b' '..=b'~' => {}
                _ => return None,
            }
        }
    }

    fn bytes(&mut self) -> Option<Member> {
        self.take(b':');
        self.span(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte));
        self.take(b':').then_some(Member::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec::Vec;

    fn members(text: &str) -> Option<Vec<(String, Member)>> {
        let mut members = Vec::new();
        parse(text.as_bytes(), |key, value| {
            members.push((String::from_utf8(key.into()).unwrap(), value));
        })?;
        Some(members)
    }

    #[test]
    fn all_kinds_of_members_are_read() {
        use Member::*;
        for (text, value) in [
            ("a", Boolean(true)),
            ("a;x=1;y", Boolean(true)),
            ("a=?0", Boolean(false)),
            ("a=42", Integer(42)),
            ("a=-999999999999999", Integer(-999_999_999_999_999)),
            ("a=4.5", Other),
            ("a=@1700000000", Other),
            ("a=\"x \\\" \\\\\"", Other),
            ("a=tok/en:x", Other),
            ("a=*", Other),
            ("a=:aGk=:", Other),
            ("a=::", Other),
            ("a=()", Other),
            ("a=( 1 \"x\";q=1  b );p", Other),
        ] {
            assert_eq!(members(text), Some([("a".into(), value)].into()), "{text}");
        }
        let several = members("  u=1 ,\ti;q=1, *k.-_9=a, u=2 ").unwrap();
        let keys: Vec<&str> = several.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["u", "i", "*k.-_9", "u"]);
        assert_eq!((members(""), members("  ")), (Some([].into()), Some([].into())));
    }

    #[test]
    fn what_is_malformed_is_refused() {
        for text in [
            "U=1",
            "u=",
            "u=1,",
            ",",
            "u=1;",
            "u 1",
            "u=1 i",
            "u=1.",
            "u=1.2345",
            "u=1234567890123456",
            "u=-",
            "u=?2",
            "u=?",
            "u=\"x",
            "u=\"\\x\"",
            "u=\"\n\"",
            "u=:a",
            "u=:!:",
            "u=(1",
            "u=(1;)",
            "u=(1,2)",
            "u=@1.5",
            "u=[1]",
            "=1",
            "u=1,,i",
            "9=1",
            "u=\u{e4}",
            "\tu=1",
        ] {
            assert_eq!(members(text), None, "{text}");
        }
    }
}
