package webhooks

import (
	"slices"
	"strconv"

	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/fault"
	"purser/internal/words"
)

// ParseWish returns the wish that a value describes. Fault: Invalid.
func ParseWish(value any) (wish Wish, err error) {
	fields, isMapping := value.(document.Mapping)
	if !isMapping {
		return wish, badWebhook("must be a mapping with the key url")
	}
	wish.Enabled = true
	for _, field := range fields {
		var ok bool
		switch field.Key {
		case "url":
			wish.URL, ok = field.Value.(string)
		case "secret":
			wish.Secret, ok = field.Value.(string)
		case "enabled":
			wish.Enabled, ok = field.Value.(bool)
		case "types":
			wish.Types, ok = typesOf(field.Value)
		default:
			return wish, badWebhook("has the unknown key " + strconv.Quote(field.Key) + "; " + knownKeys(field.Key))
		}
		if !ok {
			return wish, badWebhook("has a value that cannot be used under " + field.Key + ": url and secret are strings, " +
				"enabled is true or false, types is a list of types of events such as " + string(events.VerdictChanged))
		}
	}
	const maxURL = 2000
	if wish.URL == "" || len(wish.URL) > maxURL {
		return wish, badWebhook("must have a url, of at most 2000 characters")
	}
	return wish, nil
}

func knownKeys(key string) string {
	if nearest := words.Nearest(key, []string{"url", "types", "enabled", "secret"}); nearest != "" {
		return "did you mean " + nearest + "?"
	}
	return "it can have url, types, enabled and secret"
}

func badWebhook(what string) error {
	return fault.New(fault.Invalid, "HTTPBadRequest", "A webhook %s.", what)
}

// typesOf reads a list of event types; ok is false if the value is not one.
func typesOf(value any) (types []events.Type, ok bool) {
	items, ok := value.([]any)
	for _, item := range items {
		name, _ := item.(string)
		if !slices.Contains(events.Types(), events.Type(name)) {
			return nil, false
		}
		types = append(types, events.Type(name))
	}
	return slices.Compact(slices.Sorted(slices.Values(types))), ok
}
