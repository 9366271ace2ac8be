// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in a configuration are written so.
import type { Codes } from './codes.ts';

/** Error codes of stores of secrets. */
export const secretErrors: Codes = {
  SECRETS_MANAGER_ENDPOINT: [
    'The endpoint of `secrets/aws-sm` is not a URL, or has a query.',
    'Write it as `https://host` or `http://host:port`.',
  ],
  SECRETS_MANAGER_INSECURE: [
    'The endpoint of `secrets/aws-sm` is another machine, and has no TLS: secrets are received in plain text.',
    'Use an `https` endpoint.',
  ],
  SECRETS_MANAGER_REGION: ['`secrets/aws-sm` has no AWS region.', 'Set `region`, or the variable `AWS_REGION`.'],
  SECRETS_MANAGER_SECRET: [
    'AWS Secrets Manager returned a secret without a value, or with binary data that is not UTF-8.',
    'Store the value as text.',
  ],
  SECRETS_MANAGER_STATUS: [
    'AWS Secrets Manager rejected a request. The message has the code of AWS.',
    'Correct the name of the secret, or allow `secretsmanager:GetSecretValue` to the credentials of the gateway.',
  ],
  SECRET_CYCLE: [
    'The settings of a store of secrets contain a reference to a secret.',
    'Write the value into a file, or use an environment variable with `GATEWAY_ENV_INTERPOLATION=1`.',
  ],
  SECRET_FETCH: [
    'A secret cannot be fetched from its store. At startup and in a new configuration this is an error; otherwise it is a warning, and the value in use stays.',
    'Read the reason in the message: the store is unreachable, rejects the credentials, or does not have the secret.',
  ],
  SECRET_LIMIT: ['A configuration has more than 1,000 references to secrets.', 'Remove references.'],
  SECRET_SCHEME: [
    'A value looks like a reference to a secret, but no store has its scheme: the text is used as it is written.',
    'Correct the scheme, or add the plugin that provides the store. The text stays as it is otherwise.',
  ],
  SECRET_STORE: [
    'A reference to a secret names a store that is not configured, or a plugin that provides none.',
    'Add the component that the message names to `extra_config` at the root.',
  ],
  SECRET_VALUE: [
    'A secret was fetched, but the reference cannot use it: the field is missing, or the value is too long or no number or boolean although the reference ends with `!int` or `!bool`.',
    'Correct the name after `#`, or the secret in the store.',
  ],
  VAULT_ADDRESS: ['The address of `secrets/vault` is not a URL.', 'Write it as `https://host:8200`.'],
  VAULT_AUTH: ['The login of `secrets/vault` lacks a field.', 'Add one of the fields that the message names.'],
  VAULT_INSECURE: [
    'The address of `secrets/vault` is another machine, and has no TLS: tokens and secrets are sent in plain text.',
    'Use an `https` address.',
  ],
  VAULT_LOGIN: [
    'The gateway cannot log in to Vault: a file cannot be read, or the response contains no token.',
    'Check the files that `auth` names, and that `mount` is the path of the login method.',
  ],
  VAULT_PATH: [
    'The path of a secret contains an empty or relative segment, or a special character.',
    'Correct the path.',
  ],
  VAULT_REDIRECT: [
    'The Vault server redirects to another path, or to an address without TLS.',
    'Set `address` to the active server, or to a load balancer in front of the servers.',
  ],
  VAULT_SECRET: ['The Vault server returned a secret without data.', 'Read the secret with `vault read` to compare.'],
  VAULT_STATUS: [
    'The Vault server rejected a request. The message has its reason.',
    'With 403, allow the path in the policy of the gateway; with 404, correct the path, without `data/`; with 503, unseal the server.',
  ],
};
