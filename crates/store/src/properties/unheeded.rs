//! The properties that a store keeps and does not act on, although buckets rely on them: hooks, and the time
//! after which objects expire.
//!
//! A hook may check what is written, so that a bucket that asks for one is refused unless the store was told
//! to ignore hooks. Objects that stay are told of once. The same holds for each unknown name in a type of the
//! configuration: a slip there, as in `datatyp`, would make another type than was meant.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::list::List;
use super::{defaults, form};

/// The lists of functions in Erlang that run before and after a write.
const HOOKS: [&str; 2] = ["precommit", "postcommit"];

/// The properties that say when objects expire.
const EXPIRY: [&str; 2] = ["expiry_secs", "default_time_to_live"];

/// The names of Riak's other properties, which have neither a default nor a form here.
const OTHERS: [&str; 7] =
    ["backend", "chash_keyfun", "hll_precision", "repl", "search", "search_index", "ttl"];

const REASON: &str = "hooks are not run here: it is [], unless the store ignores hooks (--ignore-hooks)";

/// The treatment of these properties.
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

    /// Warns of each property in a type of the configuration that neither Riak nor this store knows.
    pub(super) fn warn_of_unknown(&self, bucket_type: &str, asked: &List) {
        let Some(warn) = self.warn else { return };
        let known = defaults::of(true);
        let is_known = |name: &str| {
            !form::is_unknown(name)
                || known.contains_key(name)
                || HOOKS.iter().chain(&EXPIRY).chain(&OTHERS).any(|known| *known == name)
        };
        for name in asked.keys().filter(|name| !is_known(name)) {
            warn(&format!(
                "the bucket type {bucket_type} has a property that is unknown, and kept as it is: {name}"
            ));
        }
    }

    /// Warns of a list whose objects should expire, the first time only.
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
    use std::sync::{Mutex, atomic::AtomicUsize};

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
    fn names_that_nobody_knows_are_told_of() {
        static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let unheeded =
            Unheeded::new(false, Some(|text| TOLD.lock().expect("no panic").push(text.to_owned())));
        let known = json!({"datatype": "set", "n_val": 1, "precommit": [], "backend": "x", "expiry_secs": 1});
        unheeded.warn_of_unknown("sets", &list(known));
        assert!(TOLD.lock().expect("no panic").is_empty());
        unheeded.warn_of_unknown("sets", &list(json!({"datatyp": "set", "alow_mult": true})));
        let told = TOLD.lock().expect("no panic");
        let text = "the bucket type sets has a property that is unknown, and kept as it is:";
        assert_eq!(*told, [format!("{text} alow_mult"), format!("{text} datatyp")]);
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
