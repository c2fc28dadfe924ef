/** Request headers that the fetcher manages, with the reason or the alternative. */
export const RESERVED_HEADERS: Readonly<Record<string, string>> = {
  'user-agent': 'use .userAgent()',
  'accept-encoding': 'the fetcher requests the encodings that it can decode',
  host: 'it follows from the URL',
  connection: 'the fetcher manages connections itself',
  'keep-alive': 'the fetcher manages connections itself',
  'proxy-connection': 'the fetcher manages connections itself',
  'proxy-authorization':
    'put the credentials into the URL of the proxy, so that no other server receives them',
  upgrade: 'the fetcher speaks nothing but HTTP',
  expect: 'the fetcher sends bodies without asking first',
  te: 'the fetcher reads no trailers',
  'content-length': 'it follows from the body',
  'transfer-encoding': 'it follows from the body',
}
