package main

import (
	"errors"
	"hash/maphash"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// Writes of one object wait for each other; those of others only share the flush, which Pebble makes one for all that wait.
const stripes = 4096

const (
	objects = 'o'
	indexed = 'i'
)

type pebbleEngine struct {
	db    *pebble.DB
	seed  maphash.Seed
	locks [stripes]sync.Mutex
}

type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, _ ...any) {
	fail(format)
}

// The memory is that of the store beside it.
func openPebble(folder string) (engine, error) {
	options := &pebble.Options{
		CacheSize:          64 << 20,
		MemTableSize:       32 << 20,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             silent{},
	}
	for level := range options.Levels {
		options.Levels[level].FilterPolicy = bloom.FilterPolicy(10)
	}
	db, err := pebble.Open(folder, options)
	return &pebbleEngine{db: db, seed: maphash.MakeSeed()}, err
}

func keyed(table byte, key []byte) []byte {
	return append(append(make([]byte, 0, 1+len(key)), table), key...)
}

func (p *pebbleEngine) read(name []byte, use func([]byte) error) error {
	record, closer, err := p.db.Get(keyed(objects, name))
	if errors.Is(err, pebble.ErrNotFound) {
		return use(nil)
	}
	if err != nil {
		return err
	}
	defer closer.Close()
	return use(record)
}

func (p *pebbleEngine) write(name []byte, decide decision) error {
	lock := &p.locks[maphash.Bytes(p.seed, name)%stripes]
	lock.Lock()
	defer lock.Unlock()
	var change change
	err := p.read(name, func(stored []byte) (err error) {
		change, err = decide(stored)
		return err
	})
	if err != nil {
		return err
	}
	batch := p.db.NewBatch()
	defer batch.Close()
	for _, entry := range change.gone {
		if err := batch.Delete(keyed(indexed, entry), nil); err != nil {
			return err
		}
	}
	for _, entry := range change.come {
		if err := batch.Set(keyed(indexed, entry), nil, nil); err != nil {
			return err
		}
	}
	if err := batch.Set(keyed(objects, name), change.record, nil); err != nil {
		return err
	}
	return batch.Commit(pebble.Sync)
}

func (p *pebbleEngine) entries(low, high []byte, visit func([]byte)) error {
	options := &pebble.IterOptions{LowerBound: keyed(indexed, low), UpperBound: keyed(indexed, high)}
	iter, err := p.db.NewIter(options)
	if err != nil {
		return err
	}
	for valid := iter.First(); valid; valid = iter.Next() {
		visit(iter.Key()[1:])
	}
	return iter.Close()
}

func (p *pebbleEngine) close() error {
	return p.db.Close()
}
