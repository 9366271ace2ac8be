import type { EndpointRate } from '../api/use-traffic.ts';
import { compact, milliseconds, percent } from '../format.ts';
import { linkTo } from '../route.ts';
import { Scroll } from './scroll.tsx';

/** Endpoints with their rates. */
export function EndpointTable({ rows }: { readonly rows: readonly EndpointRate[] }) {
  return (
    <Scroll label="Endpoints">
      <table>
        <thead>
          <tr>
            <th scope="col">Endpoint</th>
            <th scope="col">Requests</th>
            <th scope="col">Errors</th>
            <th scope="col">p99</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ endpoint, rate, errorShare, p99Ms }) => (
            <tr key={endpoint} class={errorShare > 0.01 ? 'bad' : ''}>
              <td>
                <a href={linkTo('endpoint', { id: endpoint })}>{endpoint}</a>
              </td>
              <td>{compact(rate)} /s</td>
              <td>{percent(errorShare)}</td>
              <td>{milliseconds(p99Ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
