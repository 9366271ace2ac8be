import type { Codes } from './codes.ts';

/** Classifiers, guards, redaction and caches of prompts. */
export const promptErrors: Codes = {
  AI_SERVER_INSECURE: ['Prompts are sent to a server without TLS.', 'Use `https://`.'],
  AI_SERVER_ADDRESS: ['The URL of a server cannot be called.', 'Write it as `https://host/path`, without credentials.'],
  CLASSIFIER_FAILED: [
    'A classifier did not choose a provider.',
    'Read the reason in the message. The failover of the route applies.',
  ],
  CLASSIFIER_FIELD: ['The settings of a gate or classifier do not fit its rule or engine.', 'Follow the message.'],
  CLASSIFIER_NAME: ['Two gates or two classifiers have the same name.', 'Use different names.'],
  REQUEST_PART: ['A path does not select a part of the request.', 'Write it as in the hint.'],
};
