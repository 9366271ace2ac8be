import type { Schemas } from '../api/client.ts';
import { count } from '../format.ts';
import { Empty } from './state.tsx';

type Difference = Schemas['Difference'];

const signs = { add: '+', remove: '−', replace: '~' };
const effects = { swap: '', rebind: 'opens another address', restart: 'needs a restart', stream: 'ends open streams' };

/** The difference between two configurations by meaning: endpoints and values, not lines. */
export function Differences({ difference }: { readonly difference: Difference }) {
  const { equal, changes, endpoints, streamsAffected } = difference;
  if (equal) return <Empty>Both configurations have the same meaning.</Empty>;
  const { added, changed, removed } = endpoints;
  return (
    <>
      <p>
        {count(added.length, 'endpoint')} added, {changed.length} changed, {removed.length} removed.
        {streamsAffected > 0 && <strong> {count(streamsAffected, 'open stream')} would end.</strong>}
      </p>
      <ul class="changes">
        {changes.map(({ op, pointer, from, to, effect, route }) => (
          <li key={`${op}${pointer}`} class={op}>
            <span aria-hidden="true">{signs[op]}</span> <span class="visually-hidden">{op}</span>
            <code>{pointer}</code>
            {route && <span class="muted"> {`${route.method} ${route.endpoint}`}</span>}
            {op !== 'add' && <del>{shown(from)}</del>}
            {op !== 'remove' && <ins>{shown(to)}</ins>}
            {effects[effect] && <strong> {effects[effect]}</strong>}
          </li>
        ))}
      </ul>
    </>
  );
}

const MAX_CHARACTERS = 200;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
