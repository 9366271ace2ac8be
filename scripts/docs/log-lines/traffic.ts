import { type LogAreas, none } from './log-line.ts';

/** Log lines of requests, and of the servers that the gateway calls. */
export const trafficLines: LogAreas = {
  Requests: [
    {
      level: 'WARNING',
      text: 'request rejected with 414: … … has more than 1,000 query parameters',
      cause: 'A client sends too many query parameters.',
      remedy: 'Correct the client; send the values in a body.',
    },
    {
      level: 'WARNING',
      text: 'the permissions of … could not be changed: …',
      cause: 'The file of the Unix socket was removed or replaced while the gateway listens on it.',
      remedy: 'Restart the gateway: clients cannot reach a socket whose file was removed.',
    },
    {
      level: 'WARNING',
      text: 'connection from … closed: …',
      cause:
        'A load balancer in `proxy_protocol.trusted` sent no valid PROXY protocol header. Logged at most once a second.',
      remedy: 'Enable the PROXY protocol in the load balancer, for its health checks too, or remove it from the list.',
    },
    {
      level: 'WARNING',
      text: 'client stopped reading for … ms; response aborted',
      cause: 'A client does not read its response within `send_timeout`.',
      remedy: 'Raise `send_timeout` for slow clients.',
    },
    {
      level: 'WARNING',
      text: 'stream ended by the timeout of the endpoint',
      cause: 'A streamed response took longer than the timeout of its endpoint.',
      remedy: 'Raise `timeout` of the endpoint.',
    },
    {
      level: 'ERROR',
      text: 'response ended early: …',
      cause: 'The backend ended its response early; the client got an incomplete response.',
      remedy: 'See the log of the backend.',
    },
    {
      level: 'ERROR',
      text: 'response failed: …',
      cause: 'The response could not be written, for example because of a header value.',
      remedy: 'Read the reason; it names the header and the component.',
    },
    {
      level: 'WARNING',
      text: '{…} is missing in the response of backend …',
      cause: 'A later backend of a sequence refers to a field that an earlier one did not return.',
      remedy: 'Correct the placeholder, or the response of the backend.',
    },
    {
      level: 'WARNING',
      text: "[CB] Circuit breaker named '…' went from '…' to '…'",
      cause: 'A backend failed too often, or has recovered.',
      remedy: 'Find out why the backend fails.',
    },
    {
      level: 'ERROR',
      text: 'token refused: …',
      cause: 'The validator rejected a token. Logged with `operation_debug` only.',
      remedy: 'Compare the reason with the configuration of the validator.',
    },
    {
      level: 'WARNING',
      text: 'a request is rejected: …',
      cause: 'An authorization server did not respond with a decision on a request. Logged at most once a second.',
      remedy: 'Read the reason: the server is unreachable, or its response is not valid.',
    },
    {
      level: 'WARNING',
      text: 'a request is accepted unchecked: …',
      cause: 'An authorization server is not available, and `on_failure_allow` is set. Logged at most once a second.',
      remedy: 'Restore the authorization server: requests are not checked meanwhile.',
    },
    {
      level: 'WARNING',
      text: 'a login has failed: …',
      cause: 'A login could not be completed, because of an identity provider or Redis. Logged at most once a second.',
      remedy: 'Read the reason: the provider is unreachable, does not know the client, or its response is not valid.',
    },
    {
      level: 'WARNING',
      text: 'a back-channel logout was rejected: …',
      cause: 'A logout request is not from the provider, or was sent before. Logged at most once a second.',
      remedy: 'Compare the client and the keys of the provider with the configuration if users remain logged in.',
    },
    {
      level: 'WARNING',
      text: 'a user is logged out of the gateway, but not of provider "…": …',
      cause: 'The provider was unreachable during a logout.',
      remedy: 'Restore the provider: the user can log in again there without a password.',
    },
    {
      level: 'WARNING',
      text: 'the metadata of provider "…" is not refreshed: …',
      cause: 'The provider is unreachable; the known metadata is used. Logged at most once a second.',
      remedy: 'Restore the provider.',
    },
    {
      level: 'ERROR',
      text: '[Botdetector] bot rejected',
      cause: 'A request was rejected by its user agent.',
      remedy: 'Add the user agent to `allow` if it should be accepted.',
    },
    {
      level: 'WARNING',
      text: '[HTTPsecure] Bad Host: …',
      cause: 'A request has a host that is not in `allowed_hosts`.',
      remedy: 'Add the host if clients should use it.',
    },
  ],
  'Other servers': [
    {
      level: 'ERROR',
      text: '[Redis] … does not respond',
      cause: 'Redis does not respond within the timeouts of the connection.',
      remedy: 'Check the server; limits and quotas follow their `on_failure_allow` until then.',
    },
    { level: 'INFO', text: '[Redis] … responds again', cause: 'The connection has recovered.', remedy: none },
    {
      level: 'WARNING',
      text: '[Redis] a request is accepted without being counted…: …',
      cause: 'Redis failed, and the limit is configured to accept requests in this case.',
      remedy: 'Check the server.',
    },
    {
      level: 'ERROR',
      text: '[Redis] a request is rejected…: …',
      cause: 'Redis failed, and the limit is configured to reject requests in this case.',
      remedy: 'Check the server.',
    },
    {
      level: 'WARNING',
      text: 'SRV lookup of … is slow: no hosts are available until it completes',
      cause: 'The DNS server responds slowly while the gateway starts.',
      remedy: 'Check the DNS server.',
    },
    {
      level: 'WARNING',
      text: 'the local clock differs from AWS (…) by … seconds; signing with the AWS time',
      cause: 'The clock of the machine is wrong.',
      remedy: 'Synchronize the clock.',
    },
    {
      level: 'WARNING',
      text: 'Consumer stopped: …',
      cause: 'An agent lost its broker. It reconnects.',
      remedy: 'Check the broker.',
    },
    {
      level: 'ERROR',
      text: 'too many retries: the agent has stopped and restarts with the next configuration',
      cause: 'An agent could not reach its broker.',
      remedy: 'Check the broker and reload; raise `max_retries`.',
    },
    {
      level: 'INFO',
      text: '… can be reached again…',
      cause: 'A collector of traces or metrics has recovered. The line shows how many items were lost.',
      remedy: none,
    },
  ],
};
