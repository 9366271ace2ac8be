import { useState } from 'preact/hooks';
import { ApiError, read, storedToken } from '../api/client.ts';
import { Failure } from '../parts/state.tsx';

/** Form for the admin token. @param reason why a token is needed again; null at first. */
export function SignIn({ reason, onSignedIn }: { readonly reason: string | null; readonly onSignedIn: () => void }) {
  const [token, setToken] = useState('');
  const [error, setError] = useState<ApiError | null>(null);
  const submit = async (): Promise<void> => {
    setError(null);
    try {
      await read('/v1/token', { token });
      storedToken.set(token);
      onSignedIn();
    } catch (failure) {
      setError(failure instanceof ApiError ? failure : new ApiError(0, String(failure)));
    }
  };
  return (
    <main class="sign-in">
      <h1>Sluice</h1>
      {reason !== null && <p class="notice warning">{reason}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <label>
          Admin token
          <input
            type="password"
            autoComplete="off"
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value.trim())}
          />
        </label>
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <Failure error={error} />
      <p class="muted">
        <code>sluice dashboard</code> on the machine of the gateway opens this page signed in. The log of the gateway
        names the file with its token. The token is kept until this tab is closed.
      </p>
    </main>
  );
}
