package web

import "testing"

// TestDrawing checks the parts of a picture that a page includes: shapes, texts and links to documents.
func TestDrawing(t *testing.T) {
	t.Parallel()
	link := func(focus string) string { return "/ui/" + focus }
	for picture, want := range map[string]string{
		`<?xml version="1.0"?><!DOCTYPE svg><!-- c --><svg width="1pt" viewBox="0 0 1 1" onload="x()" style="a" class="c" id="i"><g/></svg>`: `<svg aria-label="&lt;label&gt;" id="picture" role="group" viewBox="0 0 1 1" width="1pt"><g></g></svg>`,

		`<a xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="?focus=%22%3Ca%3E&amp;format=svg" xlink:title="a&lt;b>&#x202e;">x</a>`: `<a href="/ui/&#34;&lt;a&gt;"><title>a&lt;b&gt;⟨U+202E⟩</title>x</a>`,

		`<a href="javascript:x()" title=" ">x</a>`:                             `<g>x</g>`,
		`<a href="//evil.example/?focus=a">x</a>`:                              `<g>x</g>`,
		`<a href="https://evil.example?focus=a">x</a>`:                         `<g>x</g>`,
		`<g><title>t<script>x()</script></title><path d="M1" fill="red"/></g>`: `<g><path d="M1" fill="red"></path></g>`,
		`<path fill="url(https://evil.example)" stroke="&quot;>"/>`:            `<path stroke="&#34;&gt;"></path>`,
		`<text>&lt;script>]]&gt;&amp;</text>`:                                  `<text>&lt;script&gt;]]&gt;&amp;</text>`,
		`<g><script>x()</script></g>`:                                          "",
		`<foreignObject/>`:                                                     "",
		`<image href="x"/>`:                                                    "",
		`<style>x</style>`:                                                     "",
		`<use href="#x"/>`:                                                     "",
		`<g>`:                                                                  "",
		`</g>`:                                                                 "",
		`<g>&evil;</g>`:                                                        "",
	} {
		got, err := drawing([]byte(picture), "<label>", link)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s\nis %s\nwant %s, %v", picture, got, want, err)
		}
	}
}
