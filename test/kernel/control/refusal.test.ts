import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { ConfigError } from '#contract';
import { parseDocument } from '../../../kernel/config/index.ts';
import { ConfigErrors, GatewayError } from '../../../kernel/contract/internal.ts';
import { briefly, Refusal, recordOf, type Slug, toRefusal } from '../../../kernel/control/refusal.ts';
import type { Phase } from '../../../kernel/runtime/build/phases.ts';

const errorsOf = (...codes: string[]) => new ConfigErrors(codes.map((code) => new ConfigError(code, '/port', 'wrong')));

const document = parseDocument('{"port": 1, "password": "hunter2"}', 'gateway.json');

describe('a rejected change', () => {
  for (const [codes, phase, slug] of [
    [['CONFIG_READ'], 'read', 'warmup'],
    [['CONFIG_SYNTAX'], 'read', 'syntax'],
    [[], 'read', 'syntax'],
    [['SCHEMA_TYPE'], 'validate', 'validation'],
    [['CONFIG_READ'], 'validate', 'validation'],
    [['ROUTE_COLLISION', 'ROUTE_DUPLICATE'], 'validate', 'routes'],
    [['ROUTE_DUPLICATE', 'SCHEMA_TYPE'], 'validate', 'validation'],
    [['SCHEMA_TYPE', 'TLS_FILE'], 'build', 'validation'],
    [['DURATION_RANGE'], 'build', 'validation'],
    [['NAMESPACE_UNKNOWN'], 'build', 'validation'],
    [['CONFIG_CONFLICT'], 'build', 'validation'],
    [['ENV_VALUE'], 'build', 'validation'],
    [['ENCODING_UNKNOWN'], 'build', 'validation'],
    [['SD_UNKNOWN'], 'build', 'validation'],
    [['TLS_SCHEMA_FILE'], 'build', 'build'],
    [['TLS_FILE'], 'build', 'build'],
    [['SCHEMA_TYPE'], 'warmup', 'warmup'],
    [['WARM_UP'], 'warmup', 'warmup'],
    [['LISTENER_BIND', 'WARM_UP'], 'prepare', 'warmup'],
    [['WORKER_LATE'], 'prepare', 'timeout'],
    [['COMMIT_FAILED'], 'swap', 'internal'],
  ] as const satisfies readonly (readonly [readonly string[], Phase, Slug])[]) {
    it(`with ${codes.length > 0 ? `the error ${codes.join(' and ')}` : 'no errors'} in the step ${phase} is reported as the problem ${slug}`, () => {
      const refusal = toRefusal(errorsOf(...codes), phase, null);
      deepEqual([refusal.slug, refusal.phase], [slug, phase]);
    });
  }

  for (const [phase, slug] of [
    ['prepare', 'timeout'],
    ['warmup', 'warmup'],
    ['build', 'internal'],
  ] as const) {
    it(`without a place in the configuration is reported as the problem ${slug} in the step ${phase}`, () => {
      const { slug: called, message, issues } = toRefusal(new GatewayError('LATE', 'too late'), phase, null);
      deepEqual([called, message, issues], [slug, 'too late', []]);
    });
  }

  for (const error of [new Error('a bug'), 'a bug']) {
    it(`with ${typeof error === 'string' ? 'a text' : 'an error'} of unknown kind is reported as an internal error that contains it`, () => {
      const { slug, message, cause } = toRefusal(error, 'prepare', null);
      deepEqual([slug, message, cause], ['internal', 'a bug', error]);
    });
  }

  it('is returned unchanged if it already is a refusal object', () => {
    const refusal = new Refusal('stale', 'read', [], null);
    equal(toRefusal(refusal, 'swap', null), refusal);
  });

  it('has the places of its errors in the document, without secrets', () => {
    const { issues } = toRefusal(
      new ConfigErrors([new ConfigError('SCHEMA_TYPE', '/port', 'wrong'), new ConfigError('X', '/password', 'weak')]),
      'validate',
      document,
    );
    deepEqual(
      issues.map(({ file, line, column, value, severity }) => ({ file, line, column, value, severity })),
      [
        { file: 'gateway.json', line: 1, column: 10, value: '1', severity: 'error' },
        { file: 'gateway.json', line: 1, column: 25, value: '***', severity: 'error' },
      ],
    );
  });

  it('masks values at the given pointers', () => {
    const { issues } = toRefusal(errorsOf('SCHEMA_TYPE'), 'validate', document, (pointer) => pointer === '/port');
    equal(issues[0]!.value, '***');
  });

  it('lists its errors in its message, and warnings only on request', () => {
    const { message, warnings } = toRefusal(errorsOf('SCHEMA_TYPE', 'TLS_FILE'), 'build', null);
    deepEqual([message, warnings], ['/port  SCHEMA_TYPE  wrong\n/port  TLS_FILE  wrong', []]);
  });

  describe('is stored', () => {
    const many = (count: number) => errorsOf(...Array.from({ length: count }, (_, at) => `CODE_${at}`));

    it('with all its errors and warnings, and without the message that repeats them', () => {
      const refusal = toRefusal(many(200), 'build', null);
      refusal.warnings = refusal.issues.slice(0, 3);
      const { slug, phase, issues, warnings, message, hidden } = recordOf(refusal);
      deepEqual({ slug, phase, message, hidden }, { slug: 'build', phase: 'build', message: '', hidden: 0 });
      deepEqual([issues, warnings], [refusal.issues, refusal.warnings]);
    });

    it('with the first two hundred errors and warnings, and the number of the others', () => {
      const refusal = toRefusal(many(203), 'build', null);
      refusal.warnings = refusal.issues;
      const { issues, warnings, hidden } = recordOf(refusal);
      deepEqual([issues.at(-1)!.code, warnings.length, hidden], ['CODE_199', 200, 3]);
    });

    it('with its message if it has no errors', () => {
      const { message, issues, hidden } = recordOf(toRefusal(new Error('a bug'), 'swap', null));
      deepEqual({ message, issues, hidden }, { message: 'a bug', issues: [], hidden: 0 });
    });

    it('as a copy', () => {
      const { issues } = toRefusal(many(1), 'build', null);
      notEqual(briefly(issues)[0], issues[0]);
      deepEqual(briefly(issues), issues);
    });
  });
});
