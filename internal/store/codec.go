package store

import (
	"bytes"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// codec compresses contents in the database. JSON text never begins like a zstd frame, so the first
// bytes of a body show its form.
type codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

const (
	// minCompressed is the size in bytes above which compression saves more than its frame costs.
	minCompressed = 256
	// window bounds the memory of each encoder; contents are small.
	window = 128 << 10
	// largestBody bounds the memory that a corrupted row can claim, far above the limit on documents.
	largestBody = 1 << 30
)

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// newCodec returns a codec for any number of goroutines.
func newCodec() (*codec, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("make a compressor: %w", err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(largestBody))
	if err != nil {
		return nil, fmt.Errorf("make a decompressor: %w", err)
	}
	return &codec{encoder, decoder}, nil
}

// Pack compresses a text if that makes it shorter.
func (c *codec) pack(text []byte) []byte {
	if len(text) < minCompressed {
		return text
	}
	if packed := c.encoder.EncodeAll(text, make([]byte, 0, len(text)/2)); len(packed) < len(text) {
		return packed
	}
	return text
}

// unpack returns the text that Pack was given.
func (c *codec) unpack(body []byte) ([]byte, error) {
	if !bytes.HasPrefix(body, zstdMagic) {
		return body, nil
	}
	text, err := c.decoder.DecodeAll(body, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress a content: %w", err)
	}
	return text, nil
}

// unpackedSize returns the size of a content, given the beginning and the size of its stored form.
func unpackedSize(head []byte, stored int) int {
	var header zstd.Header
	if header.Decode(head) != nil || !header.HasFCS || header.FrameContentSize > largestBody {
		return stored
	}
	return int(header.FrameContentSize)
}
