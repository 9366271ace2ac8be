import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import type { X509Certificate } from 'node:crypto';
import {
  type AccessRecord,
  BackendError,
  Call,
  claimsSlot,
  HeaderBag,
  type LogDestination,
  type LogLevel,
  type LogSinks,
  type PipeRequest,
  Reply,
  type RouterOptions,
  type Step,
  traceSlot,
} from '#contract';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { createAccessWriter, createLog, joinLogging } from '../../../kernel/logging/index.ts';
import { openHarness } from '../../../kernel/testing/index.ts';
import { upstreamSlot } from '../../../plugins/telemetry/logging/access.ts';
import { plugin } from '../../../plugins/telemetry/logging/index.ts';

function memorySinks(terminal = false) {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const opened: LogDestination[] = [];
  const sinkOver = (lines: string[]) => ({ terminal, lost: 0, write: (line: string) => void lines.push(line) });
  const sinks: LogSinks = {
    stdout: sinkOver(stdout),
    stderr: sinkOver(stderr),
    lost: 0,
    open(destination) {
      opened.push(destination);
      return { ...sinkOver([]), close() {} };
    },
  };
  return { sinks, stdout, stderr, opened };
}

/** The plugin at the root, and the logs that the kernel writes with it. */
async function gateway(
  config: unknown,
  options: { router?: Partial<RouterOptions>; terminal?: boolean; next?: Step<PipeRequest> } = {},
) {
  const memory = memorySinks(options.terminal);
  const log = createLog({ level: 'DEBUG', outputs: [] });
  const time = { now: 0 };
  const gate = await openHarness(plugin, 'service', config, {
    services: { sinks: memory.sinks, log, clock: { now: () => time.now } },
  });
  const joined = joinLogging([gate.attached.logging ?? {}], memory.sinks);
  log.configure(joined.application);
  const router = { disable_access_log: false, logger_skip_paths: [], ...options.router };
  const access = createAccessWriter(router, joined, memory.sinks, log);
  return { ...memory, gate, log, access: (record: AccessRecord) => access?.(record), time };
}

function record(given: Partial<AccessRecord> = {}): AccessRecord {
  return {
    endedAt: new Date(2024, 0, 2, 15, 4, 5, 678).getTime(),
    latencyMs: 2,
    status: 200,
    method: 'GET',
    path: '/a',
    search: 'x=1',
    host: 'gateway.test',
    ip: '127.0.0.1',
    secure: false,
    httpVersion: '1.1',
    requestHeaders: new HeaderBag(),
    bytesOut: 42,
    errors: [],
    endpoint: '/{id}',
    route: null,
    completed: true,
    tls: null,
    certificate: null,
    call: null,
    ...given,
  };
}

async function accessLineOf(format: string, given: Partial<AccessRecord> = {}, more: object = {}): Promise<string> {
  const config = { level: 'INFO', access_log_format: 'custom', access_log_custom_format: `${format}\n`, ...more };
  const { access, stdout } = await gateway(config);
  access(record(given));
  equal(stdout.length, 1);
  return stdout[0]!.slice(0, -1);
}

async function applicationLineOf(config: object, level: LogLevel, message: string, terminal = false): Promise<string> {
  const { log, stdout } = await gateway({ level: 'DEBUG', stdout: true, ...config }, { terminal });
  log[level.toLowerCase() as Lowercase<LogLevel>](message);
  return stdout[0]!;
}

async function refusedWith(config: unknown): Promise<{ code: string; pointer: string; message: string }> {
  const { code, pointer, message } = await issueOf(config);
  return { code, pointer, message };
}

async function issueOf(config: unknown): Promise<ConfigErrors['errors'][number]> {
  let match: ConfigErrors | undefined;
  await rejects(openHarness(plugin, 'service', config), (error) => {
    match = error as ConfigErrors;
    return error instanceof ConfigErrors;
  });
  return match!.errors[0]!;
}

describe('the application log of telemetry/logging', () => {
  it('drops lines below the level', async () => {
    const { log, stdout } = await gateway({ level: 'WARNING', stdout: true });
    log.info('quiet');
    deepEqual(stdout, []);
    log.warning('loud');
    equal(stdout.length, 1);
  });

  it('reads the level in any letter case', async () => {
    const { log, stdout } = await gateway({ level: 'Error', stdout: true });
    log.warning('quiet');
    log.error('loud');
    equal(stdout.length, 1);
  });

  it('writes the default format with prefix and without color to a file or pipe', async () => {
    const line = await applicationLineOf({ prefix: '[GW]' }, 'WARNING', 'hello');
    match(line, /^\[GW\] \d{4}\/\d\d\/\d\d - \d\d:\d\d:\d\d\.\d{3} ▶ WARNING hello\n$/);
  });

  it('colors the default format on a terminal', async () => {
    match(await applicationLineOf({}, 'ERROR', 'hello', true), / \x1b\[31m▶ ERROR\x1b\[0m hello\n$/);
  });

  it('writes valid JSON with the format "logstash" for any message', async () => {
    const line = await applicationLineOf({ format: 'logstash' }, 'INFO', 'say "hi" \\ \n\x1b');
    const parsed = JSON.parse(line) as Record<string, unknown>;
    equal(parsed['message'], 'say "hi" \\ \n\x1b');
    deepEqual(Object.keys(parsed), ['@timestamp', '@version', 'level', 'message', 'module']);
    equal(parsed['@version'], 1);
    match(String(parsed['@timestamp']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
    ok(Math.abs(Date.parse(String(parsed['@timestamp'])) - Date.now()) < 60_000);
  });

  it('writes a field for each piece of information with the format "json", separate from the message', async () => {
    const { log, stdout } = await gateway({ level: 'DEBUG', stdout: true, format: 'json', prefix: '[GW]' });
    log.at('[BACKEND: GET /a -> GET /b]').at('[Client]').warning('say "hi" \\ \n\x1b');
    log.info('[no component]');
    const [first, second] = stdout.map((line) => JSON.parse(line) as Record<string, unknown>);
    match(String(first!['time']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:Z|[+-]\d\d:\d\d)$/);
    deepEqual(Object.entries(first!).slice(1), [
      ['level', 'WARNING'],
      ['prefix', '[GW]'],
      ['component', '[BACKEND: GET /a -> GET /b][Client]'],
      ['message', 'say "hi" \\ \n\x1b'],
    ]);
    deepEqual([second!['component'], second!['message']], ['', '[no component]']);
  });

  it('fills the variables of a custom format', async () => {
    const custom_format = '%{id} %{pid} %{program} %{module} %{level} %{color}%{color:bold}%{color:reset}%{message}';
    const line = await applicationLineOf({ format: 'custom', custom_format }, 'INFO', 'x');
    match(line, new RegExp(`^1 ${process.pid} \\S+ GATEWAY INFO x\\n$`));
  });

  it('truncates a variable to its precision', async () => {
    const config = { format: 'custom', custom_format: '%{level:.6s}' };
    equal(await applicationLineOf(config, 'WARNING', 'x'), 'WARNIN\n');
    equal(await applicationLineOf(config, 'CRITICAL', 'x'), 'CRITIC\n');
  });

  it('escapes control characters in messages', async () => {
    const line = await applicationLineOf(
      { format: 'custom', custom_format: '%{message}' },
      'INFO',
      'a\r\nFAKE\x1b[31m',
    );
    equal(line, 'a\\r\\nFAKE\\x1b[31m\n');
  });

  it('writes nothing if neither stdout nor syslog is enabled, and warns at startup', async () => {
    const { gate, log, stdout } = await gateway({ level: 'DEBUG' });
    log.critical('x');
    deepEqual(stdout, []);
    deepEqual(
      gate.warnings.map((warning) => warning.code),
      ['LOGGING_NOWHERE'],
    );
  });

  it('releases all its resources', async () => {
    const { gate } = await gateway({ level: 'DEBUG', stdout: true, syslog: true });
    await gate.reload({ level: 'INFO', stdout: true, syslog: true });
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  it('keeps one syslog connection across reloads', async () => {
    const { gate, opened } = await gateway({ level: 'DEBUG', stdout: true, syslog: true });
    await gate.reload({ level: 'INFO', stdout: true, syslog: true, prefix: 'x' });
    equal(opened.length, 1);
    await gate.close();
  });
});

describe('the access log of telemetry/logging', () => {
  it('prints the client certificate with names as in RFC 2253', async () => {
    const certificate = {
      subject: 'C=DE\nO=Shop\nCN=ada "x"',
      issuer: 'CN=authority',
      serialNumber: '0A',
      fingerprint256: 'AB:CD:01',
    } as X509Certificate;
    const format = '%{clientCert.subject}|%{clientCert.issuer}|%{clientCert.serial}|%{clientCert.fingerprint}';
    equal(await accessLineOf(format, { certificate }), 'CN=ada "x",O=Shop,C=DE|CN=authority|0A|abcd01');
    equal(await accessLineOf(format), '-|-|-|-');
    const nameless = { ...certificate, subject: undefined } as unknown as X509Certificate;
    equal(await accessLineOf('%{clientCert.subject}', { certificate: nameless }), '-');
    for (const name of ['clientCert.key', 'clientCert.constructor', 'clientCert']) {
      const config = { level: 'INFO', access_log_format: 'custom', access_log_custom_format: `%{${name}}\n` };
      match((await refusedWith(config)).message, /unknown variable/);
    }
  });

  it('is written in the built-in format if no format is configured', async () => {
    const { access, stdout } = await gateway({ level: 'CRITICAL' });
    access(record());
    match(stdout[0]!, /^\[GATEWAY\] .* \| 200 \| .* "\/a\?x=1"\n$/);
  });

  it('is written in the format "default"', async () => {
    const { access, stdout } = await gateway({ level: 'INFO', prefix: '[GW]', access_log_format: 'default' });
    access(record());
    equal(stdout[0], '[GW] 2024/01/02 - 15:04:05.678 [AccessLog] |200| 2.000ms | 127.0.0.1 | GET /a\n');
  });

  it('is written in the common log format of web servers', async () => {
    const { access, stdout } = await gateway({ level: 'INFO', access_log_format: 'httpdCommon' });
    access(record());
    equal(stdout[0], '127.0.0.1 - - [2024/01/02 - 15:04:05.678] "GET /a?x=1 HTTP/1.1" 200 -\n');
  });

  for (const access_log_format of ['httpdCombine', 'httpdCombined']) {
    it(`is written in the combined log format of web servers with ${access_log_format}`, async () => {
      const { access, stdout } = await gateway({ level: 'INFO', access_log_format });
      access(record({ requestHeaders: new HeaderBag(['Referer', 'r', 'User-Agent', 'u "x"']) }));
      match(stdout[0]!, /" 200 - "r" "u \\"x\\""\n$/);
    });
  }

  it('is written in a JSON format with a numeric status', async () => {
    const { access, stdout } = await gateway({ level: 'INFO', access_log_format: 'json' });
    access(record());
    equal(
      stdout[0],
      '{"prefix":"","time":"2024/01/02 - 15:04:05.678","status_code":200,"latency":"0.002s","client_ip":"127.0.0.1","method":"GET","path":"/a"}\n',
    );
  });

  it('prints a marker for missing values', async () => {
    equal(await accessLineOf('%{header.X-Id} %{jwt.sub}'), '- -');
    equal(await accessLineOf('%{header.X-Id}', {}, { access_log_missing_key_marker: '?' }), '?');
    equal(await accessLineOf('%{header.X-Id}', {}, { access_log_missing_key_marker: '' }), '-');
  });

  it('skips listed paths with and without a query', async () => {
    const router = { logger_skip_paths: ['/__health'] };
    const { access, stdout } = await gateway({ level: 'INFO', access_log_format: 'json' }, { router });
    access(record({ path: '/__health', search: '' }));
    access(record({ path: '/__health', search: 'x=1' }));
    deepEqual(stdout, []);
  });

  it('writes a forged header value in one line with escapes', async () => {
    equal(await accessLineOf('%{header.X}', { requestHeaders: new HeaderBag(['x', 'a\r\nFAKE']) }), 'a\\r\\nFAKE');
  });

  it('is valid JSON if the custom format is JSON', async () => {
    const line = await accessLineOf('{"ua":"%{header.User-Agent}"}', {
      requestHeaders: new HeaderBag(['User-Agent', 'a","admin":"b\\\x00']),
    });
    equal((JSON.parse(line) as Record<string, string>)['ua'], 'a","admin":"b\\\x00');
  });

  it('joins repeated headers', async () => {
    equal(await accessLineOf('%{header.X}', { requestHeaders: new HeaderBag(['x', 'a', 'X', 'b']) }), 'a, b');
    equal(await accessLineOf('%{reqHeader.X}', { requestHeaders: new HeaderBag(['x', 'a']) }), 'a');
  });

  it('prints the latency in every unit and format', async () => {
    const line = await accessLineOf('%{latency} %{latencyMs} %{latencyUs} %{latencyNs} %{latencyMs:.0fms}', {
      latencyMs: 12.5,
    });
    equal(line, '0.013s 12.500ms 12500.000us 12500000ns 13ms');
  });

  it('prints the time in a given layout', async () => {
    equal(await accessLineOf('%{time:kitchen}|%{time:Mon, 02 Jan 2006 15:04}'), '3:04PM|Tue, 02 Jan 2024 15:04');
  });

  it('prints the parts of the request', async () => {
    const line = await accessLineOf(
      '%{prefix}%{uri} %{query} %{query.x} %{host} %{scheme} %{proto}',
      {},
      { prefix: 'P ' },
    );
    equal(line, 'P /a?x=1 x=1 1 gateway.test http HTTP/1.1');
  });

  it('prints the scheme ws for WebSockets', async () => {
    equal(await accessLineOf('%{scheme} %{statusCode}', { status: 101, secure: true }), 'wss 101');
  });

  it('prints token claims, including those with colons in their names', async () => {
    const call = new Call();
    call.set(claimsSlot, { sub: 'joe', 'https://x.test/roles': ['a', 'b'], n: 7 });
    equal(
      await accessLineOf('%{jwt.sub} %{jwt.n} %{jwt.https://x.test/roles} %{jwt.constructor} %{jwt.sub:.1s}', { call }),
      'joe 7 ["a","b"] - j',
    );
  });

  it('prints trace and request IDs, endpoint, bytes, errors and upstream statuses', async () => {
    const call = new Call();
    call.set(traceSlot, { traceId: 't', spanId: 's' });
    call.set(upstreamSlot, ['200', '503']);
    const line = await accessLineOf(
      '%{traceId} %{spanId} %{requestId} %{endpoint} %{bytes} %{error} %{backendStatus}',
      {
        call,
        requestHeaders: new HeaderBag(['X-Request-Id', 'r']),
        errors: [{ message: 'a' }, { message: 'b' }],
      },
    );
    equal(line, 't s r /{id} 42 a; b 200,503');
  });

  it("prints the client's trace ID if tracing is disabled", async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const line = await accessLineOf('%{traceId} %{spanId}', {
      requestHeaders: new HeaderBag(['traceparent', traceparent]),
    });
    equal(line, `${'a'.repeat(32)} ${'b'.repeat(16)}`);
  });

  it('adds a missing line break to the format, and warns about that once', async () => {
    const config = { level: 'INFO', stdout: true, access_log_format: 'custom', access_log_custom_format: '%{method}' };
    const { access, stdout, gate } = await gateway(config);
    access(record());
    deepEqual(stdout, ['GET\n']);
    deepEqual(
      gate.warnings.map((warning) => warning.code),
      ['LOGGING_LINE_BREAK'],
    );
  });

  it('prints credentials if configured, with one warning at startup', async () => {
    const custom = '%{header.Authorization}\n';
    const config = { level: 'INFO', stdout: true, access_log_format: 'custom', access_log_custom_format: custom };
    const { access, stdout, gate } = await gateway(config);
    access(record({ requestHeaders: new HeaderBag(['authorization', 'Bearer x']) }));
    deepEqual(stdout, ['Bearer x\n']);
    deepEqual(
      gate.warnings.map((warning) => [warning.code, warning.pointer]),
      [['LOGGING_CREDENTIALS', '/access_log_custom_format']],
    );
  });
});

describe('the backend log of telemetry/logging', () => {
  const users = { url_pattern: '/v1/users/7' };

  /** A call through the backend log, with a response after 12.5 ms. */
  async function backendLines(backend: object, reply: Reply, level: LogLevel = 'DEBUG'): Promise<string[]> {
    const { sinks, stdout } = memorySinks();
    const time = { now: 0 };
    const log = createLog({
      level,
      outputs: [{ sink: sinks.stdout, format: (line) => `${line.level} ${line.message}\n` }],
    });
    const gate = await openHarness(
      plugin,
      'backend',
      { backend },
      {
        services: { sinks, log, clock: { now: () => time.now } },
        backend: users,
      },
    );
    const request = {
      method: 'GET',
      origin: 'http://users.internal:8080',
      target: '/v1/users/7?a=b',
      client: { ip: '10.0.0.1' },
    };
    const step = gate.attached.transport!(() => {
      time.now += 12.5;
      return reply;
    });
    await step(request as PipeRequest, new Call());
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
    return stdout;
  }

  const respond = (status: number, list: string[] = []) => Reply.raw(status, new HeaderBag(list), null);

  it('prints the status, duration, host and path of a backend call', async () => {
    const [line] = await backendLines({ prefix: '[B] ' }, respond(503));
    match(
      line!,
      /^\[B\] \d{4}\/\d\d\/\d\d - \d\d:\d\d:\d\d\.\d{3} \|503\| 12\.500ms \| GET users\.internal:8080 \/v1\/users\/7\n$/,
    );
  });

  it('prints the marker for missing values as the status of a failed call', async () => {
    const failed = Reply.failed(new BackendError('BACKEND_DIAL', 'refused'));
    deepEqual(await backendLines({ custom_format: '%{statusCode} %{error}\n' }, failed), ['- refused\n']);
    deepEqual(await backendLines({ custom_format: '%{statusCode}\n', no_value: '?' }, failed), ['?\n']);
    deepEqual(await backendLines({ custom_format: '%{statusCode}\n', no_value: '' }, failed), ['-\n']);
  });

  it("prints the backend's status even if the call counts as failed", async () => {
    const failed = Reply.failed(new BackendError('BACKEND_STATUS', 'invalid status code', { upstreamStatus: 503 }));
    deepEqual(await backendLines({ custom_format: '%{statusCode}\n' }, failed), ['503\n']);
  });

  it('prints response headers of the backend', async () => {
    const reply = respond(200, ['X-Served-By', 'a\nb']);
    deepEqual(await backendLines({ custom_format: '%{header.x-served-by}\n' }, reply), ['a\\nb\n']);
  });

  it('prints its endpoint, query and scheme', async () => {
    const custom_format = '%{endpoint} %{uri} %{query.a} %{scheme} %{clientIP} %{proto}\n';
    deepEqual(await backendLines({ custom_format }, respond(200)), ['/test /v1/users/7?a=b b http 10.0.0.1 -\n']);
  });

  it('is written to the application log if it has a level', async () => {
    const backend = { log_with_level: 'info', custom_format: '%{statusCode}\n' };
    deepEqual(await backendLines(backend, respond(200), 'INFO'), ['INFO 200\n']);
    deepEqual(await backendLines(backend, respond(200), 'ERROR'), []);
  });

  it('is written without filtering if it has no level', async () => {
    deepEqual(await backendLines({ custom_format: '%{statusCode}\n' }, respond(200), 'CRITICAL'), ['200\n']);
  });

  it('contains no line for a backend that was not called', async () => {
    const skipped = respond(200);
    skipped.skipped = true;
    deepEqual(await backendLines({ custom_format: '%{statusCode}\n' }, skipped), []);
  });

  it('is written at its level and above even if the access log is disabled', async () => {
    const lines = async (level: LogLevel) => {
      const backend = { log_with_level: 'INFO', custom_format: 'backend\n' };
      const config = { level, stdout: true, format: 'custom', custom_format: '%{message}', backend };
      const { gate, access, stdout } = await gateway(config, { router: { disable_access_log: true } });
      access(record());
      const site = { endpoint: { endpoint: '/a' }, backend: { extra_config: {} } };
      const { transport } = gate.attached.eachBackend!(site as never);
      await transport!(() => respond(200))({ method: 'GET', origin: '', target: '' } as PipeRequest, new Call());
      return stdout;
    };
    deepEqual(await lines('ERROR'), []);
    deepEqual(await lines('INFO'), ['backend\n']);
  });

  it("at a backend replaces the root's settings as a whole", async () => {
    const { gate } = await gateway({ level: 'INFO', stdout: true, backend: { prefix: 'x' } });
    const extra_config = { 'telemetry/logging': { backend: { no_value: '?' } } };
    const site = { endpoint: { endpoint: '/a' }, backend: { extra_config } };
    deepEqual(gate.attached.eachBackend!(site as never), {});
  });

  it('collects upstream statuses only if the access log prints them', async () => {
    const { gate } = await gateway({
      level: 'INFO',
      access_log_format: 'custom',
      access_log_custom_format: '%{backendStatus}\n',
    });
    const site = { endpoint: { endpoint: '/a' }, backend: { extra_config: {} } };
    const { transport } = gate.attached.eachBackend!(site as never);
    const call = new Call();
    await transport!(() => respond(404))({} as PipeRequest, call);
    await transport!(async () => Reply.failed(new BackendError('X', 'x')))({} as PipeRequest, call);
    deepEqual(call.get(upstreamSlot), ['404', '-']);
    equal((await gateway({ level: 'INFO' })).gate.attached.eachBackend, undefined);
  });
});

describe('the configuration errors of telemetry/logging', () => {
  it('include a missing level', async () => {
    match((await refusedWith({ stdout: true })).message, /level/);
  });

  it('include an unknown level', async () => {
    deepEqual(await refusedWith({ level: 'TRACE' }), {
      code: 'LOGGING_LEVEL',
      pointer: '/level',
      message: 'unknown level "TRACE"',
    });
    equal((await refusedWith({ level: 'INFO', backend: { log_with_level: 'x' } })).pointer, '/backend/log_with_level');
  });

  it('include a custom format without its pattern', async () => {
    equal((await refusedWith({ level: 'INFO', format: 'custom' })).pointer, '/format');
    equal((await refusedWith({ level: 'INFO', access_log_format: 'custom' })).pointer, '/access_log_format');
  });

  it('include the column of an unknown or unterminated variable', async () => {
    deepEqual(await refusedWith({ level: 'INFO', format: 'custom', custom_format: 'a %{nope}' }), {
      code: 'LOGGING_PATTERN',
      pointer: '/custom_format',
      message: 'unknown variable %{nope} at column 3',
    });
    const access = { level: 'INFO', access_log_format: 'custom', access_log_custom_format: '%{method} %{path\n' };
    equal((await refusedWith(access)).message, 'unterminated %{ at column 11');
    const backend = { level: 'INFO', backend: { custom_format: '%{message}\n' } };
    deepEqual(await refusedWith(backend), {
      code: 'LOGGING_PATTERN',
      pointer: '/backend/custom_format',
      message: 'unknown variable %{message} at column 1',
    });
  });

  it('include the list of variables if one is unknown', async () => {
    const hintOf = async (config: object) => (await issueOf({ level: 'INFO', ...config })).hint!;
    match(await hintOf({ format: 'custom', custom_format: '%{x}' }), /^use one of id, .*message/);
    match(await hintOf({ backend: { custom_format: '%{x}\n' } }), /latencyMs, .*reqHeader\.NAME, .*resp\.PATH$/);
    const access = { access_log_format: 'custom', access_log_custom_format: '%{x}\n' };
    match(await hintOf(access), /clientIP, .*reqHeader\.NAME, .*clientCert\.fingerprint$/);
  });

  it('include an invalid format after a colon', async () => {
    const config = { level: 'INFO', format: 'custom', custom_format: '%{level:wide}' };
    equal((await refusedWith(config)).message, 'unknown format ":wide" at column 1');
  });

  for (const config of [
    { format: 'xml' },
    { access_log_format: 'nginx' },
    { syslog_facility: 'mail' },
    { colour: true },
    { backend: {} },
  ]) {
    it(`include ${JSON.stringify(config)}`, async () => {
      await refusedWith({ level: 'INFO', ...config });
    });
  }

  it('include a backend log that mixes both forms', async () => {
    const mixed = openHarness(plugin, 'backend', { backend: { prefix: 'x' }, prefix: 'y' });
    await rejects(mixed, (error) => {
      const [{ pointer, message, hint }] = (error as ConfigErrors).errors as [ConfigErrors['errors'][number]];
      deepEqual(
        [pointer, message],
        [
          '/prefix',
          `'prefix' of "telemetry/logging" cannot be combined with the other fields: it belongs to another form of the component`,
        ],
      );
      return hint === 'use the fields of one form only';
    });
  });

  it('include an empty backend log', async () => {
    for (const config of [{}, { backend: {} }]) await rejects(openHarness(plugin, 'backend', config), ConfigErrors);
  });
});
