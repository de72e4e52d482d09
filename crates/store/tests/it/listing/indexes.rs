//! Queries of secondary indexes over HTTP (Riak §11).

use crate::support::seeded::{Seed, check, clients, get, json, open, put, put_typed, text};
use alula_store::Store;
use alula_store::engine::Memory;

/// The names of people and their ages, with one object that has two names.
async fn people() -> Store<Memory> {
    let store = open(Memory::new()).await;
    let old = "1000000000000000000000000";
    put(&store, "b", "k1", Seed::new(&[("name_bin", "alice"), ("age_int", "30")])).await;
    put(&store, "b", "k2", Seed::new(&[("name_bin", "bob"), ("age_int", "-5")])).await;
    put(&store, "b", "k3", Seed::new(&[("name_bin", "bob"), ("name_bin", "carol"), ("age_int", old)])).await;
    put(&store, "b", "k4", Seed::new(&[("name_bin", "\u{fc}")])).await;
    put_typed(&store, "maps", "b", "x1", Seed::new(&[("name_bin", "alice")])).await;
    store
}

#[tokio::test]
async fn one_term_finds_its_keys() {
    let cases = [
        // Riak §11.1: equality, in the order of keys.
        json("/buckets/b/index/name_bin/bob", r#"{"keys":["k2","k3"]}"#),
        json("/buckets/b/index/name_bin/carol", r#"{"keys":["k3"]}"#),
        json("/types/default/buckets/b/index/name_bin/bob", r#"{"keys":["k2","k3"]}"#),
        json("/types/maps/buckets/b/index/name_bin/alice", r#"{"keys":["x1"]}"#),
        // Riak §11.1: the field is lower-cased, the term is not.
        json("/buckets/b/index/NAME_Bin/bob", r#"{"keys":["k2","k3"]}"#),
        json("/buckets/b/index/name_bin/Bob", r#"{"keys":[]}"#),
        // Riak §1.2: captures are percent-decoded, `+` is a space, slashes too many do no harm.
        json("/buckets/b/index/name_bin/%C3%BC", r#"{"keys":["k4"]}"#),
        json("/buckets/b//index/name%5Fbin/%62ob/", r#"{"keys":["k2","k3"]}"#),
        json("/buckets/b/index/name_bin/bo+b", r#"{"keys":[]}"#),
        // Riak §11.1: numbers, in any form.
        json("/buckets/b/index/age_int/30", r#"{"keys":["k1"]}"#),
        json("/buckets/b/index/age_int/0030", r#"{"keys":["k1"]}"#),
        json("/buckets/b/index/age_int/%2B30", r#"{"keys":["k1"]}"#),
        json("/buckets/b/index/age_int/-5", r#"{"keys":["k2"]}"#),
        json("/buckets/b/index/age_int/1000000000000000000000000", r#"{"keys":["k3"]}"#),
        // Riak §11.7: nothing is found in what nobody has written.
        json("/buckets/b/index/other_bin/bob", r#"{"keys":[]}"#),
        json("/buckets/b/index/name_int/1", r#"{"keys":[]}"#),
        json("/buckets/none/index/name_bin/bob", r#"{"keys":[]}"#),
    ];
    check(&people().await, &cases).await;
}

#[tokio::test]
async fn ranges_find_keys_in_the_order_of_their_terms() {
    let cases = [
        // Riak §11.1: both ends are in the range; an object is found once for each of its terms.
        json("/buckets/b/index/name_bin/alice/bob", r#"{"keys":["k1","k2","k3"]}"#),
        json("/buckets/b/index/name_bin/bob/carol", r#"{"keys":["k2","k3","k3"]}"#),
        json("/buckets/b/index/name_bin/bob/bob", r#"{"keys":["k2","k3"]}"#),
        json("/types/maps/buckets/b/index/name_bin/a/z", r#"{"keys":["x1"]}"#),
        // Riak §11.1: bytes compare as unsigned numbers.
        json("/buckets/b/index/name_bin/a/%FF", r#"{"keys":["k1","k2","k3","k3","k4"]}"#),
        json("/buckets/b/index/name_bin/z/%FF", r#"{"keys":["k4"]}"#),
        // Riak §11.1: numbers compare as numbers.
        json("/buckets/b/index/age_int/-10/100", r#"{"keys":["k2","k1"]}"#),
        json("/buckets/b/index/age_int/9/1000000000000000000000000", r#"{"keys":["k1","k3"]}"#),
        json("/buckets/b/index/age_int/-99999999999999999999/-1", r#"{"keys":["k2"]}"#),
        // Riak §11.7: the least is above the greatest.
        json("/buckets/b/index/name_bin/bob/alice", r#"{"keys":[]}"#),
        json("/buckets/b/index/age_int/100/9", r#"{"keys":[]}"#),
        json("/buckets/b/index/age_int/-1/-2", r#"{"keys":[]}"#),
        json("/buckets/b/index/$key/k3/k1", r#"{"keys":[]}"#),
    ];
    check(&people().await, &cases).await;
}

#[tokio::test]
async fn keys_are_an_index_by_themselves() {
    let all = r#"{"keys":["k1","k2","k3","k4"]}"#;
    let cases = [
        // Riak §11.1: equality and range over keys.
        json("/buckets/b/index/$key/k2", r#"{"keys":["k2"]}"#),
        json("/buckets/b/index/%24key/k2", r#"{"keys":["k2"]}"#),
        json("/buckets/b/index/$KEY/k2", r#"{"keys":["k2"]}"#),
        json("/buckets/b/index/$key/k9", r#"{"keys":[]}"#),
        json("/buckets/b/index/$key/k2/k3", r#"{"keys":["k2","k3"]}"#),
        json("/buckets/b/index/$key/a/z", all),
        json("/types/maps/buckets/b/index/$key/a/z", r#"{"keys":["x1"]}"#),
        // Riak §11.1: all keys, whatever value is given.
        json("/buckets/b/index/$bucket/b", all),
        json("/buckets/b/index/$bucket/_", all),
        json("/buckets/b/index/$bucket/z/a", all),
        json("/buckets/none/index/$bucket/none", r#"{"keys":[]}"#),
    ];
    check(&people().await, &cases).await;
}

#[tokio::test]
async fn terms_are_returned_with_ranges_of_fields() {
    let cases = [
        // Riak §11.2: pairs of a term and a key, terms as strings.
        json(
            "/buckets/b/index/name_bin/a/c?return_terms=true",
            r#"{"results":[{"alice":"k1"},{"bob":"k2"},{"bob":"k3"}]}"#,
        ),
        json(
            "/buckets/b/index/age_int/-10/2000000000000000000000000?return_terms=TRUE",
            r#"{"results":[{"-5":"k2"},{"30":"k1"},{"1000000000000000000000000":"k3"}]}"#,
        ),
        json("/buckets/b/index/name_bin/x/y?return_terms=true", r#"{"results":[]}"#),
        json("/buckets/b/index/name_bin/alice/alice?return_terms=true", r#"{"results":[{"alice":"k1"}]}"#),
        // Riak §11.2: no effect on equality and on keys.
        json("/buckets/b/index/name_bin/bob?return_terms=true", r#"{"keys":["k2","k3"]}"#),
        json("/buckets/b/index/$key/k1/k2?return_terms=true", r#"{"keys":["k1","k2"]}"#),
        json(
            "/buckets/b/index/$bucket/b?return_terms=true&max_results=9",
            r#"{"keys":["k1","k2","k3","k4"]}"#,
        ),
        json("/buckets/b/index/name_bin/bob/bob?return_terms=false", r#"{"keys":["k2","k3"]}"#),
        // Riak §1.3: the first of repeated names wins.
        json(
            "/buckets/b/index/name_bin/bob/bob?return_terms=false&return_terms=true",
            r#"{"keys":["k2","k3"]}"#,
        ),
    ];
    check(&people().await, &cases).await;
}

#[tokio::test]
async fn results_are_limited_and_go_on() {
    let cases = [
        // Riak §11.3: so many came, so there is a continuation.
        json(
            "/buckets/b/index/name_bin/a/z?max_results=2",
            r#"{"keys":["k1","k2"],"continuation":"AQNib2JrMg"}"#,
        ),
        json(
            "/buckets/b/index/name_bin/a/z?max_results=2&continuation=AQNib2JrMg",
            r#"{"keys":["k3","k3"],"continuation":"AQVjYXJvbGsz"}"#,
        ),
        // Riak §11.3: even if nothing follows, so the last page may be empty.
        json("/buckets/b/index/name_bin/a/z?max_results=2&continuation=AQVjYXJvbGsz", r#"{"keys":[]}"#),
        json("/buckets/b/index/name_bin/a/z?max_results=5", r#"{"keys":["k1","k2","k3","k3"]}"#),
        json(
            "/buckets/b/index/name_bin/a/b?max_results=1&return_terms=true",
            r#"{"results":[{"alice":"k1"}],"continuation":"AQVhbGljZWsx"}"#,
        ),
        json(
            "/buckets/b/index/age_int/-9/9?max_results=1",
            r#"{"keys":["k2"],"continuation":"AQYA_____sprMg"}"#,
        ),
        json("/buckets/b/index/$key/a/z?max_results=1", r#"{"keys":["k1"],"continuation":"AQBrMQ"}"#),
        json(
            "/buckets/b/index/$bucket/b?max_results=1&continuation=AQBrMQ",
            r#"{"keys":["k2"],"continuation":"AQBrMg"}"#,
        ),
        json("/buckets/b/index/name_bin/bob?max_results=1", r#"{"keys":["k2"],"continuation":"AQNib2JrMg"}"#),
        // A continuation without a limit goes on to the end.
        json("/buckets/b/index/name_bin/a/z?continuation=AQVhbGljZWsx", r#"{"keys":["k2","k3","k3"]}"#),
        json(
            "/buckets/b/index/name_bin/a/z?max_results=99999999999999999999",
            r#"{"keys":["k1","k2","k3","k3"]}"#,
        ),
        // Riak §19: results are in order whatever is asked for.
        json("/buckets/b/index/name_bin/a/z?pagination_sort=true", r#"{"keys":["k1","k2","k3","k3"]}"#),
        json("/buckets/b/index/name_bin/a/z?pagination_sort=false", r#"{"keys":["k1","k2","k3","k3"]}"#),
        // A continuation that was made up opens nothing outside of the range.
        json("/buckets/b/index/name_bin/bob/bob?continuation=AQVhbGljZWsx", r#"{"keys":["k2","k3"]}"#),
        json("/buckets/b/index/name_bin/carol?continuation=AQVhbGljZWsx", r#"{"keys":["k3"]}"#),
        json("/buckets/b/index/name_bin/bob/bob?continuation=AQVjYXJvbGsz", r#"{"keys":[]}"#),
        json("/buckets/b/index/$key/k2/k3?continuation=AQBrMQ", r#"{"keys":["k2","k3"]}"#),
        json("/buckets/b/index/$key/k2/k3?continuation=AQBrNA", r#"{"keys":[]}"#),
    ];
    check(&people().await, &cases).await;
}

#[tokio::test]
async fn terms_are_searched_for_patterns() {
    let cases = [
        // Riak §11.5: an unanchored search, before results are counted.
        json("/buckets/b/index/name_bin/a/z?term_regex=o", r#"{"keys":["k2","k3","k3"]}"#),
        json("/buckets/b/index/name_bin/a/z?term_regex=%5Ec", r#"{"keys":["k3"]}"#),
        json(
            "/buckets/b/index/name_bin/a/z?term_regex=^.l&return_terms=true",
            r#"{"results":[{"alice":"k1"}]}"#,
        ),
        json(
            "/buckets/b/index/name_bin/a/z?term_regex=l&max_results=2",
            r#"{"keys":["k1","k3"],"continuation":"AQVjYXJvbGsz"}"#,
        ),
        json("/buckets/b/index/name_bin/a/z?term_regex=l&max_results=3", r#"{"keys":["k1","k3"]}"#),
        json("/buckets/b/index/name_bin/bob?term_regex=x", r#"{"keys":[]}"#),
        json("/buckets/b/index/name_bin/a/z?term_regex=", r#"{"keys":["k1","k2","k3","k3"]}"#),
        // Riak §11.5: terms are bytes.
        json("/buckets/b/index/name_bin/a/%FF?term_regex=^..$", r#"{"keys":["k4"]}"#),
        json("/buckets/b/index/name_bin/a/%FF?term_regex=%5C%5Cxbc$", r#"{"keys":[]}"#),
        json("/buckets/b/index/name_bin/a/%FF?term_regex=%5Cxbc$", r#"{"keys":["k4"]}"#),
        // Riak §11.5: for keys, the key.
        json("/buckets/b/index/$key/a/z?term_regex=[24]", r#"{"keys":["k2","k4"]}"#),
        json("/buckets/b/index/$bucket/b?term_regex=3", r#"{"keys":["k3"]}"#),
    ];
    check(&people().await, &cases).await;
}

#[tokio::test]
async fn what_is_malformed_is_refused() {
    let bad_term = |content| text("/buckets/b/index/age_int/old", 400, content);
    let more = "Invalid index query. A path has one term, or the least and the greatest one\n";
    let continuation = "Invalid \"continuation\". It is none that a query of this index has returned\n";
    let cases = [
        // Riak §11.6: fields without a known ending.
        text("/buckets/b/index/name/bob", 400, "Unknown field type for field: 'name'.\n"),
        text("/buckets/b/index/Name/a/b", 400, "Unknown field type for field: 'name'.\n"),
        text("/buckets/b/index/$other/a", 400, "Unknown field type for field: '$other'.\n"),
        // Riak §11.6: integers that are none.
        bad_term("Could not parse field 'age_int', value 'old'.\n"),
        text("/buckets/b/index/age_int/1/1.5", 400, "Could not parse field 'age_int', value '1.5'.\n"),
        text("/buckets/b/index/age_int/+1", 400, "Could not parse field 'age_int', value ' 1'.\n"),
        // Riak §11.6: parameters.
        text(
            "/buckets/b/index/name_bin/a?max_results=0",
            400,
            "Invalid \"max_results\". \"0\" is not a positive integer\n",
        ),
        text(
            "/buckets/b/index/name_bin/a?max_results=-1",
            400,
            "Invalid \"max_results\". \"-1\" is not a positive integer\n",
        ),
        text(
            "/buckets/b/index/name_bin/a?max_results=ten",
            400,
            "Invalid \"max_results\". \"ten\" is not a positive integer\n",
        ),
        text(
            "/buckets/b/index/name_bin/a/b?return_terms=yes",
            400,
            "return_terms query parameter must be true or false\n",
        ),
        text(
            "/buckets/b/index/name_bin/a/b?pagination_sort=1",
            400,
            "pagination_sort query parameter must be true or false\n",
        ),
        text("/buckets/b/index/name_bin/a?timeout=soon", 400, "Bad timeout value \"soon\"\n"),
        // Riak §11.6: continuations that no query has returned.
        text("/buckets/b/index/name_bin/a?continuation=!", 400, continuation),
        text("/buckets/b/index/name_bin/a?continuation=", 400, continuation),
        text("/buckets/b/index/name_bin/a?continuation=AQNib2JrMg==", 400, continuation),
        text("/buckets/b/index/name_bin/a?continuation=g2gCbQAAAAFh", 400, continuation),
        text("/buckets/b/index/$key/a/z?continuation=AQNib2JrMg", 400, continuation),
        // Riak §11.5: patterns of numbers.
        text(
            "/buckets/b/index/age_int/1/9?term_regex=1",
            400,
            "Invalid \"term_regex\". An index of integers has no text\n",
        ),
        text(
            "/buckets/b/index/name_bin/a?term_regex=%FF",
            400,
            "Invalid \"term_regex\". The pattern is not UTF-8\n",
        ),
        // Riak §11.6, §19: more than two terms.
        text("/buckets/b/index/name_bin/a/b/c", 400, more),
        text("/buckets/b/index/name_bin/a/b/c/d", 400, more),
        text("/types/maps/buckets/b/index/name_bin/a/b/c", 400, more),
        // Riak §1.5: what is malformed is found before a type that is unknown.
        text("/types/unknown/buckets/b/index/name/a", 400, "Unknown field type for field: 'name'.\n"),
        // Riak §2, §19: an unknown type.
        text("/types/unknown/buckets/b/index/name_bin/a", 404, "Unknown bucket type: unknown\n"),
        text("/types/unknown/buckets/b/index/$key/a/b", 404, "Unknown bucket type: unknown\n"),
    ];
    check(&people().await, &cases).await;
}

/// Riak §11.5: what does not compile, and what would take too much memory.
#[tokio::test]
async fn patterns_that_do_not_compile_are_refused() {
    for client in clients(&people().await) {
        for pattern in ["(", "[", "a%7B2,1%7D", "(a)%5C1", "(?=a)", "a%7B1000%7D%7B1000%7D"] {
            let mut response =
                get(&client, &format!("/buckets/b/index/name_bin/a?term_regex={pattern}")).await;
            assert_eq!(response.status(), 400, "{pattern}");
            let text = response.text().await.expect("a text");
            assert!(text.starts_with("Invalid \"term_regex\". "), "{pattern}: {text}");
        }
    }
}

/// Riak §1.5, §1.7: a query offers one media type, and a streamed one another.
#[tokio::test]
async fn results_are_of_one_media_type() {
    for client in clients(&people().await) {
        for (query, accept, status) in [
            ("", "application/json", 200),
            ("", "multipart/mixed, application/json, */*;q=0.5", 200),
            ("", "text/html", 406),
            ("?stream=true", "*/*", 200),
            ("?stream=true", "multipart/mixed", 200),
            ("?stream=true", "multipart/mixed, application/json, */*;q=0.5", 200),
            ("?stream=true", "application/json", 406),
            ("?max_results=0", "text/html", 400),
        ] {
            let path = format!("/buckets/b/index/name_bin/a{query}");
            let call = client.get("http://test/").path(&*path).header("accept", accept);
            assert_eq!(call.send().await.expect("an answer").status(), status, "{path} {accept}");
        }
        // Riak §1.4, §2: other methods.
        let put = client.put("http://test/").path("/buckets/b/index/name_bin/a").send().await;
        let put = put.expect("an answer");
        assert_eq!(put.status(), 405);
        assert_eq!(put.headers().text("allow"), Some("GET, HEAD"));
    }
}

/// Riak §3.5, §11.1: siblings give all of their entries, deleted contents none.
#[tokio::test]
async fn entries_are_those_of_all_contents() {
    let store = people().await;
    put(&store, "b", "k1", Seed::new(&[("name_bin", "zoe")]).sibling()).await;
    put(&store, "b", "k1", Seed::new(&[("name_bin", "alice")]).sibling()).await;
    put(&store, "b", "k2", Seed::deleted()).await;
    put(&store, "b", "k3", Seed::new(&[("name_bin", "dora")])).await;
    let cases = [
        json(
            "/buckets/b/index/name_bin/a/zz?return_terms=true",
            r#"{"results":[{"alice":"k1"},{"dora":"k3"},{"zoe":"k1"}]}"#,
        ),
        json("/buckets/b/index/age_int/-9/99", r#"{"keys":["k1"]}"#),
        // Riak §3.5: a key may be found until its object is removed.
        json("/buckets/b/index/$key/k2", r#"{"keys":["k2"]}"#),
    ];
    check(&store, &cases).await;
}

/// Riak §11.1: terms are bytes, of any length.
#[tokio::test]
async fn any_bytes_are_terms() {
    let store = open(Memory::new()).await;
    let long = vec![b't'; 60_000];
    let terms: [&[u8]; 6] = [b"\0", b"\0\0", b"\0\xff", b"a\0b", b"\xff", &long];
    for (number, term) in terms.iter().enumerate() {
        put(&store, "b", format!("k{number}"), Seed::new(&[(&b"t_bin"[..], term)])).await;
    }
    put(&store, "b", b"\xff\"}", Seed::new(&[("t_bin", "b")])).await;
    for client in clients(&store) {
        for (path, content) in [
            ("/buckets/b/index/t_bin/%00/%00%FF", "{\"keys\":[\"k0\",\"k1\",\"k2\"]}"),
            ("/buckets/b/index/t_bin/%00%00", "{\"keys\":[\"k1\"]}"),
            ("/buckets/b/index/t_bin/%00/%00?return_terms=true", "{\"results\":[{\"\\u0000\":\"k0\"}]}"),
            ("/buckets/b/index/t_bin/a%00/a%01?return_terms=true", "{\"results\":[{\"a\\u0000b\":\"k3\"}]}"),
            ("/buckets/b/index/t_bin/%FE/%FF?return_terms=true", "{\"results\":[{\"\u{efff}\":\"k4\"}]}"),
            ("/buckets/b/index/t_bin/b", "{\"keys\":[\"\u{efff}\\\"\\u007d\"]}"),
        ] {
            assert_eq!(get(&client, path).await.text().await.expect("whole content"), content, "{path}");
        }
        let long = "t".repeat(60_000);
        let path = format!("/buckets/b/index/t_bin/{long}/{long}?return_terms=true&max_results=1");
        let answer: serde_json::Value = get(&client, &path).await.json().await.expect("JSON");
        assert_eq!(answer["results"][0][&long], "k5");
        let continuation = answer["continuation"].as_str().expect("a continuation");
        let path = format!("/buckets/b/index/t_bin/t/u?continuation={continuation}");
        assert_eq!(get(&client, &path).await.text().await.expect("whole content"), r#"{"keys":[]}"#);
    }
}

/// Riak §1.2: keys of the greatest length are queried as they are, and percent-encoded.
#[tokio::test]
async fn the_longest_keys_are_found() {
    let store = open(Memory::new()).await;
    let key = "k/".repeat(32_768);
    put(&store, "b", &key, Seed::new(&[("t_bin", "term")])).await;
    for client in clients(&store) {
        for path in [
            format!("/buckets/b/index/$key/{}", key.replace('/', "%2f")),
            "/buckets/b/index/t_bin/term".into(),
        ] {
            let found = keys(&get(&client, &path).await.text().await.expect("whole content"));
            assert_eq!(found, std::slice::from_ref(&key));
        }
    }
}

fn keys(json: &str) -> Vec<String> {
    let object: serde_json::Value = serde_json::from_str(json).expect("an object");
    let keys = object["keys"].as_array().expect("keys");
    keys.iter().map(|key| key.as_str().expect("text").to_owned()).collect()
}
