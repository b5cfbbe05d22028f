import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readS3Error, readS3Page, s3Request } from './s3-request.ts'

const KEYS = { access: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const AT = Date.parse('2013-05-24T00:00:00Z')

describe('requests of S3', () => {
  test("are signed as in AWS's own example of a list", () => {
    const bucket = { endpoint: 'https://examplebucket.s3.amazonaws.com', bucket: '', keys: KEYS }
    const { url, headers } = s3Request(bucket, { method: 'GET', query: { prefix: 'J', 'max-keys': '2' } }, AT)
    assert.equal(url.href, 'https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J')
    assert.match(
      headers.authorization ?? '',
      /Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7$/,
    )
  })

  test('name bucket and key in the path, whatever is in them, and go unsigned without keys', () => {
    const bucket = { endpoint: 's3.example.com', bucket: 'backups' }
    const { url, headers } = s3Request(bucket, { method: 'HEAD', key: "home/a b+c'(1)" }, AT)
    assert.equal(url.href, 'https://s3.example.com/backups/home/a%20b%2Bc%27%281%29')
    assert.deepEqual(headers, {})
    const amazon = { endpoint: 's3.amazonaws.com', bucket: 'b', region: 'eu-central-1' }
    assert.equal(s3Request(amazon, { method: 'GET' }, AT).url.host, 's3.eu-central-1.amazonaws.com')
  })

  test('lists are read with their entities and their next page; anything else is none', () => {
    const xml = `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>true</IsTruncated>
      <Contents><Key>home/a&amp;b&#39;</Key><LastModified>2026-11-15T01:32:09.000Z</LastModified><Size>12</Size></Contents>
      <Contents><Key>home/broken</Key><LastModified>never</LastModified><Size>12</Size></Contents>
      <NextContinuationToken>t=1</NextContinuationToken></ListBucketResult>`
    assert.deepEqual(readS3Page(xml), {
      objects: [{ key: "home/a&b'", bytes: 12, atMs: Date.parse('2026-11-15T01:32:09Z') }],
      next: 't=1',
    })
    assert.equal(readS3Page('<html>'), undefined)
    assert.equal(
      readS3Error(403, '<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>'),
      'AccessDenied (HTTP 403): Access Denied.',
    )
    assert.equal(readS3Error(502, ''), 'HTTP 502')
  })
})
