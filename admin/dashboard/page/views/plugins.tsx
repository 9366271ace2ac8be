import { useState } from 'preact/hooks';
import { type ApiError, type Schemas, send } from '../api/client.ts';
import { useRead } from '../api/use-read.ts';
import { compact, count, milliseconds, time } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { Badge, Empty, Failure, Issues } from '../parts/state.tsx';

type Plugin = Schemas['Plugin'];

/** The loaded plugins, where they come from, their traffic and faults. */
export function Plugins({ canOperate }: { readonly canOperate: boolean }) {
  const { body, error, again } = useRead('/v1/plugins', {}, 3000);
  const [failure, setFailure] = useState<ApiError | null>(null);
  const plugins = body?.plugins ?? [];
  const files = plugins.filter(({ kind }) => kind === 'file');
  const core = plugins.filter(({ kind }) => kind === 'core');
  const lift = async ({ name }: Plugin): Promise<void> => {
    try {
      await send(`/v1/plugins/${encodeURIComponent(name)}/suspension`, { method: 'DELETE' });
      again();
    } catch (problem) {
      setFailure(problem as ApiError);
    }
  };
  return (
    <>
      <h1>Plugins</h1>
      <Failure error={error ?? failure} />
      <section>
        <h2>Your plugins</h2>
        <Broken />
        {body && files.length === 0 && (
          <Empty>
            No plugin from a file is loaded. Create one with <code>sluice plugin new NAME</code>.
          </Empty>
        )}
        {files.map((plugin) => (
          <div class="card" key={`${plugin.name}${plugin.hash}`}>
            <h3>
              {plugin.name} {plugin.version} {plugin.suspended && <Badge tone="bad">suspended</Badge>}{' '}
              {plugin.isolated && <Badge tone="plain">isolated</Badge>}
            </h3>
            <p>{plugin.description}</p>
            <p class="muted">
              {plugin.file} <code>{plugin.hash?.slice(0, 12)}</code>, used in {count(plugin.places.length, 'place')},{' '}
              {count(plugin.calls, 'request')} of its endpoints, {count(plugin.errors, 'error')}
            </p>
            {plugin.isolated && (
              <p class="muted">Runs in a thread of its own, whose time is not included in the times below.</p>
            )}
            <HookTimes plugin={plugin} />
            {plugin.blocking.count > 0 && (
              <p class="notice warning">
                Blocked the event loop {count(plugin.blocking.count, 'time')}, at most for{' '}
                {milliseconds(plugin.blocking.longestMs)}.
              </p>
            )}
            {plugin.suspended && (
              <p class="notice bad">
                Suspended since {time(plugin.suspended.since)}: {plugin.suspended.message}{' '}
                {canOperate && (
                  <button type="button" onClick={() => lift(plugin)}>
                    Lift the suspension
                  </button>
                )}
              </p>
            )}
            {plugin.faults.length > 0 && (
              <ul class="issues">
                {plugin.faults.map(({ hook, endpoint, message, place, at, count }) => (
                  <li class="error" key={`${hook}${endpoint}${message}`}>
                    {place && <span class="place">{place} </span>}
                    <code>{hook}</code> {message} ({compact(count)} times at {endpoint}, last {time(at)})
                  </li>
                ))}
              </ul>
            )}
          </div>
        ))}
      </section>
      <section>
        <h2>Components of the gateway</h2>
        <Components plugins={core.filter(({ places }) => places.length > 0)} label="Components in use" />
        <details>
          <summary>Components that are not in use</summary>
          <Components plugins={core.filter(({ places }) => places.length === 0)} label="Other components" />
        </details>
      </section>
    </>
  );
}

/** The time that each hook of a plugin takes from the requests of its processes. */
function HookTimes({ plugin: { name, hooks } }: { readonly plugin: Plugin }) {
  if (hooks.length === 0) return null;
  return (
    <Scroll label={`Time of the hooks of ${name}`}>
      <table>
        <caption>
          CPU time by hook since the gateway started, in all processes: code before the first <code>await</code>,
          sampled every 10 ms
        </caption>
        <thead>
          <tr>
            <th scope="col">Hook</th>
            <th scope="col">CPU time</th>
          </tr>
        </thead>
        <tbody>
          {hooks.map(({ hook, busyMs }) => (
            <tr key={hook}>
              <th scope="row">{hook}</th>
              <td>{milliseconds(busyMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Components({ plugins, label }: { readonly plugins: readonly Plugin[]; readonly label: string }) {
  return (
    <Scroll label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">Component</th>
            <th scope="col">Purpose</th>
            <th scope="col">Places</th>
            <th scope="col">Requests</th>
            <th scope="col">Errors</th>
          </tr>
        </thead>
        <tbody>
          {plugins.map(({ name, description, places, calls, errors }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{description}</td>
              <td>{places.length}</td>
              <td>{compact(calls)}</td>
              <td>{compact(errors)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Codes of errors in the files of plugins. */
const ofPlugins = /^PLUGIN|^MODULE/;

/** The message of a plugin's file that could not be loaded with the last change. */
function Broken() {
  const { body } = useRead('/v1/status', {}, 3000);
  const reload = body?.lastReload;
  const issues = (reload?.problem?.errors ?? []).filter(({ code }) => ofPlugins.test(code));
  if (issues.length === 0) return null;
  return (
    <div class="notice bad">
      The change of {time(reload!.at)} was refused because of a plugin; revision {body!.revision} still serves.
      <Issues issues={issues} />
    </div>
  );
}
