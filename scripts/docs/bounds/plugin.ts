import type { Bound } from './bound.ts';

/** Resources that plugins from files, scripts and templates can fill. */
export const pluginBounds: readonly Bound[] = [
  {
    holds: 'Messages and log lines of an isolated module',
    from: 'plugins/plugin/isolated/guest-site.ts',
    limit: '{MOST_LINES} lines a second',
    beyond: 'Lines are dropped; a thread that sends 20,000 messages per second is terminated and restarted.',
    tests: [
      'misbehaving isolated modules lose log lines if they log too much, and lose their thread if they send too many messages',
    ],
  },
  {
    holds: 'Bodies sent to an isolated module',
    from: 'plugins/plugin/isolated/wire.ts',
    limit: '{BODY_LIMIT_BYTES}',
    beyond: 'PLUGIN_BODY; the request is rejected with 413.',
    tests: ['isolated modules support the rejection of oversized bodies'],
  },
  {
    holds: 'Pending calls to an isolated module',
    from: 'kernel/registry/isolation/port-line.ts',
    limit: '{MOST_PENDING} questions',
    beyond: 'Further calls fail immediately.',
    tests: ['bounds of data that plugins fill fail calls to a thread with ten thousand pending calls'],
  },
  {
    holds: 'Body that a module reads completely',
    from: 'plugins/plugin/lib/bodies.ts',
    limit: '{BUFFER_LIMIT_BYTES}',
    beyond: 'The rest is passed through unread.',
    tests: ['an HTTP server module reads at most 1 MiB of a body into memory, and forwards bodies of any size'],
  },
  {
    holds: 'Spans of a request, with attributes and events',
    from: 'plugins/telemetry/opentelemetry/tracer.ts',
    limit: '{MOST_SPANS} spans of {MOST_ATTRIBUTES} attributes and {MOST_EVENTS} events',
    beyond: 'Further spans are not recorded.',
    tests: ['the spans of components are limited in number, attributes and lengths'],
  },
  {
    holds: 'Instruments of a meter',
    from: 'plugins/telemetry/lib/metrics/store.ts',
    limit: '{MAX_INSTRUMENTS} instruments',
    beyond: 'Further instruments are ignored.',
    tests: ['bounds of data that plugins fill keep at most a thousand instruments in a store of metrics'],
  },
  {
    holds: 'Repeated log lines of faults',
    from: 'kernel/containment/limited-log.ts',
    limit: '{REMEMBERED} lines',
    beyond: 'The least recently written is dropped.',
    tests: ['bounds of data that plugins fill remember at most a thousand repeated log lines'],
  },
  {
    holds: 'Hooks that the watchdog distinguishes',
    from: 'kernel/containment/marks.ts',
    limit: '{MOST_LABELS} hooks',
    beyond: 'Further hooks are not watched.',
    tests: ['bounds of data that plugins fill monitor at most a hundred thousand different hooks of plugins'],
  },
  {
    holds: 'Bytes created by a Lua script during a call (`modifier/lua-*`)',
    from: 'plugins/engines/lua/budget.ts',
    limit: '{MADE_LIMIT_BYTES} of data, and {CPU_LIMIT_MS} of CPU time',
    beyond: 'The script ends with an error.',
    tests: ['a hostile Lua script is stopped: a table of long strings joined'],
  },
  {
    holds: 'Text rendered by a template',
    from: 'plugins/modifier/lib/template/response-body.ts',
    limit: '{LIMIT_BYTES}',
    beyond: 'The call fails.',
    tests: ['the limits of a template stop a text that grows'],
  },
];
