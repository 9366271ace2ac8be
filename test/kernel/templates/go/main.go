// Carries out the templates of the corpus with Go's text/template and Sprig, and writes what comes of them.
//
//	go run . < ../corpus.json > ../corpus-results.json
package main

import (
	"encoding/json"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

type corpus struct {
	Data      any
	Templates map[string][]string
}

// Without an output the template is refused, or its execution fails.
type result struct {
	Template string  `json:"template"`
	Output   *string `json:"output"`
}

func main() {
	var given corpus
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		panic(err)
	}
	fresh, _ := json.Marshal(given.Data)
	results := map[string][]result{}
	for topic, texts := range given.Templates {
		for _, text := range texts {
			// Some templates change the data.
			var data any
			_ = json.Unmarshal(fresh, &data)
			results[topic] = append(results[topic], result{text, execute(text, data)})
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(results); err != nil {
		panic(err)
	}
}

func execute(text string, data any) (output *string) {
	// Some of Sprig's functions panic.
	defer func() {
		if recover() != nil {
			output = nil
		}
	}()
	parsed, err := template.New("corpus").Funcs(sprig.TxtFuncMap()).Parse(text)
	if err != nil {
		return nil
	}
	var written strings.Builder
	if parsed.Execute(&written, data) != nil {
		return nil
	}
	whole := written.String()
	return &whole
}
