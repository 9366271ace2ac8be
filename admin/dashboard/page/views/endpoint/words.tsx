import { useEffect, useState } from 'preact/hooks';
import { send } from '../../api/client.ts';
import type { Endpoint } from '../../api/use-endpoints.ts';
import { count, milliseconds } from '../../format.ts';
import { Empty } from '../../parts/state.tsx';
import { linkTo } from '../../route.ts';
import { linkToComponent } from './link-to-component.ts';
import { samplePath } from './sample-path.ts';

/** The part of an explanation that is shown. */
interface Explanation {
  readonly why: string;
  readonly match: { readonly route?: { readonly id: string } };
  readonly service: readonly string[];
  readonly stages: readonly { readonly namespace: string }[];
  readonly forwarded: readonly {
    readonly method: string;
    readonly urls: readonly string[];
    readonly sd: string;
    readonly encoding: string;
    readonly shadow: boolean;
    readonly condition: string | null;
    readonly stages: readonly { readonly as: string; readonly namespace: string }[];
    readonly refused: string | null;
    readonly clientQuery: readonly { readonly name: string; readonly passes: boolean }[];
  }[];
}

/** Description of an endpoint in words, from the gateway's explanation of a sample request. */
export function Words({ endpoint, revision }: { readonly endpoint: Endpoint; readonly revision: number | undefined }) {
  const explanation = useExplanation(endpoint, revision);
  const { method, pattern, outputEncoding, timeoutMs, backends, file, line } = endpoint;
  return (
    <>
      <p>
        Responds in the encoding {outputEncoding}, within {milliseconds(timeoutMs)}.{' '}
        {explanation && `${inWords(explanation)} `}
        <a href={linkToComponent(endpoint, null)}>
          {file === undefined ? 'Show its configuration' : `${file.split('/').at(-1)}:${line}`}
        </a>{' '}
        <a href={linkTo('try', { method, path: samplePath(pattern) })}>Try it</a>
      </p>
      <h2>Backends</h2>
      {backends.length === 0 && <Empty>The endpoint has no backend: a component responds.</Empty>}
      <ol class="backends">
        {backends.map((backend, index) => {
          const { method, urlPattern, hosts, encoding, pointer, file, line } = backend;
          const forwarded = explanation?.forwarded[index];
          return (
            <li key={pointer}>
              {forwarded?.condition && `If ${forwarded.condition}: `}
              {forwarded?.shadow ? 'sends a copy to ' : 'calls '}
              <code>
                {method} {urlPattern}
              </code>{' '}
              at {hosts.join(' or ') || 'its own address'}
              {forwarded && forwarded.sd !== 'static' && `, found by ${forwarded.sd}`}; reads {encoding}
              {forwarded?.shadow && ', discards the response'}
              {forwarded && aroundOf(forwarded)}. {forwarded?.refused && `Not called: ${forwarded.refused}. `}
              <a href={linkToComponent(backend, null)}>
                {file === undefined ? 'Configuration' : `${file.split('/').at(-1)}:${line}`}
              </a>
            </li>
          );
        })}
      </ol>
    </>
  );
}

function inWords({ service, stages, forwarded }: Explanation): string {
  const passed = [...service, ...stages.map(({ namespace }) => namespace)];
  const through = passed.length === 0 ? 'Requests pass no component' : `Requests pass ${passed.join(', then ')}`;
  const called = forwarded.filter(({ shadow }) => !shadow).length;
  return `${through}, then ${called === 0 ? 'no backend' : count(called, 'backend')}${called > 1 ? ', whose responses are merged' : ''}.`;
}

function aroundOf({ stages }: Explanation['forwarded'][number]): string {
  const around = stages.filter(({ as }) => as !== 'protocol').map(({ namespace }) => namespace);
  return around.length === 0 ? '' : `; passes ${around.join(', then ')}`;
}

/** Null before the explanation, and if a sample request would match another endpoint. */
function useExplanation({ id, method, pattern }: Endpoint, revision: number | undefined): Explanation | null {
  const [explanation, setExplanation] = useState<Explanation | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ method, path: samplePath(pattern) });
    send('/v1/explain', { method: 'POST', headers, body, signal: controller.signal })
      .then((response) => response.json())
      .then((explained: Explanation) => setExplanation(explained.match.route?.id === id ? explained : null))
      // The rest of the view does not depend on it.
      .catch(() => controller.signal.aborted || setExplanation(null));
    return () => controller.abort();
  }, [id, method, pattern, revision]);
  return explanation;
}
