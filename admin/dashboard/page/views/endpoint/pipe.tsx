import type { Endpoint } from '../../api/use-endpoints.ts';
import type { Observed } from '../../api/use-observation.ts';
import { compact, count, milliseconds, percent } from '../../format.ts';
import { Scroll } from '../../parts/scroll.tsx';
import { Badge, Empty } from '../../parts/state.tsx';
import { linkToComponent } from './link-to-component.ts';
import { type PipeTimes, type StageTime, timesOf } from './stage-times.ts';

/** A row of the table: a stage, or the whole of a backend. */
interface Row {
  readonly key: string;
  readonly name: string;
  readonly kind: string;
  readonly level: 0 | 1;
  readonly isWhole: boolean;
  readonly time: StageTime | null;
  /** Why no time is shown. */
  readonly missing: string;
  /** Address of its configuration. */
  readonly link: string;
}

/** Share of the pipe's time from which a stage stands out. */
const STANDS_OUT = 0.5;

/** The pipe of an endpoint in run order, with the time that each component and each backend takes. */
export function Pipe({ endpoint, observed: { latest, requests } }: { endpoint: Endpoint; observed: Observed }) {
  if (!latest) return <Empty>Connecting to the endpoint</Empty>;
  const times = timesOf(latest.stages, requests);
  const rows = rowsOf(endpoint, latest.stages, times);
  const whole = times.pipe?.medianMs ?? 0;
  const slowest = rows
    .filter(({ isWhole, time }) => !isWhole && time !== null)
    .reduce<Row | null>((most, row) => (row.time!.medianMs > (most?.time?.medianMs ?? 0) ? row : most), null);
  return (
    <section>
      <h2>Pipe</h2>
      <p class="muted">
        {times.count === 0
          ? 'In run order. No request has been timed yet.'
          : `In run order. Median and p95 of the latest ${count(times.count, 'timed request')}, without the time of the stages inside.`}{' '}
        While this view is open, each process times at most 20 requests a second, which takes {TIMED_COST} of processor
        time for each, and less than {UNTIMED_COST} for any other request of this endpoint. Nothing is timed after the
        view is closed.
      </p>
      <Scroll label="Pipe">
        <table class="pipe">
          <thead>
            <tr>
              <th scope="col">Stage</th>
              <th scope="col">Kind</th>
              <th scope="col">Median</th>
              <th scope="col">p95</th>
              <th scope="col">Share of the pipe</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <StageRow key={row.key} row={row} whole={whole} isSlowest={row === slowest} />
            ))}
          </tbody>
          {times.pipe && (
            <tfoot>
              <tr>
                <th scope="row">Whole pipe</th>
                <td>with merging and the gateway's own steps</td>
                <td class="number">{milliseconds(times.pipe.medianMs)}</td>
                <td class="number">{milliseconds(times.pipe.p95Ms)}</td>
                <td />
              </tr>
            </tfoot>
          )}
        </table>
      </Scroll>
    </section>
  );
}

/** Measured with three components and two backends, without bodies and with bodies of 1 KiB. */
const TIMED_COST = '7 to 16 µs';
const UNTIMED_COST = '1 µs';

function StageRow({ row, whole, isSlowest }: { row: Row; whole: number; isSlowest: boolean }) {
  const { name, kind, level, isWhole, time, missing, link } = row;
  const share = time && whole > 0 ? Math.min(1, time.medianMs / whole) : null;
  return (
    <tr class={isWhole ? 'whole' : ''}>
      <th scope="row" class={level === 1 ? 'inner' : ''}>
        <a href={link}>{name}</a>
        {isSlowest && share !== null && share > STANDS_OUT && (
          <>
            {' '}
            <Badge tone="warning">slowest: {percent(share)} of the time</Badge>
          </>
        )}
      </th>
      <td>{kind}</td>
      <td class="number">{time ? milliseconds(time.medianMs) : missing}</td>
      <td class="number">{time ? milliseconds(time.p95Ms) : ''}</td>
      <td>
        {share !== null && (
          <span class="share">
            <span class={isWhole ? 'bar whole' : 'bar'} style={{ width: `${Math.max(1, share * 100)}%` }} />
          </span>
        )}
      </td>
    </tr>
  );
}

function rowsOf(endpoint: Endpoint, stages: NonNullable<Observed['latest']>['stages'], times: PipeTimes): Row[] {
  const isTimed = times.count > 0;
  const around = stages.around.map(
    ({ as, namespace }, at): Row => ({
      key: `around${at}`,
      name: namespace,
      kind: as,
      level: 0,
      isWhole: false,
      time: times.around[at] ?? null,
      missing: isTimed ? 'not timed' : '–',
      link: linkToComponent(endpoint, namespace),
    }),
  );
  const backends = stages.backends.flatMap(({ stages: inner, condition }, index): Row[] => {
    const backend = endpoint.backends[index];
    const { method = '', urlPattern = '' } = backend ?? {};
    const { total, stages: innerTimes, calls } = times.backends[index]!;
    const missing = isTimed ? 'not called' : '–';
    const often = isTimed && calls > 0 && calls !== 1 ? `, ${compact(calls)} calls a request` : '';
    return [
      {
        key: `backend${index}`,
        name: `Backend ${index + 1}: ${method} ${urlPattern}`,
        kind: `backend${condition === null ? '' : `, if ${condition}`}${often}`,
        level: 0,
        isWhole: true,
        time: total,
        missing,
        link: linkToComponent(backend ?? endpoint, null),
      },
      ...inner.map(
        ({ as, namespace }, at): Row => ({
          key: `backend${index} ${at}`,
          name: namespace,
          kind: as === 'protocol' ? 'protocol, with the wait for the backend' : as,
          level: 1,
          isWhole: false,
          time: innerTimes[at] ?? null,
          missing: total ? 'not timed' : missing,
          link: linkToComponent(backend ?? endpoint, namespace),
        }),
      ),
    ];
  });
  return [...around, ...backends];
}
