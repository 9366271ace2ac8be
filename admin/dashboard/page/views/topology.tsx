import { useMemo, useState } from 'preact/hooks';
import { type Endpoint, useEndpoints } from '../api/use-endpoints.ts';
import { useRead } from '../api/use-read.ts';
import { type EndpointRate, ratesOf, useTraffic } from '../api/use-traffic.ts';
import { compact, count, milliseconds, percent } from '../format.ts';
import { Empty, Failure } from '../parts/state.tsx';
import { TopologyMap } from '../parts/topology-map.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { linkTo } from '../route.ts';

/** Samples over which rates are averaged. */
const AVERAGED = 10;

/** Height of a row in the list, in pixels. */
const ROW = 34;

/** An endpoint with the traffic of the last seconds. */
export interface LiveEndpoint {
  readonly endpoint: Endpoint;
  readonly rate: EndpointRate | undefined;
}

/** All endpoints and the hosts of their backends, with traffic and health. */
export function Topology() {
  const status = useRead('/v1/status', {}, 5000);
  const { list, isComplete, error } = useEndpoints(status.body?.revision);
  const { samples } = useTraffic('1s');
  const [search, setSearch] = useState('');
  const [unhealthyOnly, setUnhealthyOnly] = useState(false);
  const live = useMemo(() => {
    const rates = ratesOf(samples.slice(-AVERAGED));
    return list.map((endpoint): LiveEndpoint => ({ endpoint, rate: rates.get(endpoint.id) }));
  }, [list, samples]);
  const shown = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return live.filter(({ endpoint, rate }) => {
      if (unhealthyOnly && !(rate && rate.errorShare > 0)) return false;
      const text = textOf(endpoint);
      return words.every((word) => text.includes(word));
    });
  }, [live, search, unhealthyOnly]);
  return (
    <>
      <h1>Topology</h1>
      <Failure error={error ?? status.error} />
      <div class="toolbar">
        <label>
          Search <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        </label>
        <label>
          <input
            type="checkbox"
            checked={unhealthyOnly}
            onChange={(event) => setUnhealthyOnly(event.currentTarget.checked)}
          />{' '}
          Only endpoints with errors
        </label>
        <span role="status">
          {isComplete ? `${compact(shown.length)} of ${count(list.length, 'endpoint')}` : 'Loading endpoints'}
        </span>
      </div>
      {isComplete && shown.length === 0 && (
        <Empty>
          {list.length === 0 ? (
            <>
              The configuration has no endpoint. Add one in <a href="#/configuration">Configuration</a>.
            </>
          ) : unhealthyOnly ? (
            'No endpoint responded with an error in the last seconds.'
          ) : (
            'No endpoint matches the search.'
          )}
        </Empty>
      )}
      {shown.length > 0 && <TopologyMap endpoints={shown} />}
      {shown.length > 0 && (
        <VirtualList
          label="Endpoints"
          items={shown}
          rowHeight={ROW}
          keyOf={({ endpoint }) => endpoint.id}
          row={(one) => <EndpointRow {...one} />}
        />
      )}
    </>
  );
}

/** Text that the search looks in. */
function textOf({ id, backends, namespaces }: Endpoint): string {
  const parts = backends.flatMap(({ hosts, urlPattern, namespaces }) => [...hosts, urlPattern, ...namespaces]);
  return [id, ...namespaces, ...parts].join(' ').toLowerCase();
}

function EndpointRow({ endpoint: { id, backends, namespaces }, rate }: LiveEndpoint) {
  const hosts = [...new Set(backends.flatMap((backend) => backend.hosts))];
  return (
    <div class={`endpoint-row ${rate && rate.errorShare > 0.01 ? 'bad' : ''}`}>
      <a href={linkTo('endpoint', { id })}>{id}</a>
      <span class="muted">{namespaces.join(', ')}</span>
      <span class="muted">{hosts.join(', ')}</span>
      <span class="number">{rate ? `${compact(rate.rate)} /s` : ''}</span>
      <span class="number">{rate && rate.errorShare > 0 ? `${percent(rate.errorShare)} errors` : ''}</span>
      <span class="number">{rate ? milliseconds(rate.p99Ms) : ''}</span>
    </div>
  );
}
