import { createPrivateKey } from 'node:crypto'

/** A key without an owner, for certificates that the simulated host parses. */
export const TEST_KEY = createPrivateKey({
  format: 'jwk',
  key: {
    kty: 'EC',
    crv: 'P-256',
    x: 'ubotgIFj3r7Frd9e3rozmE5zYj8XTmN6eqczH7PSgHs',
    y: 'Pg2jZG27j7XHjxRr_ObrNsfzgRvEy8CdQ1sgrGtIKD4',
    d: 'GCAxYk_Y8fSnAaYK-jrB7mh4dfEcSQmzvBzUllbekRo',
  },
})
  .export({ type: 'pkcs8', format: 'pem' })
  .toString()

/** A certificate of this key that differs from the example's. Valid for a hundred years. */
export const OTHER_CERTIFICATE = `${[
  '-----BEGIN CERTIFICATE-----',
  'MIIBkTCCATegAwIBAgIULj2KNLelfWI7mGI5aMK5smDoxYUwCgYIKoZIzj0EAwIw',
  'HTEbMBkGA1UEAwwSb3RoZXIuZXhhbXBsZS50ZXN0MCAXDTI2MTExNjAyMTQzOVoY',
  'DzIxMjYxMDIzMDIxNDM5WjAdMRswGQYDVQQDDBJvdGhlci5leGFtcGxlLnRlc3Qw',
  'WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS5ui2AgWPevsWt317eujOYTnNiPxdO',
  'Y3p6pzMfs9KAez4No2Rtu4+1x48Ua/zm6zbH84EbxMvAnUNbIKxrSCg+o1MwUTAd',
  'BgNVHQ4EFgQUH0fxtFiIdr7QJOOiaytV7iaAaUUwHwYDVR0jBBgwFoAUH0fxtFiI',
  'dr7QJOOiaytV7iaAaUUwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBF',
  'AiEAyjTkseK94blrPTaGCbVv/F58YFSBW6v4jwy+8ssNZ8wCIAZt3M6vy76SDTt+',
  'QYTo3uTzkraPBBHqZGMijjukrb8i',
  '-----END CERTIFICATE-----',
].join('\n')}\n`
