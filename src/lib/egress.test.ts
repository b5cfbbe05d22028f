import assert from 'node:assert/strict'
import { createServer as createPlain } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { EVERYWHERE, egressOf, isEgressEntry, isInside } from './egress.ts'
import { openEgressDoor } from './egress-door.ts'
import { askOnce, PlaceRefused, permitPlace } from './outgoing.ts'

for (const [address, inside] of [
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['10.0.0.1', true],
  ['172.31.255.255', true],
  ['172.32.0.1', false],
  ['192.168.1.1', true],
  ['169.254.169.254', true],
  ['100.64.0.1', true],
  ['0.0.0.0', true],
  ['224.0.0.1', true],
  ['255.255.255.255', true],
  ['8.8.8.8', false],
  ['::1', true],
  ['::', true],
  ['[::1]', true],
  ['fe80::1%eth0', true],
  ['fd12::1', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:8.8.8.8', true],
  ['64:ff9b::7f00:1', true],
  ['2002:7f00:1::', true],
  ['2606:4700::1111', false],
  ['localhost', true],
  ['LOCALHOST.', true],
  ['metadata.internal', true],
  ['ghcr.io', false],
] as const)
  test(`[S-34] ${address} is ${inside ? 'inside' : 'outside'}`, () => assert.equal(isInside(address), inside))

test('[S-34] a list allows what it names, by host and port, and private addresses only as addresses', () => {
  const egress = egressOf(['ghcr.io', '*.example.org:8443', '10.1.0.0/16:443', '192.168.4.2:*'], ['93.184.216.34'])
  for (const [host, port, may] of [
    ['ghcr.io', 443, true],
    ['GHCR.io.', 443, true],
    ['ghcr.io', 80, false],
    ['evilghcr.io', 443, false],
    ['a.example.org', 8443, true],
    ['example.org', 8443, false],
    ['badexample.org', 8443, false],
    ['10.1.2.3', 443, true],
    ['10.2.2.3', 443, false],
    ['192.168.4.2', 9000, true],
    ['127.0.0.1', 443, false],
  ] as const)
    assert.equal(egress.mayAsk(host, port), may, `${host}:${port}`)
  assert.equal(egress.mayReach('140.82.112.3', 443), true)
  assert.equal(egress.mayReach('10.1.2.3', 443), true)
  assert.equal(egress.mayReach('10.2.2.3', 443), false)
  assert.equal(egress.mayReach('::ffff:10.1.2.3', 443), false)
  assert.equal(egress.mayReach('93.184.216.34', 443), false, 'an address of this very computer')
  assert.equal(egressOf(['*']).mayReach('127.0.0.1', 443), false)
  for (const entry of ['', 'a b', 'http://x', 'x:', 'x:99999999', '10.0.0.0/99', '*x', 'x/y', '../x'])
    assert.equal(isEgressEntry(entry), false, entry)
  for (const entry of ['*', '*:8443', 'x', '[::1]:443', '10.0.0.0/8:*', 'fd00::/8'])
    assert.equal(isEgressEntry(entry), true, entry)
})

test('[S-34] a name that leads inside is not connected to, whatever it answered before', async () => {
  let asked = 0
  const server = createPlain((_request, response) => {
    asked++
    response.end('secret of the inside')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const url = new URL(`http://rebound.example:${port}/`)
  const inside = { resolve: async () => ['127.0.0.1'], mostBytes: 1_000 }
  try {
    const egress = egressOf([`rebound.example:${port}`])
    await assert.rejects(askOnce(permitPlace(url, egress), inside), PlaceRefused)
    await assert.rejects(askOnce(permitPlace(url, EVERYWHERE), { ...inside, fromOutside: true }), PlaceRefused)
    await assert.rejects(askOnce(permitPlace(`http://127.0.0.1:${port}/`, egressOf(['*:*'])), inside), PlaceRefused)
    await assert.rejects(
      askOnce(permitPlace(url, egress), {
        mostBytes: 1,
        resolve: async () => Promise.reject(new Error('ENOTFOUND')),
      }),
      PlaceRefused,
      'whether there is such a name is not told',
    )
    for (const place of ['file:///etc/passwd', 'ftp://rebound.example/', 'no address', `http://other.example:${port}/`])
      assert.throws(() => permitPlace(place, egress), PlaceRefused, place)
    assert.equal(asked, 0)
    const both = egressOf([`rebound.example:${port}`, `127.0.0.1:${port}`])
    assert.equal((await askOnce(permitPlace(url, both), inside)).status, 200)
    await assert.rejects(askOnce(permitPlace(url, both), { ...inside, mostBytes: 5 }), /larger than 5 bytes/)
  } finally {
    server.close()
  }
})

test('[S-34] a place that answers a letter at a time is left, and one that answers a line at a time is heard', async () => {
  const server = createPlain((request, response) => {
    const [part, times] = request.url === '/letters' ? ['x', 60_000] : ['a line of a manifest\n', 3_000]
    const write = (left: number): void => {
      for (let count = 0; count < 500 && left > 0; count++, left--) response.write(part)
      if (left > 0) setImmediate(() => write(left))
      else response.end()
    }
    write(times)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const asked = (path: string) => askOnce(permitPlace(`${at}${path}`, EVERYWHERE), { mostBytes: 10_000_000 })
    await assert.rejects(asked('/letters'), /too many tiny parts/)
    assert.equal((await asked('/lines')).bytes.length, 3_000 * 21)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('[S-34] programs that are not ours go through a door that knows the list', async () => {
  let reached = 0
  const inner = createServer((socket) => {
    reached++
    socket.end('hello')
  })
  await new Promise<void>((done) => inner.listen(0, '127.0.0.1', done))
  const { port } = inner.address() as AddressInfo
  const through = async (entries: readonly string[], target: string) => {
    await using door = await openEgressDoor(egressOf(entries), async () => ['127.0.0.1'])
    const socket = connect(Number(new URL(door.url).port), '127.0.0.1')
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
    let said = ''
    for await (const chunk of socket) said += String(chunk)
    return said
  }
  try {
    assert.match(await through([`*:*`], `127.0.0.1:${port}`), /^HTTP\/1.1 403/)
    assert.match(await through([`a.example:${port}`], `a.example:${port}`), /^HTTP\/1.1 403/)
    assert.match(await through([`a.example:${port}`], `b.example:${port}`), /^HTTP\/1.1 403/)
    assert.equal(reached, 0)
    assert.match(await through([`127.0.0.1:${port}`], `127.0.0.1:${port}`), /^HTTP\/1.1 200 .*hello$/s)
  } finally {
    inner.close()
  }
})
