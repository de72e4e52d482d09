// The abilities of the Java client `riak-client` 1.4.4, over HTTP, one method each.
//
//   java -cp 'JARS/*' RiakSuite.java PORT
//
// prints `ok NAME` or `failed NAME: REASON` for every method, and ends with status 1 when one failed.

import com.basho.riak.client.IRiakClient;
import com.basho.riak.client.IRiakObject;
import com.basho.riak.client.IndexEntry;
import com.basho.riak.client.RiakFactory;
import com.basho.riak.client.RiakLink;
import com.basho.riak.client.RiakRetryFailedException;
import com.basho.riak.client.bucket.Bucket;
import com.basho.riak.client.builders.RiakObjectBuilder;
import com.basho.riak.client.cap.DefaultRetrier;
import com.basho.riak.client.cap.Quora;
import com.basho.riak.client.cap.UnresolvedConflictException;
import com.basho.riak.client.cap.VClock;
import com.basho.riak.client.convert.PassThroughConverter;
import com.basho.riak.client.convert.RiakIndex;
import com.basho.riak.client.convert.RiakKey;
import com.basho.riak.client.convert.RiakLinks;
import com.basho.riak.client.convert.RiakUsermeta;
import com.basho.riak.client.http.response.BucketResponse;
import com.basho.riak.client.http.response.FetchResponse;
import com.basho.riak.client.operations.FetchObject;
import com.basho.riak.client.operations.StoreObject;
import com.basho.riak.client.query.MultiFetchFuture;
import com.basho.riak.client.query.NodeStats;
import com.basho.riak.client.query.StreamingOperation;
import com.basho.riak.client.query.indexes.BinIndex;
import com.basho.riak.client.query.indexes.BucketIndex;
import com.basho.riak.client.query.indexes.FetchIndex;
import com.basho.riak.client.query.indexes.IntIndex;
import com.basho.riak.client.query.indexes.KeyIndex;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

public final class RiakSuite {
    /** A check of one ability. */
    interface Check {
        void run() throws Exception;
    }

    /** A value that the client writes as JSON; its annotated members become fields of the request. */
    public static final class Person {
        @RiakKey public String id;
        public String name;
        public int age;
        @RiakIndex(name = "mail") public String mail;
        @RiakIndex(name = "born") public long born;
        @RiakUsermeta(key = "seen") public String seen;
        @RiakLinks public Collection<RiakLink> friends = new ArrayList<>();
    }

    private final String url;
    private final IRiakClient client;

    private RiakSuite(String port) throws Exception {
        url = "http://127.0.0.1:" + port + "/riak";
        client = RiakFactory.httpClient(url);
    }

    public static void main(String[] arguments) throws Exception {
        System.exit(new RiakSuite(arguments[0]).run() ? 0 : 1);
    }

    private boolean run() {
        Map<String, Check> checks = new LinkedHashMap<>();
        checks.put("ping", this::ping);
        checks.put("stats", this::stats);
        checks.put("client_id", this::clientId);
        checks.put("bucket_properties", this::bucketProperties);
        checks.put("bucket_properties_of_quorums", this::bucketPropertiesOfQuorums);
        checks.put("bucket_properties_reset", this::bucketPropertiesReset);
        checks.put("store_and_fetch_text", this::storeAndFetchText);
        checks.put("store_without_key", this::storeWithoutKey);
        checks.put("store_and_fetch_class", this::storeAndFetchClass);
        checks.put("binary_values", this::binaryValues);
        checks.put("large_values", this::largeValues);
        checks.put("keys_of_any_characters", this::keysOfAnyCharacters);
        checks.put("user_metadata", this::userMetadata);
        checks.put("fetch_absent", this::fetchAbsent);
        checks.put("fetch_head", this::fetchHead);
        checks.put("fetch_many", this::fetchMany);
        checks.put("fetch_if_modified", this::fetchIfModified);
        checks.put("quorum_parameters", this::quorumParameters);
        checks.put("siblings_unresolved", this::siblingsUnresolved);
        checks.put("siblings_resolved", this::siblingsResolved);
        checks.put("siblings_returned", this::siblingsReturned);
        checks.put("mutation", this::mutation);
        checks.put("delete", this::delete);
        checks.put("delete_with_context", this::deleteWithContext);
        checks.put("links", this::links);
        checks.put("link_walk", this::linkWalk);
        checks.put("link_walk_of_two_steps", this::linkWalkOfTwoSteps);
        checks.put("index_of_text", this::indexOfText);
        checks.put("index_of_numbers", this::indexOfNumbers);
        checks.put("index_streamed", this::indexStreamed);
        checks.put("index_by_pages", this::indexByPages);
        checks.put("index_of_keys", this::indexOfKeys);
        checks.put("indexes_fetched", this::indexesFetched);
        checks.put("counters", this::counters);
        checks.put("list_keys", this::listKeys);
        checks.put("list_keys_whole", this::listKeysWhole);
        checks.put("list_buckets", this::listBuckets);
        checks.put("store_if_none_match", this::storeIfNoneMatch);
        checks.put("store_if_not_modified", this::storeIfNotModified);
        checks.put("stream_value", this::streamValue);
        boolean passed = true;
        for (Map.Entry<String, Check> check : checks.entrySet()) {
            try {
                check.getValue().run();
                System.out.println("ok " + check.getKey());
            } catch (Throwable error) {
                passed = false;
                System.out.println("failed " + check.getKey() + ": " + error);
                error.printStackTrace();
            }
        }
        client.shutdown();
        return passed;
    }

    private void ping() throws Exception {
        client.ping();
    }

    private void stats() throws Exception {
        store("stats", "key", "value");
        client.fetchBucket("stats").execute().fetch("key").execute();
        int nodes = 0;
        for (NodeStats stats : client.stats()) {
            nodes += 1;
            is(stats.nodeGetsTotal().signum() > 0, "node_gets_total is " + stats.nodeGetsTotal());
            is(stats.nodePutsTotal().signum() > 0, "node_puts_total is " + stats.nodePutsTotal());
            is(stats.ringMembers().length == 1, "ring_members is " + Arrays.toString(stats.ringMembers()));
        }
        same(nodes, 1);
    }

    private void clientId() throws Exception {
        IRiakClient other = RiakFactory.httpClient(url);
        other.setClientId("mine".getBytes(StandardCharsets.UTF_8));
        other.createBucket("client_id").execute().store("key", "value").execute();
        same(value(bucket("client_id"), "key"), "value");
        other.shutdown();
    }

    private void bucketProperties() throws Exception {
        Bucket created = client.createBucket("properties").allowSiblings(true).nVal(1).execute();
        same(created.getAllowSiblings(), true);
        Bucket fetched = client.fetchBucket("properties").execute();
        same(fetched.getAllowSiblings(), true);
        same(fetched.getNVal(), 1);
        same(fetched.getLastWriteWins(), false);
        client.updateBucket(fetched).allowSiblings(false).lastWriteWins(true).execute();
        Bucket updated = client.fetchBucket("properties").execute();
        same(updated.getAllowSiblings(), false);
        same(updated.getLastWriteWins(), true);
        Bucket lazy = client.fetchBucket("properties").lazyLoadBucketProperties().execute();
        same(lazy.getLastWriteWins(), true);
    }

    private void bucketPropertiesOfQuorums() throws Exception {
        client.createBucket("quorums").r(Quora.ALL).w(1).dw(Quora.ONE).rw(Quora.QUORUM).pr(0).pw(0).notFoundOK(false)
            .basicQuorum(true).smallVClock(10).bigVClock(20).youngVClock(30).oldVClock(40).execute();
        Bucket fetched = client.fetchBucket("quorums").execute();
        same(fetched.getR().getSymbolicValue(), Quora.ALL);
        same(fetched.getW().getIntValue(), 1);
        same(fetched.getDW().getSymbolicValue(), Quora.ONE);
        same(fetched.getRW().getSymbolicValue(), Quora.QUORUM);
        same(fetched.getPR().getIntValue(), 0);
        same(fetched.getPW().getIntValue(), 0);
        same(fetched.getNotFoundOK(), false);
        same(fetched.getBasicQuorum(), true);
        same(fetched.getSmallVClock(), 10);
        same(fetched.getBigVClock(), 20);
        same(fetched.getYoungVClock(), 30L);
        same(fetched.getOldVClock(), 40L);
        // The client makes nothing of an empty list.
        same(fetched.getPrecommitHooks(), null);
        is(fetched.getChashKeyFunction() != null, "chash_keyfun is missing");
        is(fetched.getLinkWalkFunction() != null, "linkfun is missing");
    }

    private void bucketPropertiesReset() throws Exception {
        boolean before = client.fetchBucket("reset").execute().getAllowSiblings();
        client.createBucket("reset").allowSiblings(!before).execute();
        client.resetBucket("reset");
        same(client.fetchBucket("reset").execute().getAllowSiblings(), before);
    }

    private void storeAndFetchText() throws Exception {
        Bucket bucket = bucket("text");
        IRiakObject stored = bucket.store("key", "one value").returnBody(true).execute();
        same(stored.getValueAsString(), "one value");
        is(stored.getVClock() != null, "no context after a store");
        IRiakObject fetched = bucket.fetch("key").execute();
        same(fetched.getValueAsString(), "one value");
        same(fetched.getBucket(), "text");
        same(fetched.getKey(), "key");
        same(fetched.getVClockAsString(), stored.getVClockAsString());
        is(fetched.getVtag() != null && fetched.getLastModified() != null, "no vtag or time");
        is(fetched.getContentType().startsWith("text/plain"), fetched.getContentType());
        same(bucket.store("key", "another").execute(), null);
        same(value(bucket, "key"), "another");
    }

    private void storeWithoutKey() throws Exception {
        com.basho.riak.client.http.RiakClient http = new com.basho.riak.client.http.RiakClient(url);
        com.basho.riak.client.http.RiakObject object =
            new com.basho.riak.client.http.RiakObject(http, "keyless", null, "value".getBytes(), "text/plain");
        com.basho.riak.client.http.response.StoreResponse response = http.store(object);
        is(response.isSuccess(), "status " + response.getStatusCode());
        String key = response.getKey();
        is(key != null && !key.isEmpty(), "no key was chosen");
        same(value(bucket("keyless"), key), "value");
        http.shutdown();
    }

    private void storeAndFetchClass() throws Exception {
        Person person = new Person();
        person.id = "ada";
        person.name = "Ada L\u00f6velace";
        person.age = 36;
        person.mail = "ada@example.org";
        person.born = -4884537600000L;
        person.seen = "yesterday";
        person.friends.add(new RiakLink("people", "charles", "friend"));
        Bucket bucket = bucket("people");
        bucket.store(person).execute();
        Person fetched = bucket.fetch("ada", Person.class).execute();
        same(fetched.id, "ada");
        same(fetched.name, person.name);
        same(fetched.age, 36);
        same(fetched.mail, person.mail);
        same(fetched.born, person.born);
        same(fetched.seen, "yesterday");
        same(new ArrayList<>(fetched.friends), new ArrayList<>(person.friends));
        same(bucket.fetchIndex(BinIndex.named("mail")).withValue(person.mail).execute(), Arrays.asList("ada"));
        same(bucket.fetch("ada").execute().getContentType().split(";")[0], "application/json");
    }

    private void binaryValues() throws Exception {
        byte[] bytes = new byte[256];
        for (int at = 0; at < bytes.length; at += 1) bytes[at] = (byte) at;
        Bucket bucket = bucket("binary");
        bucket.store("bytes", bytes).execute();
        is(Arrays.equals(bucket.fetch("bytes").execute().getValue(), bytes), "the bytes changed");
        bucket.store("empty", new byte[0]).execute();
        same(bucket.fetch("empty").execute().getValue().length, 0);
    }

    private void largeValues() throws Exception {
        byte[] bytes = new byte[1 << 20];
        for (int at = 0; at < bytes.length; at += 1) bytes[at] = (byte) (at * 31 >> 3);
        Bucket bucket = bucket("large");
        bucket.store("key", bytes).execute();
        is(Arrays.equals(bucket.fetch("key").execute().getValue(), bytes), "the bytes changed");
    }

    private void keysOfAnyCharacters() throws Exception {
        String[] names = {"\u00fcn\u00efc\u00f6de \u20ac \ud83d\ude00", "a/b", "100%", "a+b", "a b", "?#&=;,", "%2F", "..", "\"'<>\\"};
        for (String name : names) {
            Bucket bucket = bucket("any " + name);
            for (String key : names) {
                bucket.store(key, "value of " + key).execute();
                same(value(bucket, key), "value of " + key);
            }
            same(keys(bucket), new TreeSet<>(Arrays.asList(names)));
            // A list may still name a deleted object.
            for (String key : names) {
                bucket.delete(key).execute();
                same(bucket.fetch(key).execute(), null);
            }
        }
    }

    private void userMetadata() throws Exception {
        IRiakObject object = RiakObjectBuilder.newBuilder("metadata", "key").withValue("value")
            .withContentType("text/x-own").addUsermeta("Colour", "red").addUsermeta("shape", "a round one").build();
        Bucket bucket = bucket("metadata");
        bucket.store(object).withConverter(new PassThroughConverter()).execute();
        IRiakObject fetched = bucket.fetch("key").execute();
        same(fetched.getContentType(), "text/x-own");
        Map<String, String> lower = new LinkedHashMap<>();
        for (Map.Entry<String, String> entry : fetched.getMeta().entrySet()) {
            lower.put(entry.getKey().toLowerCase(), entry.getValue());
        }
        same(lower.get("colour"), "red");
        same(lower.get("shape"), "a round one");
        same(lower.size(), 2);
    }

    private void fetchAbsent() throws Exception {
        same(bucket("absent").fetch("key").execute(), null);
        same(bucket("absent").fetch("key", Person.class).execute(), null);
    }

    private void fetchHead() throws Exception {
        store("head", "key", "value");
        IRiakObject head = bucket("head").fetch("key").headOnly().execute();
        // The client sends a GET.
        is(head.getVClock() != null && head.getVtag() != null, "no context or vtag");
    }

    private void fetchMany() throws Exception {
        Bucket bucket = bucket("many");
        String[] keys = new String[50];
        for (int at = 0; at < keys.length; at += 1) {
            keys[at] = "key" + at;
            bucket.store(keys[at], "value" + at).execute();
        }
        for (MultiFetchFuture<IRiakObject> future : bucket.multiFetch(keys).execute()) {
            same(future.get().getValueAsString(), "value" + future.getKey().substring(3));
        }
    }

    private void fetchIfModified() throws Exception {
        store("modified", "key", "value");
        Bucket bucket = bucket("modified");
        IRiakObject whole = bucket.fetch("key").execute();
        // A date ahead of the server's clock is ignored, and a date has whole seconds: the object's own is equal.
        FetchObject<IRiakObject> unchanged = bucket.fetch("key").modifiedSince(whole.getLastModified());
        unchanged.execute();
        is(unchanged.isUnmodified(), "an object is newer than itself");
        IRiakObject newer = bucket.fetch("key").modifiedSince(new Date(0)).execute();
        same(newer.getValueAsString(), "value");
    }

    private void quorumParameters() throws Exception {
        Bucket bucket = bucket("parameters");
        bucket.store("key", "value").r(1).pr(1).w(Quora.ONE).dw(Quora.ALL).pw(1).timeout(5000).notFoundOK(true)
            .basicQuorum(false).execute();
        same(bucket.fetch("key").r(Quora.ALL).pr(Quora.ONE).notFoundOK(false).basicQuorum(true).timeout(5000).execute()
            .getValueAsString(), "value");
        bucket.delete("key").rw(Quora.QUORUM).r(1).pr(1).w(1).dw(1).pw(1).timeout(5000).execute();
        same(bucket.fetch("key").r(1).execute(), null);
    }

    private void siblingsUnresolved() throws Exception {
        Bucket bucket = conflict("unresolved", "one", "two");
        try {
            bucket.fetch("key").execute();
        } catch (UnresolvedConflictException error) {
            same(error.getSiblings().size(), 2);
            return;
        }
        throw new AssertionError("a conflict was not one");
    }

    private void siblingsResolved() throws Exception {
        Bucket bucket = conflict("resolved", "one", "three", "two");
        IRiakObject longest = bucket.fetch("key").withResolver(RiakSuite::longest).execute();
        same(longest.getValueAsString(), "three");
        StoreObject<IRiakObject> store = bucket.store("key", "ignored").withResolver(RiakSuite::longest);
        IRiakObject stored = store.withMutator(found -> {
            found.setValue(found.getValueAsString() + " and more");
            return found;
        }).returnBody(true).execute();
        same(stored.getValueAsString(), "three and more");
        same(value(bucket, "key"), "three and more");
    }

    private void siblingsReturned() throws Exception {
        Bucket bucket = conflict("returned", "one");
        Set<String> seen = new HashSet<>();
        IRiakObject stored = bucket.store("key", "second").withoutFetch().returnBody(true).withResolver(siblings -> {
            siblings.forEach(sibling -> seen.add(sibling.getValueAsString()));
            return siblings.iterator().next();
        }).execute();
        is(stored != null, "nothing was returned");
        same(seen, new HashSet<>(Arrays.asList("one", "second")));
    }

    private void mutation() throws Exception {
        Bucket bucket = client.createBucket("mutation").allowSiblings(true).execute();
        for (int round = 0; round < 20; round += 1) {
            bucket.store("key", "").withMutator(found -> {
                if (found == null) return RiakObjectBuilder.newBuilder("mutation", "key").withValue("x").build();
                found.setValue(found.getValueAsString() + "x");
                return found;
            }).withConverter(new PassThroughConverter()).execute();
        }
        same(value(bucket, "key").length(), 20);
    }

    private void delete() throws Exception {
        Bucket bucket = bucket("delete");
        bucket.store("key", "value").execute();
        bucket.delete("key").execute();
        same(bucket.fetch("key").execute(), null);
        bucket.delete("key").execute();
        bucket.delete("absent").execute();
        bucket.store("key", "again").execute();
        same(value(bucket, "key"), "again");
    }

    private void deleteWithContext() throws Exception {
        Bucket bucket = client.createBucket("delete_context").allowSiblings(true).execute();
        IRiakObject stored = bucket.store("key", "one").returnBody(true).execute();
        bucket.delete("key").vclock(stored.getVClock()).execute();
        same(bucket.fetch("key").execute(), null);
        bucket.store("key", "two").execute();
        bucket.delete("key").fetchBeforeDelete(true).execute();
        FetchObject<IRiakObject> fetch = bucket.fetch("key").returnDeletedVClock(true);
        IRiakObject gone = fetch.execute();
        is(gone == null || gone.isDeleted(), "a deleted object has a value");
        // A delete without the context of a second value leaves it.
        VClock first = bucket.store("stale", "one").withoutFetch().returnBody(true).execute().getVClock();
        bucket.store("stale", "two").withoutFetch().execute();
        bucket.delete("stale").vclock(first).execute();
        IRiakObject left = bucket.fetch("stale").withResolver(RiakSuite::notDeleted).execute();
        same(left.getValueAsString(), "two");
    }

    private void links() throws Exception {
        Bucket bucket = bucket("links");
        RiakObjectBuilder object = RiakObjectBuilder.newBuilder("links", "key").withValue("value");
        Set<RiakLink> links = new HashSet<>();
        for (int at = 0; at < 40; at += 1) {
            // The client neither escapes nor unescapes links.
            RiakLink link = new RiakLink("bucket%20" + at % 3, "%C3%A9%2F%2C" + at, at % 2 == 0 ? "even" : "odd%20one");
            links.add(link);
            object.addLink(link.getBucket(), link.getKey(), link.getTag());
        }
        bucket.store(object.build()).withConverter(new PassThroughConverter()).execute();
        IRiakObject fetched = bucket.fetch("key").execute();
        same(new HashSet<>(fetched.getLinks()), links);
        fetched.removeLink(links.iterator().next());
        bucket.store(fetched).withConverter(new PassThroughConverter()).execute();
        same(bucket.fetch("key").execute().numLinks(), 39);
    }

    private void linkWalk() throws Exception {
        IRiakObject start = chain();
        List<Set<String>> steps = walked(client.walk(start).addStep("walk", "next", true).execute());
        same(steps, Arrays.asList(values("two")));
        steps = walked(client.walk(start).addStep("_", "_").execute());
        same(steps, Arrays.asList(values("two", "other")));
        steps = walked(client.walk(start).addStep("walk", "unknown").execute());
        is(steps.isEmpty() || steps.get(0).isEmpty(), "a tag nobody has leads to " + steps);
    }

    private void linkWalkOfTwoSteps() throws Exception {
        IRiakObject start = chain();
        List<Set<String>> steps =
            walked(client.walk(start).addStep("walk", "next", true).addStep("_", "next", true).execute());
        same(steps, Arrays.asList(values("two"), values("three")));
        steps = walked(client.walk(start).addStep("walk", "next", false).addStep("_", "_", true).execute());
        same(steps, Arrays.asList(values("three")));
    }

    private void indexOfText() throws Exception {
        Bucket bucket = indexed("index_text");
        same(found(bucket.fetchIndex(BinIndex.named("name")).withValue("name-3")), values("key3"));
        same(found(bucket.fetchIndex(BinIndex.named("name")).from("name-2").to("name-4")), values("key2", "key3", "key4"));
        same(found(bucket.fetchIndex(BinIndex.named("name")).withValue("none")), values());
        same(found(bucket.fetchIndex(BinIndex.named("absent")).withValue("none")), values());
        // The client does not escape what it asks for.
        String odd = "50%25%20of%20a%2Fb%2Bc%20%26%20d%3F";
        same(found(bucket.fetchIndex(BinIndex.named("odd")).withValue(odd)), values("key1"));
    }

    private void indexOfNumbers() throws Exception {
        Bucket bucket = indexed("index_numbers");
        same(found(bucket.fetchIndex(IntIndex.named("number")).withValue(-10)), values("key1"));
        same(found(bucket.fetchIndex(IntIndex.named("number")).from(-30).to(-20)), values("key2", "key3"));
        same(found(bucket.fetchIndex(IntIndex.named("number")).from(-5L).to(Long.MAX_VALUE)), values("key0"));
    }

    private void indexStreamed() throws Exception {
        Bucket bucket = indexed("index_streamed");
        FetchIndex<String> query = bucket.fetchIndex(BinIndex.named("name")).from("name-2").to("name-3");
        Map<String, String> terms = new LinkedHashMap<>();
        for (IndexEntry entry : query.returnKeyAndIndexValue(true).executeStreaming()) {
            terms.put(entry.getObjectKey(), entry.getIndexValue());
        }
        same(terms.get("key2"), "name-2");
        same(terms.get("key3"), "name-3");
        same(terms.size(), 2);
        FetchIndex<Number> numbers = bucket.fetchIndex(IntIndex.named("number")).from(-20).to(0);
        long sum = 0;
        for (IndexEntry entry : numbers.returnKeyAndIndexValue(true).executeStreaming()) sum += entry.getIndexValueAsLong();
        same(sum, -30L);
    }

    private void indexByPages() throws Exception {
        Bucket bucket = indexed("index_pages");
        List<String> all = new ArrayList<>();
        String continuation = null;
        do {
            FetchIndex<String> query = bucket.fetchIndex(BinIndex.named("name")).from("name").to("name~").maxResults(2);
            if (continuation != null) query.withContinuation(continuation);
            StreamingOperation<IndexEntry> page = query.executeStreaming();
            for (IndexEntry entry : page) all.add(entry.getObjectKey());
            continuation = page.hasContinuation() ? page.getContinuation() : null;
        } while (continuation != null);
        same(all, Arrays.asList("key0", "key1", "key2", "key3", "key4"));
    }

    private void indexOfKeys() throws Exception {
        Bucket bucket = indexed("index_keys");
        same(found(bucket.fetchIndex(KeyIndex.index).from("key1").to("key2")), values("key1", "key2"));
        same(found(bucket.fetchIndex(BucketIndex.index).withValue("index_keys")).size(), 5);
    }

    private void indexesFetched() throws Exception {
        IRiakObject object = indexed("index_fetched").fetch("key1").execute();
        same(object.getBinIndex("name"), values("name-1"));
        same(object.getIntIndexV2("number"), new HashSet<>(Arrays.asList(-10L)));
        object.removeIntIndex("number");
        bucket("index_fetched").store(object).withConverter(new PassThroughConverter()).execute();
        same(found(bucket("index_fetched").fetchIndex(IntIndex.named("number")).withValue(-10)), values());
    }

    private void counters() throws Exception {
        Bucket bucket = client.createBucket("counters").allowSiblings(true).execute();
        same(bucket.counter("c").increment(5L).returnValue(true).execute(), 5L);
        same(bucket.counter("c").increment(-7L).returnValue(true).execute(), -2L);
        bucket.counter("c").increment(3L).execute();
        same(bucket.counter("c").execute(), 1L);
        same(bucket.counter("absent").execute(), null);
    }

    private void listKeys() throws Exception {
        Bucket bucket = bucket("list");
        Set<String> stored = new TreeSet<>();
        for (int at = 0; at < 300; at += 1) {
            stored.add("key " + at);
            bucket.store("key " + at, "value").withoutFetch().execute();
        }
        same(keys(bucket), stored);
        StreamingOperation<String> cancelled = bucket.keys();
        cancelled.next();
        cancelled.cancel();
        is(keys(bucket("list_of_none")).isEmpty(), "an empty bucket has keys");
    }

    private void listKeysWhole() throws Exception {
        store("list_whole", "one", "value");
        store("list_whole", "two", "value");
        com.basho.riak.client.http.RiakClient http = new com.basho.riak.client.http.RiakClient(url);
        BucketResponse response = http.listBucket("list_whole");
        is(response.isSuccess(), "status " + response.getStatusCode());
        same(new TreeSet<>(response.getBucketInfo().getKeys()), new TreeSet<>(Arrays.asList("one", "two")));
        http.shutdown();
    }

    private void listBuckets() throws Exception {
        store("a bucket, /", "key", "value");
        // The client reads a list as ISO 8859-1 and a stream of it as UTF-8.
        store("\u00fc\u20ac", "key", "value");
        Set<String> listed = client.listBuckets();
        is(listed.contains("a bucket, /"), "the bucket is missing: " + listed);
        Set<String> streamed = new HashSet<>(client.listBucketsStreaming().getAll());
        is(streamed.contains("\u00fc\u20ac"), "the bucket is missing: " + streamed);
        same(streamed.size(), listed.size());
    }

    private void storeIfNoneMatch() throws Exception {
        Bucket bucket = bucket("none_match");
        bucket.store("key", "first").ifNoneMatch(true).withoutFetch().execute();
        fails(bucket.store("key", "second").ifNoneMatch(true).withoutFetch());
        same(value(bucket, "key"), "first");
    }

    private void storeIfNotModified() throws Exception {
        Bucket bucket = bucket("not_modified");
        bucket.store("key", "first").execute();
        IRiakObject first = bucket.fetch("key").execute();
        // The client sends the time of the last change, which has whole seconds.
        long before = first.getLastModified().getTime() - 2000;
        IRiakObject stale = RiakObjectBuilder.from(first).withLastModified(before).withValue("stale").build();
        fails(bucket.store(stale).withConverter(new PassThroughConverter()).ifNotModified(true).withoutFetch());
        same(value(bucket, "key"), "first");
        first.setValue("second");
        bucket.store(first).withConverter(new PassThroughConverter()).ifNotModified(true).withoutFetch().execute();
        same(value(bucket, "key"), "second");
    }

    private void streamValue() throws Exception {
        store("streamed", "key", "a value that streams");
        com.basho.riak.client.http.RiakClient http = new com.basho.riak.client.http.RiakClient(url);
        FetchResponse response = http.stream("streamed", "key");
        same(new String(response.getStream().readAllBytes(), StandardCharsets.UTF_8), "a value that streams");
        response.close();
        http.shutdown();
    }

    private Bucket bucket(String name) throws Exception {
        return client.fetchBucket(name).lazyLoadBucketProperties().execute();
    }

    private void store(String bucket, String key, String value) throws Exception {
        bucket(bucket).store(key, value).execute();
    }

    private static String value(Bucket bucket, String key) throws Exception {
        return bucket.fetch(key).execute().getValueAsString();
    }

    /** Stores these values under one key, none knowing of the others. */
    private Bucket conflict(String name, String... values) throws Exception {
        Bucket bucket = client.createBucket(name).allowSiblings(true).execute();
        for (String value : values) bucket.store("key", value).withoutFetch().execute();
        return bucket;
    }

    private static IRiakObject longest(Collection<IRiakObject> siblings) {
        return siblings.stream().max((a, b) -> a.getValueAsString().length() - b.getValueAsString().length()).orElse(null);
    }

    private static IRiakObject notDeleted(Collection<IRiakObject> siblings) {
        return siblings.stream().filter(sibling -> !sibling.isDeleted()).findFirst().orElse(null);
    }

    /** Stores one that is linked with two and another, and two that is linked with three. */
    private IRiakObject chain() throws Exception {
        Bucket bucket = bucket("walk");
        store("walk", "three", "three");
        store("elsewhere", "other", "other");
        IRiakObject two = RiakObjectBuilder.newBuilder("walk", "two").withValue("two").addLink("walk", "three", "next").build();
        bucket.store(two).withConverter(new PassThroughConverter()).execute();
        IRiakObject one = RiakObjectBuilder.newBuilder("walk", "one").withValue("one").addLink("walk", "two", "next")
            .addLink("elsewhere", "other", "aside").build();
        bucket.store(one).withConverter(new PassThroughConverter()).execute();
        return bucket.fetch("one").execute();
    }

    private static List<Set<String>> walked(Iterable<Collection<IRiakObject>> result) {
        List<Set<String>> steps = new ArrayList<>();
        for (Collection<IRiakObject> step : result) {
            Set<String> values = new HashSet<>();
            step.forEach(object -> values.add(object.getValueAsString()));
            steps.add(values);
        }
        return steps;
    }

    /** Stores five objects with index entries. */
    private Bucket indexed(String name) throws Exception {
        Bucket bucket = bucket(name);
        for (int at = 0; at < 5; at += 1) {
            RiakObjectBuilder object = RiakObjectBuilder.newBuilder(name, "key" + at).withValue("value")
                .addIndex("name", "name-" + at).addIndex("number", -10L * at);
            if (at == 1) object.addIndex("odd", "50% of a/b+c & d?");
            bucket.store(object.build()).withConverter(new PassThroughConverter()).execute();
        }
        return bucket;
    }

    private static <T> Set<String> found(FetchIndex<T> query) throws Exception {
        return new HashSet<>(query.execute());
    }

    private static Set<String> keys(Bucket bucket) throws Exception {
        Set<String> keys = new TreeSet<>();
        for (String key : bucket.keys()) is(keys.add(key), "listed twice: " + key);
        return keys;
    }

    private static Set<String> values(String... values) {
        return new HashSet<>(Arrays.asList(values));
    }

    /** Expects that the store is refused; it is not tried again. */
    private static void fails(StoreObject<?> store) throws Exception {
        try {
            store.withRetrier(DefaultRetrier.attempts(1)).execute();
        } catch (RiakRetryFailedException error) {
            return;
        }
        throw new AssertionError("a store was not refused");
    }

    private static void same(Object found, Object wanted) {
        is(found == null ? wanted == null : found.equals(wanted), "found " + found + ", wanted " + wanted);
    }

    private static void is(boolean holds, String otherwise) {
        if (!holds) throw new AssertionError(otherwise);
    }
}
