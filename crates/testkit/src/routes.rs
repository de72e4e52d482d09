//! Lists of routes, and a path for each: 40 as a small service has them, 400 as GitHub's REST API has them.
//!
//! Captures are `{name}`, and `{*name}` at the end. At one place all patterns name a capture alike, since
//! some routers want that.

/// The routes of an object store after Riak's HTTP API, and those of a service for lists of things to do.
pub const SMALL: [&str; 40] = [
    "/",
    "/ping",
    "/stats",
    "/buckets",
    "/buckets/{bucket}/props",
    "/buckets/{bucket}/keys",
    "/buckets/{bucket}/keys/{key}",
    "/buckets/{bucket}/keys/{key}/{*walk}",
    "/buckets/{bucket}/index/{field}/{value}",
    "/buckets/{bucket}/index/{field}/{value}/{end}",
    "/buckets/{bucket}/counters/{key}",
    "/buckets/{bucket}/query",
    "/types/{type}/props",
    "/types/{type}/buckets",
    "/types/{type}/buckets/{bucket}/props",
    "/types/{type}/buckets/{bucket}/keys",
    "/types/{type}/buckets/{bucket}/keys/{key}",
    "/types/{type}/buckets/{bucket}/keys/{key}/{*walk}",
    "/types/{type}/buckets/{bucket}/index/{field}/{value}",
    "/types/{type}/buckets/{bucket}/index/{field}/{value}/{end}",
    "/types/{type}/buckets/{bucket}/datatypes",
    "/types/{type}/buckets/{bucket}/datatypes/{key}",
    "/types/{type}/buckets/{bucket}/query",
    "/riak",
    "/riak/{bucket}",
    "/riak/{bucket}/{key}",
    "/mapred",
    "/cachedtrees/{*range}",
    "/aaebucketlist",
    "/queuename/{queue}",
    "/membership_request",
    "/lists",
    "/lists/{list}",
    "/lists/{list}/items",
    "/lists/{list}/items/{item}",
    "/lists/{list}/items/{item}/comments",
    "/lists/{list}/items/{item}/comments/{comment}",
    "/tags",
    "/tags/{tag}",
    "/users/{user}",
];

/// Those of GitHub's that are no collection.
const SINGLE: [&str; 14] = [
    "/",
    "/emojis",
    "/events",
    "/feeds",
    "/meta",
    "/octocat",
    "/rate_limit",
    "/versions",
    "/zen",
    "/markdown",
    "/search/code",
    "/search/issues",
    "/repos/{owner}/{repo}",
    "/repos/{owner}/{repo}/tarball/{*ref}",
];

/// Prefixes, the name of what an item is captured as, and collections: each is a route, and with an item
/// behind it another.
const COLLECTIONS: [(&str, &str, &str); 19] = [
    (
        "",
        "id",
        "gists licenses codes_of_conduct notifications/threads app/installations marketplace_listing/plans enterprises \
         gitignore/templates classrooms assignments advisories projects networks",
    ),
    ("", "username", "users"),
    ("", "org", "orgs"),
    (
        "/users/{username}",
        "id",
        "events followers following gists gpg_keys keys orgs packages projects received_events repos social_accounts \
         starred subscriptions ssh_signing_keys attestations",
    ),
    (
        "/user",
        "id",
        "blocks codespaces emails followers following gists gpg_keys installations keys marketplace_purchases \
         memberships/orgs migrations orgs packages projects repos repository_invitations ssh_signing_keys starred \
         subscriptions teams",
    ),
    (
        "/orgs/{org}",
        "id",
        "actions/runners actions/runner-groups actions/secrets actions/variables actions/hosted-runners attestations \
         blocks codespaces/secrets custom-properties dependabot/secrets events hooks installations invitations issues \
         members memberships migrations outside_collaborators packages personal-access-tokens projects \
         properties/schema public_members repos rulesets secret-scanning/alerts security-advisories security-managers \
         settings/network-configurations",
    ),
    ("/orgs/{org}", "team", "teams"),
    ("/orgs/{org}/teams/{team}", "id", "discussions invitations members memberships projects repos teams"),
    ("/orgs/{org}/teams/{team}/discussions/{id}", "sub_id", "comments reactions"),
    (
        "/repos/{owner}/{repo}",
        "id",
        "actions/artifacts actions/caches actions/jobs actions/runners actions/runs actions/secrets actions/variables \
         actions/workflows activity assignees attestations autolinks branches check-runs check-suites \
         code-scanning/alerts code-scanning/analyses codespaces collaborators comments commits compare contents \
         contributors dependabot/alerts dependabot/secrets deployments environments events forks git/blobs git/commits \
         git/refs git/tags git/trees hooks import/authors invitations issues issues/comments issues/events keys labels \
         languages milestones notifications pages/builds projects properties/values pulls pulls/comments releases \
         releases/assets releases/tags rulesets secret-scanning/alerts security-advisories stargazers statuses \
         subscribers tags teams topics traffic/popular",
    ),
    (
        "/repos/{owner}/{repo}/actions/runs/{id}",
        "sub_id",
        "approvals artifacts attempts jobs logs pending_deployments",
    ),
    (
        "/repos/{owner}/{repo}/issues/{id}",
        "sub_id",
        "assignees comments events labels reactions timeline sub_issues",
    ),
    ("/repos/{owner}/{repo}/pulls/{id}", "sub_id", "comments commits files requested_reviewers reviews"),
    (
        "/repos/{owner}/{repo}/branches/{id}/protection",
        "sub_id",
        "required_status_checks restrictions/apps restrictions/teams",
    ),
    ("/repos/{owner}/{repo}/deployments/{id}", "sub_id", "statuses"),
    ("/repos/{owner}/{repo}/hooks/{id}", "sub_id", "deliveries"),
    (
        "/repos/{owner}/{repo}/environments/{id}",
        "sub_id",
        "secrets variables deployment-branch-policies deployment_protection_rules",
    ),
    ("/repos/{owner}/{repo}/releases/{id}", "sub_id", "assets reactions annotations"),
    (
        "/repos/{owner}/{repo}/commits/{id}",
        "sub_id",
        "branches-where-head check-runs check-suites comments pulls status statuses",
    ),
];

/// So many routes, 40 or 400.
///
/// # Panics
/// When asked for another number.
pub fn routes(count: usize) -> Vec<String> {
    match count {
        40 => SMALL.map(str::to_owned).to_vec(),
        400 => large(),
        _ => panic!("no list of {count} routes"),
    }
}

fn large() -> Vec<String> {
    let mut routes = SINGLE.map(str::to_owned).to_vec();
    for (prefix, item, collections) in COLLECTIONS {
        for collection in collections.split_whitespace() {
            routes.push(format!("{prefix}/{collection}"));
            routes.push(format!("{prefix}/{collection}/{{{item}}}"));
        }
    }
    routes
}

/// A path that a pattern matches.
pub fn path(pattern: &str) -> String {
    let value = |segment: &str| match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        None => segment.to_owned(),
        Some("owner" | "org" | "username" | "user") => "octo-engineering".to_owned(),
        Some("repo" | "bucket" | "list") => "hello-world".to_owned(),
        Some("team" | "type" | "tag" | "queue") => "default".to_owned(),
        Some("key") => "user%3A42-profile-2026".to_owned(),
        Some(name) if name.starts_with('*') => "2026-11/part-0017/data.bin".to_owned(),
        Some(_) => "1296269".to_owned(),
    };
    let segments: Vec<String> = pattern.split('/').map(value).collect();
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_asked_for_and_none_twice() {
        for count in [40, 400] {
            let mut routes = routes(count);
            assert_eq!(routes.len(), count);
            routes.sort();
            routes.dedup();
            assert_eq!(routes.len(), count);
        }
        assert_eq!(path("/buckets/{bucket}/keys/{key}"), "/buckets/hello-world/keys/user%3A42-profile-2026");
        assert_eq!(path("/"), "/");
    }
}
