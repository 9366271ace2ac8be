import { deepEqual, equal } from 'node:assert/strict';
import { parseDocument } from '../../../kernel/config/index.ts';
import { type AuditOptions, type AuditReport, audit, auditRules, positionsIn } from '../../../kernel/inspect/index.ts';
import { known, normalize } from '../../support/known.ts';

const rules = await auditRules(known);

const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];
const open = { endpoint: '/a', input_headers: ['*'], backend };

function auditOf(document: object, options: AuditOptions = {}): AuditReport {
  const { config, origin } = normalize({ version: 3, ...document });
  return audit({ config, document: { version: 3, ...document }, origin }, rules, { known, ...options });
}

function firedBy(report: AuditReport): string[] {
  return report.recommendations.map(({ rule }) => rule);
}

function placesOf(report: AuditReport, id: string): string[] {
  return report.recommendations.find(({ rule }) => rule === id)?.instances.map(({ pointer }) => pointer) ?? [];
}

describe('an audit of a configuration', () => {
  it('reports the issues of a minimal configuration', () => {
    const fired = firedBy(auditOf({ endpoints: [{ endpoint: '/a', timeout: '2s', backend }] }));
    const lacking = '1.2.1 2.1.2 2.1.7 2.2.1 2.2.2 3.1.1 3.1.2 3.1.3 4.1.1 4.1.2 4.2.1 4.3.1 5.2.2 8.2.7';
    deepEqual(fired, lacking.split(' '));
  });

  it('omits ignored rules', () => {
    const fired = firedBy(auditOf({ endpoints: [open] }, { ignore: new Set(['2.2.3']) }));
    equal(fired.includes('2.2.3'), false);
    equal(fired.includes('2.1.2'), true);
  });

  it('is limited to the requested severities', () => {
    const { recommendations } = auditOf({ endpoints: [open] }, { severities: new Set(['LOW']) });
    deepEqual(new Set(recommendations.map(({ severity }) => severity)), new Set(['LOW']));
  });

  it('omits a rule for an object that ignores it', () => {
    const quiet = { ...open, endpoint: '/b', '@audit-ignore': ['2.2.3'] };
    deepEqual(placesOf(auditOf({ endpoints: [open, quiet] }), '2.2.3'), ['/endpoints/0/input_headers']);
  });

  it('omits a rule for everything inside an object that ignores it', () => {
    const insecure = { 'backend/http/client': { client_tls: { allow_insecure_connections: true } } };
    const inner = [{ ...backend[0], extra_config: insecure }];
    const report = auditOf({ endpoints: [{ endpoint: '/a', backend: inner, '@audit-ignore': ['2.1.9'] }] });
    deepEqual(placesOf(report, '2.1.9'), []);
  });

  it('applies all other rules to an object that ignores one rule', () => {
    const report = auditOf({ endpoints: [{ ...open, input_query_strings: ['*'], '@audit-ignore': ['2.2.3'] }] });
    deepEqual(placesOf(report, '2.2.4'), ['/endpoints/0/input_query_strings']);
  });

  it('omits a rule everywhere if the root ignores it', () => {
    equal(firedBy(auditOf({ '@audit-ignore': ['2.2.3', '2.1.2'], endpoints: [open] })).includes('2.2.3'), false);
  });

  it('recommends components that the gateway has', () => {
    const lacking = { endpoints: [{ endpoint: '/a', backend }] };
    const available = new Set(['security/cors', 'qos/ratelimit/router']);
    const fired = firedBy(auditOf(lacking, { available })).filter((id) => /^[13]|^2\.2\.2|^4\.1\.1/.test(id));
    deepEqual(fired, ['2.2.2', '3.1.2']);
  });

  it('reports a long timeout once, by the most severe rule', () => {
    const report = auditOf({ endpoints: [{ endpoint: '/a', timeout: '61s', backend }] });
    deepEqual(
      firedBy(report).filter((id) => id.startsWith('3.3.')),
      ['3.3.4'],
    );
  });

  it('reports a long timeout by a milder rule if the most severe one is ignored or not requested', () => {
    const slow = { endpoints: [{ endpoint: '/a', timeout: '61s', backend }] };
    equal(firedBy(auditOf(slow, { ignore: new Set(['3.3.4']) })).includes('3.3.3'), true);
    equal(firedBy(auditOf(slow, { severities: new Set(['LOW']) })).includes('3.3.1'), true);
  });

  it('reports an inherited timeout at the service', () => {
    const endpoints = ['/a', '/b'].map((endpoint) => ({ endpoint, backend }));
    deepEqual(placesOf(auditOf({ timeout: '4s', endpoints }), '3.3.1'), ['/timeout']);
  });

  it('omits endpoints that ignore the rule from a report about an inherited timeout', () => {
    const endpoints = [{ endpoint: '/a', '@audit-ignore': ['3.3.1'], backend }];
    deepEqual(placesOf(auditOf({ timeout: '4s', endpoints }), '3.3.1'), []);
  });

  it('marks recommendations that a reverse proxy may already fulfill as notes', () => {
    const { recommendations } = auditOf({ endpoints: [open] });
    deepEqual(
      recommendations.filter(({ note }) => note).map(({ rule }) => rule),
      ['2.1.2', '8.2.7'],
    );
  });

  it('lists at most 50 places per rule', () => {
    const endpoints = Array.from({ length: 60 }, (_, at) => ({ ...open, endpoint: `/e${at}` }));
    equal(placesOf(auditOf({ endpoints }), '2.2.3').length, 50);
  });

  it('uses the old field names of the document in pointers', () => {
    const document = { version: 2, endpoints: [{ endpoint: '/a', headers_to_pass: ['*'], backend }] };
    deepEqual(placesOf(auditOf(document), '2.2.3'), ['/endpoints/0/headers_to_pass']);
  });

  it('returns file, line and column of a place', () => {
    const text = '{\n  "version": 3,\n  "debug_endpoint": true\n}';
    const document = parseDocument(text, 'gateway.json');
    const { config } = normalize(document.data);
    const report = audit({ config, document: document.data }, rules, { positionOf: positionsIn(document), known });
    const { instances } = report.recommendations.find(({ rule }) => rule === '5.1.2')!;
    deepEqual(instances, [{ pointer: '/debug_endpoint', file: 'gateway.json', line: 3, column: 3 }]);
  });

  it('counts the objects that it examined', () => {
    const limited = { ...open, extra_config: { 'qos/ratelimit/router': {} } };
    const { stats } = auditOf({
      endpoints: [limited, { ...limited, endpoint: '/b', backend: [backend[0], backend[0]] }],
    });
    deepEqual(stats, { endpoints: 2, backends: 3, agents: 0, components: { 'qos/ratelimit/router': 2 } });
  });
});
