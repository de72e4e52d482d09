//! An answer, in lines that can be compared.

/// An answer: what was told of it, by name.
#[derive(Default)]
pub(crate) struct Answer {
    interim: Vec<String>,
    status: Option<u16>,
    fields: Vec<(String, String)>,
    content: Vec<u8>,
    trailers: Vec<(String, String)>,
    end: String,
}

impl Answer {
    pub(crate) fn head(&mut self, status: u16, fields: Vec<(String, String)>) {
        match status {
            100..=199 if status != 101 => self.interim.push(status.to_string()),
            _ => (self.status, self.fields) = (Some(status), fields),
        }
    }

    pub(crate) fn status(&self) -> Option<u16> {
        self.status
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.content.extend_from_slice(bytes);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.content.len()
    }

    pub(crate) fn trailers(&mut self, fields: Vec<(String, String)>) {
        self.trailers = fields;
    }

    pub(crate) fn ends(mut self, end: impl Into<String>) -> Self {
        self.end = end.into();
        self
    }

    /// One line for each thing that can differ; the date does.
    pub(crate) fn lines(&self) -> Vec<(String, String)> {
        let shown = |bytes: &[u8]| match bytes.len() {
            0..60 => bytes.escape_ascii().to_string(),
            len => format!("{len} bytes"),
        };
        let mut lines = vec![
            (
                "status".to_owned(),
                self.status.map_or_else(|| format!("none, {}", self.end), |status| status.to_string()),
            ),
            ("content".into(), shown(&self.content)),
            ("end".into(), self.end.clone()),
        ];
        if !self.interim.is_empty() {
            lines.push(("interim".into(), self.interim.join(" & ")));
        }
        add_fields("", &self.fields, &mut lines);
        add_fields("trailer ", &self.trailers, &mut lines);
        lines
    }
}

fn add_fields(before: &str, fields: &[(String, String)], lines: &mut Vec<(String, String)>) {
    for (name, value) in fields.iter().filter(|(name, _)| name != "date") {
        let name = format!("{before}{name}");
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => *values = format!("{values} & {value}"),
            None => lines.push((name, value.clone())),
        }
    }
}
