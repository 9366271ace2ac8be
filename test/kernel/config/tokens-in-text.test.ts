// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { deepEqual, ok } from 'node:assert/strict';
import { tokensIn } from '../../../kernel/config/index.ts';

const found = (text: string) => tokensIn(text).map(({ start, end }) => text.slice(start, end));

describe('a credential within a longer text', () => {
  const cases: [text: string, ...credentials: string[]][] = [
    [`local api_key = "s3cr3tvalue"`, 's3cr3tvalue'],
    [`r:headers("X-Api-Key", "abc12345")`, 'abc12345'],
    [`headers["token"] = 'abcd1234'`, 'abcd1234'],
    [`if token == "abc12345x" then`, 'abc12345x'],
    ['mutation { login(user: "a", password: "hunter22") { id } }', 'hunter22'],
    [String.raw`{\"password\": \"hunter22\"}`, 'hunter22'],
    ['r:headers("Authorization", "Bearer abcdef1234567890")', 'abcdef1234567890'],
    ['basic dXNlcjpwYXNzd29yZDE=', 'dXNlcjpwYXNzd29yZDE='],
    ['x AKIAIOSFODNN7EXAMPLE y', 'AKIAIOSFODNN7EXAMPLE'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijk', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijk'],
    [`ghp_${'a1'.repeat(18)} sk-proj-${'a1'.repeat(12)}`, `ghp_${'a1'.repeat(18)}`, `sk-proj-${'a1'.repeat(12)}`],
  ];
  for (const [text, ...credentials] of cases) {
    it(`is recognized: ${text.slice(0, 50)}`, () => deepEqual(found(text), credentials));
  }

  for (const text of [
    'Bearer authentication is required',
    'r:headers("Authorization", "Bearer " .. token)',
    'Bearer ${TOKEN_1234567890}',
    'token_url: "https://id1.example.com"',
    'os.getenv("API_TOKEN1")',
    'password: "{{ .pw1 }}aaaa"',
    'local token = headers("X-Token")',
    'mutation($password: String!) { login(password: $password) { token } }',
    'sk-some-words-that-are-joined-by-hyphens',
  ]) {
    it(`is not reported for: ${text.slice(0, 50)}`, () => deepEqual(found(text), []));
  }

  it('is searched for in time that grows with the text', () => {
    const times = [20_000, 200_000].map((length) => {
      const texts = ['a-', 'password ', 'token:"', 'eyJ', 'Bearer a'].map((part) => part.repeat(length / part.length));
      const { user, system } = process.cpuUsage();
      for (const text of texts) tokensIn(text);
      const used = process.cpuUsage({ user, system });
      return used.user + used.system;
    });
    ok(times[1]! < 100 * Math.max(times[0]!, 2000), String(times));
  });
});
