import { equal } from 'node:assert/strict';
import { check } from './json-schema.ts';

describe('formats in validation/json-schema', () => {
  const rows: [format: string, good: string[], bad: string[]][] = [
    ['date', ['2024-02-29'], ['2023-02-29', '2024-1-1']],
    ['time', ['10:11:12Z', '10:11:12.5+01:00'], ['25:00:00Z']],
    ['date-time', ['2024-01-01T10:11:12Z'], ['2024-01-01']],
    ['hostname', ['a.example.com'], ['-a.com', 'a_b']],
    ['email', ['a@b.com'], ['a', 'é@b.com']],
    ['idn-email', ['é@bücher.example'], ['é']],
    ['ipv4', ['1.2.3.4'], ['1.2.3']],
    ['ipv6', ['::1'], [':::1', '1.2.3.4']],
    ['uri', ['http://a.b/c?d#e', 'urn:a:b'], ['/a', 'http://é/']],
    ['uri-reference', ['/a', '#b'], ['a b']],
    ['iri', ['http://é/ü?x'], ['/ü', 'é:x', 'http://a b']],
    ['iri-reference', ['/ü'], ['a b']],
    ['uri-template', ['/a/{b}'], ['/a/{b']],
    ['uuid', ['2eb8aa08-aa98-11ea-b4aa-73b441d16380'], ['2eb8aa08', 'urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380']],
    ['regex', ['^a$'], ['(']],
    ['json-pointer', ['/a/~0', ''], ['a', '/~2']],
    ['relative-json-pointer', ['0/a', '1#'], ['/a']],
  ];
  for (const [format, good, bad] of rows) {
    it(`check ${format}`, () => {
      for (const text of good) equal(check({ format }, JSON.stringify(text)), '', text);
      for (const text of bad)
        equal(check({ format }, JSON.stringify(text)), `- (root): Does not match format '${format}'`, text);
    });
  }

  it('apply to strings only', () => equal(check({ format: 'email' }, '1'), ''));
  it('that are unknown have no effect', () => equal(check({ format: 'no-such' }, '"x"'), ''));
});
