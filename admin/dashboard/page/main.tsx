import { render } from 'preact';
import { openSession, storedToken } from './api/client.ts';
import { App } from './app.tsx';

/** Code of a one-time link, which is removed from the address and the history before it is used. */
const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
if (code !== undefined) {
  history.replaceState(null, '', '/');
  try {
    storedToken.set(await openSession(code));
  } catch {
    // The code was used before, or has expired: the form asks for a token.
  }
}
render(<App />, document.getElementById('dashboard')!);
