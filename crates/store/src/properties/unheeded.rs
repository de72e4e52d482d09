//! The properties that a store keeps and does not act on, although buckets rely on them: hooks, and the time
//! after which objects expire.
//!
//! A hook may check what is written, so that a bucket that asks for one is refused unless the store was told
//! to ignore hooks. Objects that stay are told of once.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::list::List;

/// The lists of functions in Erlang that run before and after a write.
const HOOKS: [&str; 2] = ["precommit", "postcommit"];

/// The times after which objects go.
const EXPIRY: [&str; 2] = ["expiry_secs", "default_time_to_live"];

const REASON: &str = "hooks are not run here: it is [], unless the store ignores hooks (--ignore-hooks)";

/// The way in which a store treats these properties.
#[derive(Debug, Default)]
pub(crate) struct Unheeded {
    ignores_hooks: bool,
    warn: Option<fn(&str)>,
    has_warned: AtomicBool,
}

impl Unheeded {
    pub(crate) fn new(ignores_hooks: bool, warn: Option<fn(&str)>) -> Self {
        Self { ignores_hooks, warn, has_warned: AtomicBool::new(false) }
    }

    /// Returns a reason for each hook of a list that is refused. One that was there before stays: clients
    /// send lists back as they read them.
    pub(super) fn refused(&self, asked: &List, before: &List) -> List {
        let is_refused = |name: &str| {
            let value = asked.get(name).unwrap_or(&Value::Null);
            !self.ignores_hooks
                && ![json!([]), Value::Null].contains(value)
                && before.get(name) != Some(value)
        };
        let refused = HOOKS.into_iter().filter(|name| is_refused(name));
        refused.map(|name| (name.to_owned(), REASON.into())).collect()
    }

    /// Warns of a list whose objects should expire, unless it was done before.
    pub(super) fn warn_of(&self, list: &List) {
        let Some(name) = EXPIRY.into_iter().find(|name| list.contains_key(*name)) else { return };
        if let Some(warn) = self.warn
            && !self.has_warned.swap(true, Ordering::Relaxed)
        {
            warn(&format!(
                "objects do not expire: {name} is kept as a property, and nothing is done with it"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    fn list(value: Value) -> List {
        let Value::Object(list) = value else { panic!("{value} is no list") };
        list
    }

    #[test]
    fn hooks_are_refused_unless_they_are_ignored() {
        let hook = json!([{"mod": "m", "fun": "f"}]);
        let (none, before) = (List::new(), list(json!({"precommit": hook})));
        let refuses = |asked: Value, before: &List| -> Vec<String> {
            Unheeded::default().refused(&list(asked), before).keys().cloned().collect()
        };
        assert_eq!(refuses(json!({"precommit": hook, "postcommit": {}}), &none), ["postcommit", "precommit"]);
        assert!(refuses(json!({"precommit": [], "postcommit": null, "n_val": 1}), &none).is_empty());
        assert!(refuses(json!({"precommit": hook}), &before).is_empty());
        assert_eq!(refuses(json!({"precommit": [hook]}), &before), ["precommit"]);
        assert!(Unheeded::new(true, None).refused(&before, &none).is_empty());
    }

    #[test]
    fn expiry_is_told_of_once() {
        static TOLD: AtomicUsize = AtomicUsize::new(0);
        let unheeded = Unheeded::new(
            false,
            Some(|text| {
                assert!(text.contains("expiry_secs"), "{text}");
                TOLD.fetch_add(1, Ordering::Relaxed);
            }),
        );
        unheeded.warn_of(&list(json!({"n_val": 1})));
        assert_eq!(TOLD.load(Ordering::Relaxed), 0);
        for _ in 0..2 {
            unheeded.warn_of(&list(json!({"expiry_secs": 60})));
        }
        assert_eq!(TOLD.load(Ordering::Relaxed), 1);
    }
}
