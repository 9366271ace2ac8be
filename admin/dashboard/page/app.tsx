import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { type ApiError, type Body, read, storedToken } from './api/client.ts';
import { followEvents, type GatewayEvent } from './api/events.ts';
import { type Route, useRoute } from './route.ts';
import { Agents } from './views/agents.tsx';
import { Configuration } from './views/configuration/index.tsx';
import { EndpointView } from './views/endpoint/index.tsx';
import { History } from './views/history.tsx';
import { Overview } from './views/overview.tsx';
import { Plugins } from './views/plugins.tsx';
import { SignIn } from './views/sign-in.tsx';
import { Topology } from './views/topology.tsx';
import { Try } from './views/try.tsx';

type Token = Body<'/v1/token'>;

/** State of the page that views use. */
interface Context {
  readonly token: Token;
  readonly route: Route;
  readonly events: readonly GatewayEvent[];
}

/** A view by its name in the address. `title` is null for a view without an entry in the navigation. */
interface View {
  readonly title: string | null;
  readonly show: (context: Context) => ComponentChildren;
}

const has = ({ scopes }: Token, scope: Token['scopes'][number]): boolean => scopes.includes(scope);
const canWrite = (token: Token): boolean => has(token, 'write') && !token.writesDisabled;

const views: Readonly<Record<string, View>> = {
  overview: { title: 'Overview', show: ({ events }) => <Overview events={events} /> },
  topology: { title: 'Topology', show: () => <Topology /> },
  endpoint: {
    title: null,
    show: ({ token, route }) => (
      <EndpointView id={route.parameters.get('id') ?? ''} showsMessages={has(token, 'secrets')} />
    ),
  },
  try: {
    title: 'Try',
    show: ({ token, route }) => (
      <Try
        key={route.parameters.toString()}
        method={route.parameters.get('method') ?? 'GET'}
        path={route.parameters.get('path') ?? '/'}
        canSend={has(token, 'ops')}
      />
    ),
  },
  configuration: {
    title: 'Configuration',
    show: ({ token, route }) => (
      <Configuration
        pointer={route.parameters.get('pointer')}
        writtenLine={Number(route.parameters.get('line')) || null}
        canWrite={canWrite(token)}
        canCheck={has(token, 'check')}
        canReveal={has(token, 'secrets')}
      />
    ),
  },
  history: { title: 'History', show: ({ token }) => <History canWrite={canWrite(token)} /> },
  plugins: { title: 'Plugins', show: ({ token }) => <Plugins canOperate={has(token, 'ops')} /> },
  agents: { title: 'Agents', show: () => <Agents /> },
};

const EVENTS = 200;

/** The whole page: sign-in, navigation and the current view. */
export function App() {
  const [token, setToken] = useState<Token | null>(null);
  const [reason, setReason] = useState<string | null>(null);
  const [ready, setReady] = useState(false);
  const signIn = useCallback(async () => {
    try {
      setToken(await read('/v1/token'));
      setReason(null);
    } catch (error) {
      const { status, message } = error as ApiError;
      if (storedToken.get() !== null) setReason(status === 401 ? 'The token is no longer valid.' : message);
      // A gateway that does not respond ends no session: its pages stay until it does.
      if (status > 0) setToken(null);
      if (status === 401) storedToken.clear();
    }
    setReady(true);
  }, []);
  useEffect(() => {
    signIn();
  }, [signIn]);
  if (!ready) return null;
  if (token === null) return <SignIn reason={reason} onSignedIn={signIn} />;
  return (
    <Shell
      token={token}
      onSignOut={() => {
        storedToken.clear();
        setReason(null);
        setToken(null);
      }}
      onUnauthorized={signIn}
    />
  );
}

interface ShellProps {
  readonly token: Token;
  onSignOut(): void;
  onUnauthorized(): void;
}

function Shell({ token, onSignOut, onUnauthorized }: ShellProps) {
  const route = useRoute();
  const [events, setEvents] = useState<readonly GatewayEvent[]>([]);
  const [isConnected, setConnected] = useState(true);
  useEffect(() => {
    const controller = new AbortController();
    const onConnected = (connected: boolean): void => {
      setConnected(connected);
      // A connection may have ended because the token was revoked.
      if (!connected) onUnauthorized();
    };
    const onEvent = (event: GatewayEvent) => {
      if (event.type !== 'reload.phase') setEvents((last) => [event, ...last].slice(0, EVENTS));
    };
    followEvents(onEvent, onConnected, controller.signal);
    return () => controller.abort();
  }, [onUnauthorized]);
  const name = Object.hasOwn(views, route.name) ? route.name : 'overview';
  const { show, title } = views[name]!;
  useEffect(() => {
    document.title = `${title ?? route.parameters.get('id') ?? name} – Sluice`;
    document.querySelector('main')?.focus();
  }, [title, name, route]);
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.querySelector('main')?.focus()}>
        Skip to content
      </button>
      <header>
        <strong>Sluice</strong>
        <nav aria-label="Views">
          {Object.entries(views).map(
            ([key, { title }]) =>
              title !== null && (
                <a key={key} href={`#/${key}`} aria-current={key === name ? 'page' : undefined}>
                  {title}
                </a>
              ),
          )}
        </nav>
        <span class="account">
          {token.id}
          <button type="button" onClick={onSignOut}>
            Sign out
          </button>
        </span>
      </header>
      {!isConnected && (
        <p class="notice bad lost" role="alert">
          The gateway does not respond. The page shows the last known state and connects again by itself.
        </p>
      )}
      <main id="content" tabIndex={-1}>
        {show({ token, route, events })}
      </main>
    </div>
  );
}
