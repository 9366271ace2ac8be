import { useMemo, useRef } from 'preact/hooks';
import type { Body } from '../api/client.ts';
import { useRead } from '../api/use-read.ts';
import { bytes, compact, duration, milliseconds, percent } from '../format.ts';
import { Scroll } from './scroll.tsx';
import { Badge, Failure } from './state.tsx';

type Worker = Body<'/v1/workers'>['workers'][number];

/** The serving processes with their resources. */
export function Processes() {
  const { body, error } = useRead('/v1/workers', {}, 5000);
  const shares = useCpuShares(body?.workers);
  return (
    <section>
      <h2>Processes</h2>
      <Failure error={error} />
      <Scroll label="Processes">
        <table>
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col">State</th>
              <th scope="col">Revision</th>
              <th scope="col">Up for</th>
              <th scope="col">Requests</th>
              <th scope="col">Connections</th>
              <th scope="col">Event loop delay</th>
              <th scope="col">CPU</th>
              <th scope="col">CPU time</th>
              <th scope="col">Memory</th>
            </tr>
          </thead>
          <tbody>
            {body?.workers.map((worker) => (
              <tr key={worker.id}>
                <td>{worker.id}</td>
                <td>
                  <Badge tone={worker.state === 'up' ? 'good' : 'warning'}>{worker.state}</Badge>
                </td>
                <td>{worker.revision ?? '–'}</td>
                <td>{duration(worker.uptimeMs)}</td>
                <td>{compact(worker.requests)}</td>
                <td>{compact(worker.connections)}</td>
                <td>{milliseconds(worker.loopLagMs)}</td>
                <td>{shares.has(worker.id) ? percent(shares.get(worker.id)!) : '–'}</td>
                <td>{duration(worker.cpuMs)}</td>
                <td>{bytes(worker.rssBytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

/** Processor time of each worker since the previous reading, divided by the time between; 1 is one processor in full use. */
function useCpuShares(workers: readonly Worker[] | undefined): ReadonlyMap<number, number> {
  const last = useRef<readonly Worker[]>([]);
  return useMemo(() => {
    const before = new Map(last.current.map((worker) => [worker.pid, worker]));
    last.current = workers ?? [];
    return new Map(
      last.current.flatMap(({ id, pid, cpuMs, uptimeMs }): [number, number][] => {
        const earlier = before.get(pid);
        const elapsedMs = uptimeMs - (earlier?.uptimeMs ?? uptimeMs);
        return earlier && elapsedMs > 0 ? [[id, Math.max(0, cpuMs - earlier.cpuMs) / elapsedMs]] : [];
      }),
    );
  }, [workers]);
}
