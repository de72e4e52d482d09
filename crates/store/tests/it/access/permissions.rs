//! Permissions: on each path, by each method, in buckets and in types.

use alula_store::fuzzing::paths;

use crate::access::served::{PASSWORD, Served, said, user, user_with};

const ALL: [&str; 6] = ["get", "put", "delete", "list", "index", "admin"];
const METHODS: [&str; 5] = ["GET", "HEAD", "PUT", "POST", "DELETE"];

/// The needs of the requests of a path: a permission by method, in the order of [`METHODS`]; `-` for a method
/// that it has not, `user` for any user, `open` for none.
const NEEDS: [(&str, [&str; 5]); 28] = [
    ("/", ["user", "user", "-", "-", "-"]),
    ("/ping", ["user", "user", "-", "-", "-"]),
    ("/stats", ["open", "open", "-", "-", "-"]),
    ("/mapred", ["user", "user", "-", "user", "-"]),
    ("/buckets", ["list", "list", "-", "-", "-"]),
    ("/riak", ["list", "list", "-", "-", "-"]),
    ("/riak/{bucket}", ["get", "get", "admin", "put", "-"]),
    ("/riak/{bucket}/{key}", ["get", "get", "put", "put", "delete"]),
    ("/riak/{bucket}/{key}/{*steps}", ["get", "get", "-", "get", "-"]),
    ("/buckets/{bucket}/props", ["get", "get", "admin", "-", "admin"]),
    ("/buckets/{bucket}/keys", ["list", "list", "-", "put", "-"]),
    ("/buckets/{bucket}/keys/{key}", ["get", "get", "put", "put", "delete"]),
    ("/buckets/{bucket}/keys/{key}/{*steps}", ["get", "get", "-", "get", "-"]),
    ("/buckets/{bucket}/index/{field}/{low}", ["index", "index", "-", "-", "-"]),
    ("/buckets/{bucket}/index/{field}/{low}/{high}", ["index", "index", "-", "-", "-"]),
    ("/buckets/{bucket}/index/{field}/{low}/{high}/{*rest}", ["index", "index", "-", "-", "-"]),
    ("/buckets/{bucket}/counters/{key}", ["get", "-", "-", "put", "-"]),
    ("/types/{type}/buckets", ["list", "list", "-", "-", "-"]),
    ("/types/{type}/props", ["get", "get", "admin", "-", "-"]),
    ("/types/{type}/buckets/{bucket}/props", ["get", "get", "admin", "-", "admin"]),
    ("/types/{type}/buckets/{bucket}/keys", ["list", "list", "-", "put", "-"]),
    ("/types/{type}/buckets/{bucket}/keys/{key}", ["get", "get", "put", "put", "delete"]),
    ("/types/{type}/buckets/{bucket}/keys/{key}/{*steps}", ["get", "get", "-", "get", "-"]),
    ("/types/{type}/buckets/{bucket}/index/{field}/{low}", ["index", "index", "-", "-", "-"]),
    ("/types/{type}/buckets/{bucket}/index/{field}/{low}/{high}", ["index", "index", "-", "-", "-"]),
    ("/types/{type}/buckets/{bucket}/index/{field}/{low}/{high}/{*rest}", ["index", "index", "-", "-", "-"]),
    ("/types/{type}/buckets/{bucket}/datatypes", ["get", "get", "-", "put", "-"]),
    ("/types/{type}/buckets/{bucket}/datatypes/{key}", ["get", "get", "-", "put", "-"]),
];

/// The path of a request to a pattern.
fn filled(pattern: &str) -> String {
    let parts =
        [("{type}", "plain"), ("{bucket}", "b"), ("{key}", "k"), ("{*steps}", "_,_,1"), ("{field}", "f_bin")];
    let parts = parts.into_iter().chain([("{low}", "a"), ("{high}", "z"), ("{*rest}", "more")]);
    parts.fold(pattern.to_owned(), |path, (name, value)| path.replace(name, value))
}

#[test]
fn every_path_stands_in_the_table() {
    let mut own: Vec<_> = paths().collect();
    let mut here: Vec<_> = NEEDS.iter().map(|(path, _)| *path).collect();
    own.sort_unstable();
    here.sort_unstable();
    assert_eq!(own, here);
}

/// On every path, by every method: nobody is 401, a user who has all permissions but the one that it takes is
/// told which is missing, and one who has that one alone passes.
#[tokio::test]
async fn every_path_asks_for_its_permission() {
    let mut text = user("none", "");
    for name in ALL {
        text += &user_with(&format!("only-{name}"), &[name]);
        let others: Vec<_> = ALL.into_iter().filter(|other| *other != name).collect();
        text += &user_with(&format!("all-but-{name}"), &others);
    }
    let served = Served::start(&text).await;
    for client in served.clients() {
        for (pattern, needs) in NEEDS {
            let path = filled(pattern);
            for (method, need) in METHODS.into_iter().zip(needs) {
                let what = format!("{method} {path}");
                let nobody = client.request(method, served.https(&path)).redirects(0).send().await.unwrap();
                let nobody = nobody.status().as_u16();
                if need == "-" {
                    assert_eq!(nobody, 405, "{what}");
                    continue;
                }
                assert_eq!(nobody == 401, need != "open", "{what}: {nobody}");
                let none = said(served.ask(&client, "none", method, &path).await).await;
                if ["open", "user"].contains(&need) {
                    assert!(none.0 != 401 && !none.1.starts_with("Permission"), "{what}: {none:?}");
                    continue;
                }
                assert_eq!(none.0, 403, "{what}");
                let others = said(served.ask(&client, &format!("all-but-{need}"), method, &path).await).await;
                assert_eq!(others.0, 403, "{what}");
                if method != "HEAD" {
                    let bucket = if pattern.contains("{bucket}") { "/b" } else { "" };
                    let bucket_type = if pattern.contains("{type}") { "plain" } else { "default" };
                    let text = format!(
                        "Permission denied: user 'all-but-{need}' does not have '{need}' on {bucket_type}{bucket}\n"
                    );
                    assert_eq!(others.1, text, "{what}");
                }
                let only = said(served.ask(&client, &format!("only-{need}"), method, &path).await).await;
                assert!(only.0 != 401 && !only.1.starts_with("Permission denied"), "{what}: {only:?}");
            }
        }
        // Riak §1.5: methods go before access, and no path needs no user.
        for (method, path, status) in
            [("PATCH", "/buckets/b/keys/k", 501), ("OPTIONS", "/ping", 405), ("GET", "/none", 404)]
        {
            let response = client.request(method, served.https(path)).send().await.unwrap();
            assert_eq!(response.status(), status, "{method} {path}");
        }
    }
}

/// A user of one bucket sees nothing of others, however a path is written.
#[tokio::test]
async fn grants_are_of_a_bucket_a_prefix_or_a_type() {
    let text = user(
        "ann",
        "[[users.ann.grants]]\nallow = ['get', 'list']\ntype = 'default'\nbucket = 'own'\n\
         [[users.ann.grants]]\nallow = ['get', 'list']\ntype = 'default'\nbucket-prefix = 'ann-'\n\
         [[users.ann.grants]]\nallow = ['get', 'list']\ntype = 'plain'",
    );
    let served = Served::start(&text).await;
    for client in served.clients() {
        for (path, status) in [
            ("/buckets/own/keys/k", 404),
            ("/types/default/buckets/own/keys/k", 404),
            ("/riak/own/k", 404),
            ("/buckets/%6Fwn/keys/k", 404),
            ("//buckets//own//keys//k//", 404),
            ("/buckets/own/keys?keys=true", 200),
            ("/buckets/ann-1/keys/k", 404),
            ("/types/plain/buckets/any/keys/k", 404),
            ("/types/plain/buckets?buckets=true", 200),
            ("/buckets/other/keys/k", 403),
            ("/buckets/own2/keys/k", 403),
            ("/buckets/Own/keys/k", 403),
            ("/buckets/own%00/keys/k", 403),
            ("/buckets/own%2Fother/keys/k", 403),
            ("/buckets/ann/keys/k", 403),
            ("/riak/other/k", 403),
            ("/types/maps/buckets/own/keys/k", 403),
            ("/types/none/buckets/own/keys/k", 403),
            ("/types/maps/props", 403),
            ("/types/plain/props", 200),
            ("/buckets?buckets=true", 403),
            ("/riak?buckets=true", 403),
            ("/types/default/buckets?buckets=true", 403),
            ("/riak/other?keys=true", 403),
        ] {
            let answer = said(served.ask(&client, "ann", "GET", path).await).await;
            assert_eq!(answer.0, status, "{path}: {}", answer.1);
        }
    }
}

/// Keys on the path of older clients are listed with `list` alone, its properties read with `get` alone.
#[tokio::test]
async fn the_old_path_asks_for_what_it_shows() {
    let text =
        user_with("lists", &["list"]) + &user_with("gets", &["get"]) + &user_with("both", &["get", "list"]);
    let served = Served::start(&text).await;
    let [client, _] = served.clients();
    for (query, lists, gets) in [
        ("", 403, 200),
        ("?props=true", 403, 200),
        ("?keys=true", 403, 403),
        ("?keys=stream&props=false", 200, 403),
        ("?keys=true&props=false", 200, 403),
        ("?keys=true&timeout=no", 403, 403),
        ("?%6Beys=true&props=false", 200, 403),
    ] {
        let path = format!("/riak/b{query}");
        assert_eq!(served.ask(&client, "lists", "GET", &path).await.status(), lists, "{path}");
        assert_eq!(served.ask(&client, "gets", "GET", &path).await.status(), gets, "{path}");
        let both = served.ask(&client, "both", "GET", &path).await.status().as_u16();
        assert_eq!(both, if query.contains("timeout") { 400 } else { 200 }, "{path}");
    }
}

/// Someone who may write but not read learns nothing of what is there: neither from an answer with the
/// object, nor from a condition.
#[tokio::test]
async fn a_write_that_reads_needs_both() {
    let served = Served::start(
        &(user_with("writes", &["put", "delete"]) + &user_with("both", &["get", "put", "delete"])),
    )
    .await;
    for client in served.clients() {
        for (method, path, field, content) in [
            ("PUT", "/buckets/b/keys/k?returnbody=true", None, "v"),
            ("PUT", "/buckets/b/keys/k?return%62ody=TRUE", None, "v"),
            ("POST", "/buckets/b/keys?returnbody=true", None, "v"),
            ("PUT", "/buckets/b/keys/k", Some(("if-none-match", "*")), "v"),
            ("PUT", "/buckets/b/keys/k", Some(("if-match", "\"a\"")), "v"),
            ("PUT", "/buckets/b/keys/k", Some(("if-unmodified-since", "Sun, 06 Nov 1994 08:49:37 GMT")), "v"),
            ("PUT", "/buckets/b/keys/k", Some(("x-riak-if-not-modified", "AQAAAAAAAAAHAwEA")), "v"),
            ("DELETE", "/buckets/b/keys/k", Some(("if-match", "\"a\"")), ""),
            ("POST", "/buckets/b/counters/c?returnvalue=true", None, "1"),
            ("POST", "/types/maps/buckets/b/datatypes/k?returnbody=true", None, "{}"),
        ] {
            let call = |user: &str| {
                let mut call = client.request(method, served.https(path)).basic_auth(user, PASSWORD);
                call = call.header("content-type", "text/plain").body(content);
                if let Some((name, value)) = field { call.header(name, value) } else { call }
            };
            let refused = said(call("writes").send().await.unwrap()).await;
            assert_eq!(refused.0, 403, "{method} {path}");
            assert!(refused.1.contains("does not have 'get'"), "{}", refused.1);
            let let_through = call("both").send().await.unwrap().status().as_u16();
            assert!(![401, 403].contains(&let_through), "{method} {path}: {let_through}");
        }
        let plain = client.put(served.https("/buckets/b/keys/plain")).basic_auth("writes", PASSWORD);
        let plain = plain.header("content-type", "text/plain").body("v").send().await.unwrap();
        assert_eq!(plain.status(), 204);
    }
}

/// Links lead no further than their reader may go.
#[tokio::test]
async fn a_walk_stays_where_its_user_may_read() {
    let reads = |name: &str, bucket: &str| {
        format!("[[users.{name}.grants]]\nallow = ['get']\ntype = 'default'\nbucket = '{bucket}'\n")
    };
    let text =
        user("ann", &(reads("ann", "open") + &reads("ann", "near"))) + &user_with("root", &["get", "put"]);
    let served = Served::start(&text).await;
    for client in served.clients() {
        for (bucket, link) in [
            ("open", "</buckets/near/keys/k>; riaktag=\"near\", </buckets/closed/keys/k>; riaktag=\"far\""),
            ("near", "</buckets/closed/keys/k>; riaktag=\"far\""),
            ("closed", "</buckets/open/keys/k>; riaktag=\"back\""),
        ] {
            let put =
                client.put(served.https(&format!("/buckets/{bucket}/keys/k"))).basic_auth("root", PASSWORD);
            let put =
                put.header("content-type", "text/plain").header("link", link).body(format!("in {bucket}"));
            assert_eq!(put.send().await.unwrap().status(), 204);
        }
        for (path, status) in [
            ("/buckets/open/keys/k/_,near,1", 200),
            ("/buckets/open/keys/k/near,_,1", 200),
            ("/riak/open/k/near,_,1", 200),
            ("/buckets/open/keys/k/_,_,1", 403),
            ("/buckets/open/keys/k/_,far,0/_,_,1", 403),
            ("/buckets/open/keys/k/_,near,0/_,_,1", 403),
            ("/buckets/closed/keys/k/_,_,1", 403),
        ] {
            let (got, text) = said(served.ask(&client, "ann", "GET", path).await).await;
            assert_eq!(got, status, "{path}: {text}");
            assert!(!text.contains("in closed"), "{path}: {text}");
            if status == 403 {
                assert!(text.contains("does not have 'get' on default/closed"), "{text}");
            }
            assert_eq!(served.ask(&client, "root", "GET", path).await.status(), 200, "{path}");
        }
    }
}

/// Groups give their grants to each of their users, and the group `all` to everybody.
#[tokio::test]
async fn groups_give_to_their_users() {
    let text = "[[groups.readers.grants]]\nallow = ['get']\n[[groups.all.grants]]\nallow = ['list']\ntype = 'plain'\n".to_owned()
        + &user("ann", "groups = ['readers']")
        + &user("bob", "");
    let served = Served::start(&text).await;
    let [client, _] = served.clients();
    for (user, path, status) in [
        ("ann", "/buckets/b/keys/k", 404),
        ("bob", "/buckets/b/keys/k", 403),
        ("ann", "/types/plain/buckets", 200),
        ("bob", "/types/plain/buckets", 200),
        ("bob", "/buckets", 403),
    ] {
        assert_eq!(served.ask(&client, user, "GET", path).await.status(), status, "{user} {path}");
    }
}
