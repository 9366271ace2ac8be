import type { Codes } from './codes.ts';

/** Tests of a configuration. */
export const testingErrors: Codes = {
  SANDBOX_BODY: [
    'The mocked response of a backend whose protocol returns data has a body that is not JSON.',
    'Write the body of the mocked response as JSON.',
  ],
  SANDBOX_FAILURE: [
    'The connection to a backend failed because its mock defines a `failure`.',
    'Remove `failure` from the mock if the call should succeed.',
  ],
  SANDBOX_REFUSED: [
    'A component tried to connect to a server, which tests never do.',
    'Mock the server if it speaks HTTP; otherwise test the endpoint without the component, or with `--network`.',
  ],
};
