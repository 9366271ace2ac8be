import type { Endpoint } from '../../api/use-endpoints.ts';
import type { Observation } from '../../api/use-observation.ts';
import { bytes, compact, count, milliseconds } from '../../format.ts';
import { Badge, Empty, type Tone } from '../../parts/state.tsx';
import { linkToComponent } from './link-to-component.ts';

type ComponentState = Observation['states'][number];

/** States of the limiters, breakers and caches of an endpoint. */
export function States({ endpoint, states }: { endpoint: Endpoint; states: readonly ComponentState[] }) {
  const groups = Map.groupBy(states, ({ namespace, backend }) => `${backend ?? ''} ${namespace}`);
  return (
    <section>
      <h2>Limits, breakers and caches</h2>
      {groups.size === 0 && (
        <Empty>
          No component of this endpoint has a state. Add <code>qos/ratelimit/router</code> to limit its requests, or{' '}
          <code>qos/circuit-breaker</code> to a backend that fails.
        </Empty>
      )}
      {Array.from(groups, ([key, group]) => (
        <Component key={key} endpoint={endpoint} states={group} />
      ))}
    </section>
  );
}

/** A component, with its state in each process. */
function Component({ endpoint, states }: { endpoint: Endpoint; states: readonly ComponentState[] }) {
  const { namespace, backend } = states[0]!;
  const place = backend === null ? endpoint : (endpoint.backends[backend] ?? endpoint);
  return (
    <div class="card">
      <h3>
        <a href={linkToComponent(place, namespace)}>{namespace}</a>
        {backend !== null && ` of backend ${backend + 1}`}
      </h3>
      {states.map(({ pid, state }) => (
        <p key={pid} class="states">
          {states.length > 1 && <span class="muted">Process {pid}</span>}
          {Object.entries(state).map(([name, value]) => (
            <Value key={name} name={name} value={value} />
          ))}
          {state['state'] === 'open' && <span>The backend is not called, because it kept failing.</span>}
        </p>
      ))}
    </div>
  );
}

const tones: Readonly<Record<string, Tone>> = { closed: 'good', 'half-open': 'warning', open: 'bad' };

/** A member of a state. The last word of its name is its unit. */
function Value({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (name === 'state') return <Badge tone={tones[String(value)] ?? 'plain'}>{String(value)}</Badge>;
  // The name of a tier precedes the name of its member.
  const at = name.lastIndexOf(' ') + 1;
  const words = name
    .slice(at)
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .split(' ');
  const unit = words.length > 1 ? words.pop()! : '';
  return (
    <span>
      {name.slice(0, at)}
      {words.join(' ')}: <strong>{typeof value === 'number' ? withUnit(value, unit) : String(value)}</strong>
    </span>
  );
}

function withUnit(value: number, unit: string): string {
  if (unit === 'ms') return milliseconds(value);
  if (unit === 'bytes') return value < 1024 ? count(value, 'byte') : bytes(value);
  return unit.endsWith('s') ? count(value, unit.slice(0, -1)) : compact(value);
}
