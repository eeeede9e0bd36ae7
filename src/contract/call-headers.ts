import manifest from '../../package.json' with { type: 'json' };

/** The headers of every request to the REST service. Responses that are encoded anyway are decoded. */
export const callHeaders = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': `petstore-gateway/${manifest.version}`,
};
