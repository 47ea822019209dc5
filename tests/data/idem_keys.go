// Idem_keys writes idem_keys.json: idempotency keys as a Go service makes them, to hold Plait's against.
//
// Run it again, from the repository's root, with Go 1.27 or newer:
//
//	go run tests/data/idem_keys.go > tests/data/idem_keys.json
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Options and Target are the contract's, tag for tag.
type Options struct {
	Mode     string `json:"mode,omitempty"`
	Question string `json:"question,omitempty"`
	Pages    string `json:"pages,omitempty"`
	Grep     string `json:"grep,omitempty"`
	JQ       string `json:"jq,omitempty"`
	Context  *bool  `json:"context,omitempty"`
	Recover  bool   `json:"recover,omitempty"`
}

type Target struct {
	URL     string  `json:"url"`
	Options Options `json:"options"`
}

// A valid case: every string is UTF-8, so JSON can carry the input as it is.
type validCase struct {
	Name    string   `json:"name"`
	Caller  string   `json:"caller"`
	Targets []Target `json:"targets"`
	JSON    string   `json:"json"`
	Key     string   `json:"key"`
}

// An invalid case: the caller and the one target's url and grep are bytes that are not UTF-8.
type invalidCase struct {
	Name      string `json:"name"`
	CallerHex string `json:"caller_hex"`
	URLHex    string `json:"url_hex"`
	GrepHex   string `json:"grep_hex"`
	JSON      string `json:"json"`
	Key       string `json:"key"`
}

type source struct {
	Go    string   `json:"go"`
	Again string   `json:"again"`
	Notes []string `json:"notes"`
}

func main() {
	out := struct {
		Source  source        `json:"source"`
		Cases   []validCase   `json:"cases"`
		Invalid []invalidCase `json:"invalid"`
	}{
		Source: source{
			Go:    runtime.Version(),
			Again: "go run tests/data/idem_keys.go > tests/data/idem_keys.json",
			Notes: notes,
		},
		Cases:   validCases(),
		Invalid: invalidCases(),
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false) // this file is for reading; the keys are made by json.Marshal
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var notes = []string{
	"Go before 1.22 wrote \\u0008 and \\u000c where newer ones write \\b and \\f.",
	"Go before 1.27 wrote the escape \\ufffd for each invalid byte where newer ones write U+FFFD itself.",
	"Everything else was the same in every version tried: 1.21, 1.22, 1.26 and 1.27.",
}

func key(caller string, targets []Target) (string, string) {
	encoded, err := json.Marshal(targets)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256([]byte(caller + "\x00" + string(encoded)))
	return string(encoded), hex.EncodeToString(sum[:])
}

func valid(name, caller string, targets ...Target) validCase {
	encoded, sum := key(caller, targets)
	return validCase{name, caller, targets, encoded, sum}
}

func url(text string) Target { return Target{URL: text} }

func with(options Options) Target { return Target{URL: "https://a.example/", Options: options} }

func validCases() []validCase {
	yes, no := true, false
	controls := ""
	for c := rune(0); c < 0x20; c++ {
		controls += string(c)
	}
	controls += "\x7f"
	many := make([]Target, 32)
	for i := range many {
		many[i] = Target{fmt.Sprintf("https://a.example/%d?x=1&y=<%d>", i, i), Options{Grep: "é"}}
	}
	return []validCase{
		valid("one plain target", "alice", url("https://a.example/")),
		valid("an empty url", "alice", url("")),
		valid("an empty caller", "", url("https://a.example/")),
		valid("a caller with NUL and non-ASCII", "al\x00ice é 😀\u2028<", url("https://a.example/")),
		valid("non-ASCII", "alice", url("https://bücher.example/größe/漢字/\u0080\u00a0\u07ff\u0800\ufffd\uffff")),
		valid("astral", "alice", url("https://a.example/😀/\U00010000/\U0010ffff")),
		valid("HTML", "alice", url("https://a.example/?a=1&b=<2>&amp;=>")),
		valid("line and paragraph separators and their neighbours", "alice", url("\u2027\u2028\u2029\u202a\u2028\u2029")),
		valid("quotes, backslash, slash", "alice", url(`"'\/`+"`"+`\\"\u0041\n`)),
		valid("every control character", "alice", url(controls)),
		valid("every control character in every option", "alice",
			with(Options{controls, controls, controls, controls, controls, nil, false})),
		valid("every option", "alice",
			with(Options{"markdown", "why?", "1-3,7", "a|b", ".items[] | .name", &yes, true})),
		valid("only mode", "alice", with(Options{Mode: "markdown"})),
		valid("only question", "alice", with(Options{Question: "why?"})),
		valid("only pages", "alice", with(Options{Pages: "1-3,7"})),
		valid("only grep", "alice", with(Options{Grep: `<a href="x">&\d+`})),
		valid("only jq", "alice", with(Options{JQ: `.a["b"] | select(. > 1 and . < 3)`})),
		valid("context true", "alice", with(Options{Context: &yes})),
		valid("context false", "alice", with(Options{Context: &no})),
		valid("recover", "alice", with(Options{Recover: true})),
		valid("several targets", "alice", url("https://a.example/"), with(Options{Context: &no}), url("")),
		valid("the same targets in another order", "alice", url(""), with(Options{Context: &no}), url("https://a.example/")),
		valid("32 targets", "alice", many...),
		valid("a long url", "alice", url("https://a.example/"+strings.Repeat("abc/é&", 1500))),
		valid("no targets", "alice", []Target{}...),
	}
}

func invalid(name, caller, url, grep string) invalidCase {
	encoded, sum := key(caller, []Target{{url, Options{Grep: grep}}})
	hexed := func(text string) string { return hex.EncodeToString([]byte(text)) }
	return invalidCase{name, hexed(caller), hexed(url), hexed(grep), encoded, sum}
}

func invalidCases() []invalidCase {
	return []invalidCase{
		invalid("the bytes of a high surrogate", "alice", "a\xed\xa0\x80b", ""),
		invalid("the bytes of a low surrogate at the end", "alice", "a\xed\xbf\xbf", "<\xed\xb0\x80>"),
		invalid("the bytes of a surrogate pair", "alice", "\xed\xa0\xbd\xed\xb8\x80\ufffd", "é"),
		invalid("the bytes of a surrogate in the caller", "al\xed\xa0\x80ice", "https://a.example/", ""),
	}
}
