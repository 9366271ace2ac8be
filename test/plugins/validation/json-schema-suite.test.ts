import { deepEqual, ok } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { INSTALLATION_MS, isInstalled } from '../../support/debian.ts';
import { check } from './json-schema.ts';

/** The public JSON-Schema-Test-Suite, as a Debian package contains it. */
const PACKAGE = 'libtest-json-schema-acceptance-perl';
const FOLDER = '/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests';
const without = isInstalled(FOLDER, PACKAGE) ? '' : `: apt-get install ${PACKAGE}`;

/** Drafts, with the least numbers of required and of optional tests that pass. */
const drafts = [
  ['draft4', 'http://json-schema.org/draft-04/schema#', 561, 214],
  ['draft6', 'http://json-schema.org/draft-06/schema#', 756, 275],
  ['draft7', 'http://json-schema.org/draft-07/schema#', 840, 458],
  ['draft2019-09', 'https://json-schema.org/draft/2019-09/schema', 1142, 541],
  ['draft2020-12', 'https://json-schema.org/draft/2020-12/schema', 1131, 543],
] as const;

/** Schemas that refer to other servers, or to metaschemas of their own, are rejected instead of fetched. */
const remote = /^JSON_SCHEMA_(?:REFERENCE|DRAFT) /;

/** Files of optional tests with other results by design. */
const differing: ReadonlySet<string> = new Set([
  // Patterns have the RE2 syntax, which is matched in linear time; internationalized names are not converted to
  // Punycode.
  ...['ecmascript-regex.json', 'idn-hostname.json', 'iri.json'],
  // A number such as 1.0 is an integer in every draft; encoded contents are not decoded; quoted e-mail names are rejected.
  ...['zeroTerminatedFloats.json', 'content.json', 'email.json'],
]);

interface Group {
  readonly description: string;
  readonly schema: object | boolean;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

(without ? describe.skip : describe)(`validation/json-schema with the public test suite${without}`, function () {
  this.timeout(INSTALLATION_MS);

  for (const [draft, $schema, required, optional] of drafts) {
    const resultsOf = (files: readonly string[]) => {
      let passed = 0;
      const others: string[] = [];
      for (const file of files) {
        for (const { description, schema, tests } of JSON.parse(readFileSync(file, 'utf8')) as Group[]) {
          for (const { description: title, data, valid } of tests) {
            const result = resultFor(schema, data, $schema);
            if (result === valid) passed++;
            else if (typeof result === 'boolean' || !remote.test(result)) {
              others.push(`${basename(file)}: ${description}: ${title}: ${result}`);
            }
          }
        }
      }
      return { passed, others };
    };

    it(`passes all required tests of ${draft} whose schemas are in one document`, () => {
      const { passed, others } = resultsOf(globSync(join(FOLDER, draft, '*.json')));
      deepEqual(others, []);
      ok(passed >= required, `${passed} passed`);
    });

    it(`passes the optional tests of ${draft}, except for patterns and formats that differ by design`, () => {
      const { passed, others } = resultsOf(globSync(join(FOLDER, draft, 'optional/**/*.json')));
      deepEqual(
        others.filter((each) => !differing.has(each.slice(0, each.indexOf(':')))),
        [],
      );
      ok(passed >= optional, `${passed} passed`);
    });
  }
});

/** Whether a value is valid, or the reason why the schema is rejected. */
function resultFor(schema: object | boolean, data: unknown, $schema: string): boolean | string {
  const whole = typeof schema === 'object' ? { $schema, ...schema } : schema;
  try {
    return check(whole as object, JSON.stringify(data)) === '';
  } catch (error) {
    return (error as Error).message;
  }
}
