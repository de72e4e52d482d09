//! Queries of random indexes against a model that does everything at once, and pages that are put together
//! again (Riak §11).

use std::collections::BTreeSet;

use crate::support::seeded::{Seed, clients, get, open, put};
use alula::Client;
use alula_store::engine::Memory;
use alula_testkit::Rng;

const KEYS: [&str; 12] = ["", "a", "aa", "ab", "b", "b/", "ba", "c\0", "ca", "d", "\u{fc}", "z"];
const TEXTS: [&str; 12] = ["", "a", "a\0", "a\0b", "ab", "b", "ba", "c", "ca", "cab", "\u{fc}", "z z"];
const NUMBERS: [i128; 10] =
    [-100_000_000_000_000_000_000, -11, -10, -9, -1, 0, 1, 9, 10, 18_446_744_073_709_551_616];

/// The entries of an object in its indexes.
#[derive(Default)]
struct Model {
    texts: BTreeSet<(String, String)>,
    numbers: BTreeSet<(i128, String)>,
    keys: BTreeSet<String>,
}

/// A query, in the form of its path, and all of its results with the terms that are shown.
struct Query {
    path: String,
    results: Vec<(Option<String>, String)>,
}

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

impl Model {
    /// The next number of objects with random entries.
    async fn fill(&mut self, store: &alula_store::Store<Memory>, rng: &mut Rng) {
        for key in KEYS.into_iter().filter(|key| !key.is_empty()) {
            if rng.one_in(4) {
                continue;
            }
            let texts: BTreeSet<&str> = (0..rng.below(4)).map(|_| *rng.pick(&TEXTS)).collect();
            let numbers: BTreeSet<i128> = (0..rng.below(4)).map(|_| *rng.pick(&NUMBERS)).collect();
            let entries = texts.iter().map(|term| ("t_bin", (*term).to_owned()));
            let entries = entries.chain(numbers.iter().map(|term| ("n_int", term.to_string())));
            put(store, "b", key, Seed::new(&entries.collect::<Vec<_>>())).await;
            self.keys.insert(key.to_owned());
            self.texts.extend(texts.into_iter().map(|term| (term.to_owned(), key.to_owned())));
            self.numbers.extend(numbers.into_iter().map(|term| (term, key.to_owned())));
        }
    }

    fn query(&self, rng: &mut Rng) -> Query {
        let returns_terms = rng.one_in(2);
        let mut query = match rng.below(4) {
            0 => self.query_texts(rng, returns_terms),
            1 => self.query_numbers(rng, returns_terms),
            2 => self.query_keys(rng),
            _ => {
                let results = self.keys.iter().map(|key| (None, key.clone())).collect();
                Query { path: "/buckets/b/index/$bucket/b?".into(), results }
            }
        };
        if returns_terms {
            query.path += "return_terms=true&";
        }
        query
    }

    fn query_texts(&self, rng: &mut Rng, returns_terms: bool) -> Query {
        let [low, high] = [(); 2].map(|()| *rng.pick(&TEXTS[1..]));
        let is_equality = rng.one_in(4);
        let high = if is_equality { low } else { high };
        let searched = *rng.pick(&["", "a", "b", "c"]);
        let found = self.texts.iter().filter(|(term, _)| low <= &**term && &**term <= high);
        let found = found.filter(|(term, _)| term.contains(searched));
        let shown = |term: &String| (returns_terms && !is_equality).then(|| term.clone());
        let results = found.map(|(term, key)| (shown(term), key.clone())).collect();
        let mut path = format!("/buckets/b/index/t_bin/{}", escaped(low));
        if !is_equality {
            path += &format!("/{}", escaped(high));
        }
        path += "?";
        if !searched.is_empty() {
            path += &format!("term_regex={searched}&");
        }
        Query { path, results }
    }

    fn query_numbers(&self, rng: &mut Rng, returns_terms: bool) -> Query {
        let [low, high] = [(); 2].map(|()| *rng.pick(&NUMBERS) + rng.below(3) as i128 - 1);
        let found = self.numbers.iter().filter(|(term, _)| (low..=high).contains(term));
        let shown = |term: &i128| returns_terms.then(|| term.to_string());
        let results = found.map(|(term, key)| (shown(term), key.clone())).collect();
        Query { path: format!("/buckets/b/index/n_int/{low}/{high}?"), results }
    }

    fn query_keys(&self, rng: &mut Rng) -> Query {
        let [low, high] = [(); 2].map(|()| *rng.pick(&KEYS[1..]));
        let found = self.keys.iter().filter(|key| low <= &***key && &***key <= high);
        let results = found.map(|key| (None, key.clone())).collect();
        Query { path: format!("/buckets/b/index/$key/{}/{}?", escaped(low), escaped(high)), results }
    }
}

/// One page of results and its continuation, of either form of answer.
async fn page(client: &Client, path: &str) -> (Vec<(Option<String>, String)>, Option<String>) {
    let mut response = get(client, path).await;
    assert_eq!(response.status(), 200, "{path}");
    let boundary = response.content_type().and_then(|it| it.strip_prefix("multipart/mixed;boundary="));
    let boundary = boundary.map(str::to_owned);
    let text = response.text().await.expect("whole content");
    let Some(boundary) = boundary else { return object(&text) };
    let (mut results, mut continuation) = (Vec::new(), None);
    for part in text.split(&*format!("\r\n--{boundary}")) {
        if let Some((_, json)) = part.split_once("\r\n\r\n") {
            let (more, next) = object(json);
            results.extend(more);
            continuation = next.or(continuation);
        }
    }
    (results, continuation)
}

fn object(json: &str) -> (Vec<(Option<String>, String)>, Option<String>) {
    let object: serde_json::Value = serde_json::from_str(json).expect("an object");
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let list = |name: &str| object.get(name).and_then(|list| list.as_array().cloned()).unwrap_or_default();
    let keys = list("keys").iter().map(|key| (None, text(key))).collect::<Vec<_>>();
    let pair = |pair: &serde_json::Value| {
        let (term, key) = pair.as_object().expect("a pair").iter().next().expect("a term");
        (Some(term.clone()), text(key))
    };
    let results = list("results").iter().map(pair).chain(keys).collect();
    (results, object.get("continuation").map(text))
}

#[tokio::test]
async fn queries_find_what_a_model_finds() {
    let mut rng = Rng::new(11);
    for _ in 0..20 {
        let (store, mut model) = (open(Memory::new()).await, Model::default());
        model.fill(&store, &mut rng).await;
        for client in clients(&store) {
            for _ in 0..30 {
                let query = model.query(&mut rng);
                let stream = *rng.pick(&["", "stream=true"]);
                let (results, continuation) = page(&client, &format!("{}{stream}", query.path)).await;
                assert_eq!(results, query.results, "{}", query.path);
                assert_eq!(continuation, None);
            }
        }
    }
}

#[tokio::test]
async fn pages_are_the_whole() {
    let mut rng = Rng::new(12);
    for _ in 0..20 {
        let (store, mut model) = (open(Memory::new()).await, Model::default());
        model.fill(&store, &mut rng).await;
        for client in clients(&store) {
            for _ in 0..10 {
                let query = model.query(&mut rng);
                let (mut all, mut start) = (Vec::new(), String::new());
                loop {
                    let max = 1 + rng.below(5);
                    let stream = *rng.pick(&["", "&stream=true"]);
                    let path = format!("{}max_results={max}{stream}{start}", query.path);
                    let (results, continuation) = page(&client, &path).await;
                    assert_eq!(continuation.is_some(), results.len() == max, "{path}");
                    all.extend(results);
                    let Some(continuation) = continuation else { break };
                    start = format!("&continuation={continuation}");
                }
                assert_eq!(all, query.results, "{}", query.path);
            }
        }
    }
}
