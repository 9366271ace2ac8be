import { deepEqual, equal } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { TemplateError } from '../../../kernel/contract/internal.ts';
import { compileTemplate } from '../../../kernel/templates/index.ts';

/** Output of Go's text/template with Sprig for a template; null if it is rejected. */
interface Result {
  readonly template: string;
  readonly output: string | null;
}

const directory = new URL('.', import.meta.url);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, directory), 'utf8'));
const corpus = read('corpus.json') as { data: object; templates: Record<string, string[]> };
const results = read('corpus-results.json') as Record<string, Result[]>;

/** Templates for which Go fails or has surprising output. */
const better: Readonly<Record<string, string>> = {
  '{{printf "%d" .list}}': '[1 2 3]',
  '{{duration 95}}': '1m35s',
  '{{eq 1 1.0}} {{eq .n 7}} {{lt .pi 4}}': 'true true true',
  '{{repeat .n "x"}} {{until .n | len}}': 'xxxxxxx 7',
  '{{range .n}}{{.}}{{end}}': '0123456',
  '{{slice .name 0 3}}': 'Ada',
};

function ours(template: string): string | null {
  try {
    return compileTemplate(template, { numbers: 'go' }).render(structuredClone(corpus.data));
  } catch (error) {
    if (error instanceof TemplateError && error.code !== 'TEMPLATE_LIMIT') return null;
    throw error;
  }
}

describe('templates compared with Go and Sprig', () => {
  const { TZ } = process.env;
  before(() => {
    process.env.TZ = 'UTC';
  });
  after(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });

  it('have a recorded result for every template of the corpus', () => {
    const expected = Object.entries(corpus.templates).map(([topic, texts]) => [topic, texts]);
    const present = Object.keys(corpus.templates).map((topic) => [
      topic,
      results[topic]!.map(({ template }) => template),
    ]);
    deepEqual(present, expected);
    equal(Object.values(corpus.templates).flat().length > 400, true);
  });

  for (const [topic, templates] of Object.entries(results)) {
    it(`produce the same output: ${topic}`, () => {
      const differing = templates.flatMap(({ template, output }) => {
        if (Object.hasOwn(better, template)) return [];
        const written = ours(template);
        return written === output ? [] : [{ template, go: output, ours: written }];
      });
      deepEqual(differing, []);
    });
  }

  for (const [template, output] of Object.entries(better)) {
    it(`produce the intended output where Go's is surprising: ${template}`, () => equal(ours(template), output));
  }

  it('have results that Go confirms if it is installed', function () {
    this.timeout(120_000);
    const go = '/usr/local/go/bin/go';
    if (!existsSync(go)) return this.skip();
    const options = {
      cwd: new URL('go', directory),
      input: readFileSync(new URL('corpus.json', directory)),
      env: { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off', TZ: 'UTC' },
      stdio: ['pipe', 'pipe', 'ignore'] as ['pipe', 'pipe', 'ignore'],
      maxBuffer: 64 * 1024 * 1024,
    };
    let output: string;
    try {
      output = execFileSync(go, ['run', '.'], options).toString();
    } catch {
      // The Go modules are missing: run `go mod download` in test/kernel/templates/go.
      return this.skip();
    }
    // Random and time-dependent output must have the same length.
    deepEqual(JSON.parse(output), results);
  });
});
