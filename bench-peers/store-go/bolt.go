package main

import (
	"path/filepath"

	"go.etcd.io/bbolt"
)

var (
	boltObjects = []byte("objects")
	boltEntries = []byte("entries")
)

// The most writes of one transaction.
const boltBatch = 512

// bbolt has one writer. It takes all writes that wait into one transaction, which is flushed once: `DB.Batch` does the same, but waits for
// more writes when there are none.
type boltEngine struct {
	db     *bbolt.DB
	writes chan boltWrite
}

type boltWrite struct {
	name   []byte
	decide decision
	done   chan error
}

func openBolt(folder string) (engine, error) {
	options := *bbolt.DefaultOptions
	options.FreelistType = bbolt.FreelistMapType
	options.NoFreelistSync = true
	db, err := bbolt.Open(filepath.Join(folder, "bolt"), 0o600, &options)
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		if _, err := tx.CreateBucketIfNotExists(boltObjects); err != nil {
			return err
		}
		_, err := tx.CreateBucketIfNotExists(boltEntries)
		return err
	})
	b := &boltEngine{db: db, writes: make(chan boltWrite, boltBatch)}
	go b.commit()
	return b, err
}

func (b *boltEngine) commit() {
	for first := range b.writes {
		batch := []boltWrite{first}
	gather:
		for len(batch) < boltBatch {
			select {
			case next := <-b.writes:
				batch = append(batch, next)
			default:
				break gather
			}
		}
		// A decision that fails has changed nothing.
		failed := make([]error, len(batch))
		err := b.db.Update(func(tx *bbolt.Tx) error {
			for place, write := range batch {
				var broken error
				failed[place], broken = boltApply(tx, write)
				if broken != nil {
					return broken
				}
			}
			return nil
		})
		for place, write := range batch {
			if err != nil {
				write.done <- err
			} else {
				write.done <- failed[place]
			}
		}
	}
}

func boltApply(tx *bbolt.Tx, write boltWrite) (refused, broken error) {
	objects, entries := tx.Bucket(boltObjects), tx.Bucket(boltEntries)
	change, err := write.decide(objects.Get(write.name))
	if err != nil {
		return err, nil
	}
	for _, entry := range change.gone {
		if err := entries.Delete(entry); err != nil {
			return nil, err
		}
	}
	for _, entry := range change.come {
		if err := entries.Put(entry, nil); err != nil {
			return nil, err
		}
	}
	return nil, objects.Put(write.name, change.record)
}

func (b *boltEngine) read(name []byte, use func([]byte) error) error {
	return b.db.View(func(tx *bbolt.Tx) error {
		return use(tx.Bucket(boltObjects).Get(name))
	})
}

func (b *boltEngine) write(name []byte, decide decision) error {
	done := make(chan error, 1)
	b.writes <- boltWrite{name, decide, done}
	return <-done
}

func (b *boltEngine) entries(low, high []byte, visit func([]byte)) error {
	return b.db.View(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket(boltEntries).Cursor()
		for entry, _ := cursor.Seek(low); entry != nil && string(entry) < string(high); entry, _ = cursor.Next() {
			visit(entry)
		}
		return nil
	})
}

func (b *boltEngine) close() error {
	return b.db.Close()
}
