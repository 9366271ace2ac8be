import { useEffect, useMemo, useState } from 'preact/hooks';
import { type ApiError, send } from '../api/client.ts';
import { useEndpoints } from '../api/use-endpoints.ts';
import { useRead } from '../api/use-read.ts';
import { type TrafficSample, useTraffic } from '../api/use-traffic.ts';
import { compact, milliseconds, percent, prettyJson } from '../format.ts';
import { Chart } from '../parts/chart.tsx';
import { Badge, Empty, Failure, Figure } from '../parts/state.tsx';
import { linkTo } from '../route.ts';

/** One endpoint: its configuration, its backends and its traffic. */
export function EndpointView({ id }: { readonly id: string }) {
  const status = useRead('/v1/status', {}, 5000);
  const { list, isComplete, error } = useEndpoints(status.body?.revision);
  const { samples } = useTraffic('1s');
  const endpoint = list.find((one) => one.id === id);
  if (!endpoint) {
    return (
      <>
        <h1>{id}</h1>
        <Failure error={error} />
        {isComplete ? (
          <Empty>
            The serving configuration does not contain this endpoint. <a href="#/topology">Show all endpoints</a>.
          </Empty>
        ) : (
          <Empty>Loading the endpoint</Empty>
        )}
      </>
    );
  }
  const { method, pattern, namespaces, backends, outputEncoding, timeoutMs, counters, pointer, file, line } = endpoint;
  return (
    <>
      <h1>{id}</h1>
      <p>
        Responds in the encoding {outputEncoding}, within {milliseconds(timeoutMs)}.{' '}
        {namespaces.length > 0 ? `Components: ${namespaces.join(', ')}.` : 'No components.'}{' '}
        <a href={linkTo('configuration', { pointer, ...(line !== undefined && { line: String(line) }) })}>
          {file === undefined ? 'Show its configuration' : `${file.split('/').at(-1)}:${line}`}
        </a>{' '}
        <a href={linkTo('try', { method, path: pattern })}>Try it</a>
      </p>
      <Rates id={id} samples={samples} total={counters} />
      <section>
        <h2>Backends</h2>
        {backends.length === 0 && <Empty>The endpoint has no backend.</Empty>}
        {backends.map((backend) => (
          <div class="card" key={backend.pointer}>
            <h3>
              {backend.method} {backend.urlPattern}
            </h3>
            <p>
              {backend.hosts.join(', ') || 'no host'}, encoding {backend.encoding}
              {backend.namespaces.length > 0 && `, components: ${backend.namespaces.join(', ')}`}
            </p>
          </div>
        ))}
      </section>
      <ConfigurationPart pointer={pointer} />
    </>
  );
}

interface RatesProps {
  readonly id: string;
  readonly samples: readonly TrafficSample[];
  readonly total: { readonly calls: number; readonly errors: number; readonly streams: number } | undefined;
}

function Rates({ id, samples, total = { calls: 0, errors: 0, streams: 0 } }: RatesProps) {
  const own = useMemo(
    () =>
      samples.map(({ endedAt, durationMs, endpoints }) => ({
        endedAt,
        durationMs,
        ...endpoints.find(({ endpoint }) => endpoint === id),
      })),
    [samples, id],
  );
  if (total.calls === 0) {
    return (
      <Empty>
        The endpoint has served no request yet. Send one from <a href="#/try">Try</a>.
      </Empty>
    );
  }
  const times = own.map(({ endedAt }) => endedAt);
  const perSecond = (value: number) => `${compact(value)} /s`;
  return (
    <>
      <dl class="figures">
        <Figure label="Open streams" value={compact(total.streams)} />
        <Figure label="Requests since the start" value={compact(total.calls)} />
        <Figure
          label="Errors since the start"
          value={`${compact(total.errors)} (${percent(total.errors / total.calls)})`}
          tone={total.errors / total.calls > 0.01 ? 'bad' : 'plain'}
        />
      </dl>
      <div class="charts">
        <Chart
          title="Requests"
          times={times}
          format={perSecond}
          series={[
            {
              label: 'all',
              color: '--good',
              values: own.map(({ calls = 0, durationMs }) => (calls * 1000) / durationMs),
            },
            {
              label: 'errors',
              color: '--bad',
              values: own.map(({ errors = 0, durationMs }) => (errors * 1000) / durationMs),
            },
          ]}
        />
        <Chart
          title="Latency"
          times={times}
          format={milliseconds}
          series={[{ label: 'p99', color: '--bad', values: own.map(({ p99Ms = null }) => p99Ms) }]}
        />
      </div>
    </>
  );
}

/** The part of the configuration at a pointer, with defaults, and secrets masked. */
function ConfigurationPart({ pointer }: { readonly pointer: string }) {
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    send('/v1/config', { query: { pointer }, signal: controller.signal })
      .then((response) => response.text())
      .then((part) => setText(prettyJson(part)))
      .catch((failure) => controller.signal.aborted || setError(failure));
    return () => controller.abort();
  }, [pointer]);
  return (
    <section>
      <h2>Configuration</h2>
      <p>
        <Badge tone="plain">effective</Badge> with defaults; secrets are masked.
      </p>
      <Failure error={error} />
      {text !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <pre class="tall" tabIndex={0}>
          {text}
        </pre>
      )}
    </section>
  );
}
