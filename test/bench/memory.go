package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

const mebibyte = 1 << 20

// memory measures row 7 on new servers.
func (b *bench) memory(ctx context.Context) (err error) {
	b.sayf("row 7: memory during an ingest of %d MiB", b.body/mebibyte)
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.infof(7, "resident memory", "not measured: there is no /proc here")
		return nil
	}
	s, err := b.start(ctx, "memory")
	if err != nil {
		return err
	}
	defer func() { err = s.stop(err) }()
	idle, err := s.resident("VmRSS")
	if err != nil {
		return err
	}
	b.add(7, idle <= 64, "<= 64", "resident memory when idle, MiB", fmt.Sprintf("%.1f", idle))

	body := siteOfSize(large(), b.body)
	if err := s.put(ctx, "schemas", []byte(large().schema)); err != nil {
		return err
	}
	took, err := timed(func() error { return s.put(ctx, "site", body) })
	if err != nil {
		return err
	}
	peak, err := s.resident("VmHWM")
	if err != nil {
		return err
	}
	size := float64(len(body)) / mebibyte
	allowed := 6*size + 64
	b.add(7, peak <= allowed, fmt.Sprintf("<= %.0f", allowed),
		fmt.Sprintf("the most during an ingest of %.1f MiB, MiB", size),
		fmt.Sprintf("%.1f  (%.1fx the body above idle; took %s)", peak, (peak-idle)/size, short(took)))
	return b.settled(s)
}

// settled reports the resident memory two seconds after the work.
func (b *bench) settled(s *server) error {
	const while = 2 * time.Second
	time.Sleep(while)
	after, err := s.resident("VmRSS")
	if err != nil {
		return err
	}
	b.infof(7, "resident memory "+while.String()+" later, MiB", "%.1f", after)
	return nil
}

// siteOfSize returns a site of as many documents as fit into size bytes.
func siteOfSize(k kind, size int) []byte {
	// The sizes of documents differ by only a few percent.
	documents := newSite(k, size/1500).documents
	var body strings.Builder
	for _, doc := range documents {
		if body.Len()+len(doc) > size {
			break
		}
		body.WriteString(doc)
	}
	return []byte(body.String())
}

// resident returns a value of the server's /proc status, such as VmRSS, in MiB.
func (s *server) resident(key string) (float64, error) {
	text := valueOf(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid), key)
	var kibibytes float64
	if _, err := fmt.Sscanf(text, "%f kB", &kibibytes); err != nil {
		return 0, fmt.Errorf("read %s of the server: %w", key, err)
	}
	return kibibytes / 1024, nil
}
