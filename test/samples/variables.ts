/** Variables that the guides set. */
export const variables: Readonly<Record<string, string>> = {
  GATEWAY_ENV_INTERPOLATION: '1',
  ACME_MOBILE_KEY: 'open-sesame',
  ACME_SIGNING_KEY: 'key-of-signatures',
  ANTHROPIC_KEY: 'key-of-anthropic',
  BEDROCK_KEY: 'key-of-bedrock',
  CLIENT_SECRET: 'secret-of-the-client',
  COLLECTOR_TOKEN: 'token-of-the-collector',
  GEMINI_KEY: 'key-of-gemini',
  INFLUX_PASSWORD: 'password-of-influx',
  NEW_RELIC_LICENSE: 'license-of-new-relic',
  NTLM_PASSWORD: 'password-of-ntlm',
  OPENAI_KEY: 'key-of-openai',
  REVOKE_KEY: 'key-of-the-revoke-server',
  SESSION_SECRET: 'secret-of-the-sessions-of-a-sample',
};
