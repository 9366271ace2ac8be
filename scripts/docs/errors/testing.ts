import type { Codes } from './codes.ts';

/** Error codes of tests of a configuration. */
export const testingErrors: Codes = {
  COMPAT_BACKENDS: [
    'The mocked backends of `sluice compat` cannot be served, or the configuration has more than 1,000.',
    'Choose a free port with `--backends`; the ports after it are used, too.',
  ],
  COMPAT_DIFFERENCE: [
    'Another gateway responds differently, or sends other requests to its backends.',
    'Correct the configuration, or accept the difference with `--accept`.',
  ],
  COMPAT_OPENAPI: [
    'The file of `--openapi` cannot be read, or is not an OpenAPI document with operations.',
    'Correct the path, or the document.',
  ],
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
  TEST_BACKEND: [
    'A test expects calls to a mock that neither the test nor its file defines.',
    'Use the name of a mock under `backends`.',
  ],
  TEST_EXPRESSION: ['A JMESPath expression of a test is not valid.', 'Correct the expression.'],
  CONTRACT_BROKEN: [
    'A change of the configuration breaks the contract of an endpoint.',
    'Correct the configuration, or write the contract again with sluice contracts infer.',
  ],
  CONTRACTS_UNCHECKED: [
    'A change was requested with `contracts=strict`, but contracts cannot be checked: a file of the folder is not valid, no recorded request reaches an endpoint with a contract, or the check did not finish. The previous configuration stays active.',
    'Read the reason in the message; check the change with `sluice contracts check` and a recording, and apply it without `contracts=strict`.',
  ],
  CONTRACT_DUPLICATE: [
    'Two files of a folder contain the contract of the same endpoint and method.',
    'Remove one of the files.',
  ],
  CONTRACT_STATUS: ['A key of responses in a contract is not a status code.', 'Use a status such as 200.'],
  TEST_FAILED: ['A test of the configuration failed.', 'Correct the configuration, or the expectation.'],
  TEST_FILES: [
    'Files with tests cannot be read, are larger than 8 MiB, or are too many.',
    'Correct the path, or split the files.',
  ],
  TEST_NO_MOCK: [
    'The gateway sent a request in a test that no mock answers, or more than 1,000 requests to one mock.',
    'Add a mock whose `url`, `method` and `protocol` match, or correct the configuration.',
  ],
  TEST_PATTERN: ['A regular expression of a test is not valid.', 'Correct the expression; the syntax is RE2.'],
  TEST_RECORDING: [
    'A HAR file of tests cannot be read, exceeds 64 MiB, or is not in the HAR format.',
    'Correct the path, or record the traffic again.',
  ],
  TEST_REQUEST: ['The request of a test has an invalid method or URL.', 'Correct the request.'],
  TEST_RESPONSE: ['The response of the gateway of `--against` exceeds 64 MiB.', 'Test an endpoint with less data.'],
  TEST_SCHEMA: [
    'The JSON Schema of a test is not valid, or refers to another document.',
    'Correct the schema; it must be self-contained, in draft 07.',
  ],
};
