package attest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// Envelope is an envelope of DSSE, with payloads in base64.
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []Signature `json:"signatures"`
}

// Signature is a signature of an envelope. Its key ID is only a hint at the key.
type Signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// encoded returns what a signature of DSSE signs: the pre-authentication encoding of a payload.
func encoded(payloadType string, payload []byte) []byte {
	head := fmt.Sprintf("DSSEv1 %d %s %d ", len(payloadType), payloadType, len(payload))
	return append([]byte(head), payload...)
}

// maxEnvelope bounds an envelope, in bytes: statements name documents that they do not cover.
const maxEnvelope = 64 << 20

var (
	errNotDSSE    = errors.New("it is not an envelope of DSSE, {\"payloadType\": …, \"payload\": …, \"signatures\": […]}")
	errNotBase64  = errors.New("its payload or a signature is not base64")
	errUnsigned   = errors.New("it has no signature")
	errLarge      = errors.New("it has more than 64 MiB")
	errManySigned = errors.New("it has more than 100 signatures")
)

// parsed is an envelope without base64.
type parsed struct {
	payloadType string
	payload     []byte
	signatures  []parsedSignature
}

type parsedSignature struct {
	keyID string
	text  []byte
}

// parse parses an envelope. Members that DSSE does not know are ignored, as it demands.
func parse(text []byte) (p parsed, err error) {
	const maxSignatures = 100
	if len(text) > maxEnvelope {
		return p, errLarge
	}
	var envelope Envelope
	decoder := json.NewDecoder(bytes.NewReader(text))
	switch {
	case decoder.Decode(&envelope) != nil, decoder.More(), envelope.PayloadType == "", envelope.Payload == "":
		return p, errNotDSSE
	case len(envelope.Signatures) == 0:
		return p, errUnsigned
	case len(envelope.Signatures) > maxSignatures:
		return p, errManySigned
	}
	p.payloadType = envelope.PayloadType
	if p.payload, err = fromBase64(envelope.Payload); err != nil {
		return p, err
	}
	for _, signature := range envelope.Signatures {
		sig, err := fromBase64(signature.Sig)
		if err != nil {
			return p, err
		}
		p.signatures = append(p.signatures, parsedSignature{signature.KeyID, sig})
	}
	return p, nil
}

// fromBase64 decodes the standard and the URL-safe form, as DSSE demands.
func fromBase64(text string) ([]byte, error) {
	decoded, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		decoded, err = base64.URLEncoding.Strict().DecodeString(text)
	}
	if err != nil {
		return nil, errNotBase64
	}
	return decoded, nil
}

// sealed returns the text of an envelope with one signature.
func sealed(payload, signature []byte, keyID string) ([]byte, error) {
	text, err := json.Marshal(Envelope{
		PayloadType: PayloadType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []Signature{{keyID, base64.StdEncoding.EncodeToString(signature)}},
	})
	if err != nil {
		return nil, fmt.Errorf("write an envelope: %w", err)
	}
	return append(text, '\n'), nil
}
