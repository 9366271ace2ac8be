import { deepEqual, equal, match } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { PlacedFinding } from '../../../kernel/cli/attack/report.ts';
import { catalogue } from '../../../plugins/attack/index.ts';
import { createFolder, sluice } from '../cli/command.ts';

const FILE = 'test/kernel/attack/weak/gateway.json';

/** Weaknesses of the file: attack, endpoint, and text of the line that has to change. */
const weaknesses: readonly (readonly [attack: string, endpoint: string, line: string])[] = [
  ['missing-credentials', 'GET /debug', '{'],
  ['path-confusion', 'GET /accounts/private', '"endpoint": "/accounts/{name}",'],
  ['token-algorithm', 'GET /debug', '"alg": "RS256",'],
  ['token-header', 'GET /debug', '"auth/validator": {'],
  ['token-claims', 'GET /debug', '"auth/validator": {'],
  ['header-spoofing', 'GET /accounts/{name}', '"input_headers": ["X-User"],'],
  ['hop-by-hop-abuse', 'GET /orders', '{'],
  ['method-confusion', 'GET /orders', '"input_headers": ["X-HTTP-Method-Override"],'],
  [
    'parameter-injection',
    'GET /files',
    '"backend": [{ "url_pattern": "/files", "extra_config": { "careless/rewrite": {} } }]',
  ],
  [
    'cors-reflection',
    'GET /accounts/private',
    '"security/cors": { "allow_origins": ["https://*shop.example"], "allow_credentials": true }',
  ],
  ['cache-confusion', 'GET /tenants', '"input_headers": ["X-Tenant"],'],
  [
    'open-redirect',
    'GET /accounts/private',
    '"security/http": { "ssl_redirect": true, "ssl_proxy_headers": { "X-Forwarded-Proto": "https" } },',
  ],
  ['token-audience', 'GET /accounts/private', '"auth/validator": {'],
  ['secret-disclosure', 'GET /invoices', '{'],
  ['quota-race', 'GET /exports', '"governance/quota": {'],
  [
    'rate-limit-evasion',
    'GET /searches',
    '"qos/ratelimit/router": { "client_max_rate": 5, "strategy": "header", "key": "X-Client" }',
  ],
  ['graphql-depth', 'POST /graphql', '"backend": [{ "url_pattern": "/graphql", "encoding": "no-op" }]'],
  ['compression-bomb', 'POST /graphql', '"router": { "max_payload": 0, "decompress_gzip": true },'],
  ['oversized-body', 'POST /graphql', '"router": { "max_payload": 0, "decompress_gzip": true },'],
  ['oversized-headers', 'GET /accounts/private', '"max_header_bytes": 4000000,'],
  ['slow-headers', 'GET /accounts/private', '"read_header_timeout": "0s",'],
  ['slow-body', 'POST /graphql', '"idle_timeout": "0s",'],
];

/** Attacks on the bytes of a connection, which no configuration makes possible; they have tests of their own. */
const ofConnections = ['request-smuggling'];

interface Report {
  readonly clean: boolean;
  readonly findings: readonly PlacedFinding[];
  readonly withstood: number;
}

describe('sluice attack on a weak configuration', () => {
  let report: Report;
  let lines: string[];

  before(async function () {
    this.timeout(120_000);
    const { code, out, err } = await sluice('attack', FILE, '--seed', '1', '--format', 'json');
    equal(code, 1, err);
    report = JSON.parse(out) as Report;
    lines = readFileSync(FILE, 'utf8').split('\n');
  });

  for (const [attack, endpoint, line] of weaknesses) {
    it(`shows ${attack} at ${endpoint}, with the line to change and the request`, () => {
      const finding = report.findings.find((each) => each.attack === attack && each.endpoint === endpoint);
      equal(finding && lines[finding.line! - 1]!.trim(), line);
      match(finding!.requests[0]!, /^(?:curl -i|printf) /);
    });
  }

  it('shows nothing else', () => {
    const shown = report.findings.map(({ attack, endpoint }) => `${attack} ${endpoint}`).sort();
    deepEqual(shown, weaknesses.map(([attack, endpoint]) => `${attack} ${endpoint}`).sort());
  });

  it('contains a weakness for every attack of the catalog', () => {
    const shown = new Set([...weaknesses.map(([attack]) => attack), ...ofConnections]);
    deepEqual(
      catalogue.attacks.map(({ name }) => name).filter((name) => !shown.has(name)),
      [],
    );
  });
});

describe('sluice attack', () => {
  const run = (...args: string[]) => sluice('attack', FILE, '--seed', '1', '--only', 'header-spoofing', ...args);

  it('exits 0 if every finding is accepted with a reason', async () => {
    const folder = createFolder();
    try {
      const file = folder.write('accepted', 'header-spoofing GET /accounts/{name}  # the backend ignores X-User\n');
      const { code, out } = await run('--accept', file);
      equal(code, 0, out);
      match(out, /^1 finding accepted$/m);
      const { code: refused, err } = await run('--accept', folder.write('bare', 'header-spoofing GET /a\n'));
      equal(refused, 2);
      match(err, /bare:1: the accepted finding "header-spoofing GET \/a" has no reason/);
    } finally {
      folder.remove();
    }
  });

  it('exits 0 if no finding has the severity of --fail-on', async () => {
    equal((await run('--fail-on', 'critical')).code, 0);
    equal((await run('--fail-on', 'high')).code, 1);
  });

  it('attacks only the endpoints of --endpoint', async () => {
    const { out } = await run('--endpoint', '/orders');
    match(out, /^1 attack on 1 endpoint: 0 findings, 1 withstood$/m);
  });

  it('reports attacks that did not begin within the time, and exits 1', async () => {
    const { code, out } = await run('--minutes', '0', '--endpoint', '/orders');
    equal(code, 1);
    match(out, /^1 attack not run: the time is over$/m);
  });

  it('prints annotations for GitHub and JUnit', async () => {
    match((await run('--format', 'github')).out, /^::error file=test\/kernel\/attack\/weak\/gateway\.json,line=32,/m);
    match((await run('--format', 'junit')).out, /<testcase name="header-spoofing GET \/accounts\/\{name\}"/);
  });

  it('lists all attacks', async () => {
    const { out } = await sluice('attack', '--list');
    equal(out.split('\n').length, catalogue.attacks.length + 1);
    match(out, /^header-spoofing +high +A client can set a header/m);
  });

  it('rejects unknown attacks and numbers that are not valid', async () => {
    match(
      (await sluice('attack', FILE, '--only', 'header-spoofin')).err,
      /unknown attack "header-spoofin".*header-spoofing/s,
    );
    match((await sluice('attack', FILE, '--minutes', 'a')).err, /--minutes must be a number, not "a"/);
  });
});
