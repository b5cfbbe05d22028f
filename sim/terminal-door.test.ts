import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { seededRandom } from '../src/lib/random.ts'
import { createDatacentre } from './datacentre.ts'
import { serialLine } from './guest/serial-line.ts'
import { createTermReader } from './proxmox/term-reader.ts'
import { serveDatacentre } from './serve.ts'
import { createVirtualClock } from './virtual-clock.ts'
import { newGuest, powerOn } from './world/guest-run.ts'

const AT = '/api2/json/nodes/pve-1/qemu'

interface Proxy {
  readonly port: number
  readonly ticket: string
  readonly user: string
}

async function served() {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1))
  const datacentre = createDatacentre({ clock, random: seededRandom(3), preset: 'empty', hosts: ['pve-1'] })
  const host = datacentre.world.hosts.get('pve-1') ?? assert.fail()
  for (const [vmid, config] of [
    [100, { name: 'web-1', serial0: 'socket' }],
    [101, { name: 'web-2' }],
  ] as const) {
    const guest = newGuest(vmid, 'qemu', 'pve-1', new Map(Object.entries(config)))
    datacentre.world.guests.set(vmid, guest)
    powerOn(datacentre.world, host, guest, 0)
  }
  const server = await serveDatacentre(datacentre, { port: 0 })
  const headers = { authorization: `PVEAPIToken=${datacentre.token}` }
  const start = async (vmid: number): Promise<Proxy> => {
    const request = { method: 'POST', path: `${AT}/${vmid}/termproxy`, headers }
    const answer = await clock.runUntil(datacentre.handle(request))
    assert.equal(answer.status, 200, answer.body)
    return (JSON.parse(answer.body) as { readonly data: Proxy }).data
  }
  /** What came back: the status of a refusal, `cut`, or all that was shown until the line was closed. */
  const connect = (vmid: number, { port, ticket }: Pick<Proxy, 'port' | 'ticket'>, login?: string, keys = '') =>
    new Promise<string>((resolve) => {
      const query = `port=${port}&vncticket=${encodeURIComponent(ticket)}`
      const options = { rejectUnauthorized: false, headers }
      const web = new WebSocket(
        `${server.endpoint.replace('https', 'wss')}${AT}/${vmid}/vncwebsocket?${query}`,
        'binary',
        options,
      )
      let text = ''
      web.on('unexpected-response', (_request, response) => {
        response.resume()
        resolve(`${response.statusCode} ${response.statusMessage}`)
      })
      web.on('error', () => resolve('cut'))
      web.on('open', () => {
        if (login !== undefined) web.send(`${login}\n`)
        if (keys !== '') web.send(keys)
      })
      web.on('message', (data: Buffer) => {
        text += data.toString('utf8')
        if (text.endsWith('login: ')) web.close()
      })
      web.on('close', () => resolve(text))
      // The answer waits for the simulated clock.
      void clock.advanceTo(clock.now() + 1_000)
    })
  return { clock, start, connect, close: () => server.close() }
}

describe('a terminal of the simulated Proxmox', () => {
  const rule = (what: string, body: (it: Awaited<ReturnType<typeof served>>) => Promise<void>) => {
    test(what, { timeout: 120_000 }, async () => {
      const it = await served()
      try {
        await body(it)
      } finally {
        await it.close()
      }
    })
  }

  rule('says OK to its user and ticket, then what stands on the line', async ({ start, connect }) => {
    const proxy = await start(100)
    assert.match(
      await connect(100, proxy, `${proxy.user}:${proxy.ticket}`),
      /^OKstarting serial terminal on interface serial0\r\n[\s\S]* login: $/,
    )
  })

  rule('takes a ticket once', async ({ start, connect }) => {
    const proxy = await start(100)
    await connect(100, proxy, `${proxy.user}:${proxy.ticket}`)
    assert.equal(
      await connect(100, proxy, `${proxy.user}:${proxy.ticket}`),
      '401 permission denied - invalid PVEVNC ticket',
    )
  })

  rule('takes no ticket at another port, for another guest, or too late', async ({ clock, start, connect }) => {
    const refused = '401 permission denied - invalid PVEVNC ticket'
    const [one, other] = [await start(100), await start(100)]
    assert.notEqual(one.port, other.port)
    assert.equal(await connect(100, { ...one, port: other.port }), refused)
    assert.equal(await connect(101, one), refused)
    assert.equal(await connect(100, { ...one, ticket: 'PVEVNC:x' }), refused)
    await clock.advanceTo(clock.now() + 15_000)
    assert.equal(await connect(100, one), 'cut', 'the ticket is good, and nobody waits at the port any more')
    await clock.advanceTo(clock.now() + 60_000)
    assert.equal(await connect(100, one), refused)
  })

  rule('hangs up on a wrong first line without a word', async ({ start, connect }) => {
    const [one, other] = [await start(100), await start(100)]
    assert.equal(await connect(100, one, `${one.user}:${other.ticket}`), '')
    assert.equal(await connect(100, other, `somebody@pam:${other.ticket}`), '')
  })

  rule('says on the line itself that there is no serial port', async ({ start, connect }) => {
    const proxy = await start(101)
    assert.equal(await connect(101, proxy, `${proxy.user}:${proxy.ticket}`), 'OKunable to find a serial interface\r\n')
  })
})

for (const [what, chunks, data, sizes] of [
  ['data', ['0:3:abc'], 'abc', []],
  ['two messages at once', ['0:1:a0:2:bc'], 'abc', []],
  ['data in two parts', ['0:4:ab', 'cd'], 'abcd', []],
  ['a size', ['1:80:24:'], '', [[80, 24]]],
  ['a ping between', ['2', '0:1:a', '2'], 'a', []],
  ['a head in two parts is lost', ['0:', '3:abc'], '', []],
  ['what is no message counts for nothing', ['hello0:2:ok'], 'ok', []],
] as const)
  test(`termproxy reads ${what}`, () => {
    const seen: [number, number][] = []
    let text = ''
    const read = createTermReader({
      data: (bytes) => {
        text += bytes.toString('utf8')
      },
      size: (columns, rows) => seen.push([columns, rows]),
    })
    for (const chunk of chunks) read(Buffer.from(chunk))
    assert.deepEqual([text, seen], [data, sizes])
  })

test('a login: the password is not shown, a wrong one is refused, and exit leads back', () => {
  const line = serialLine({ hostname: 'web-1', title: 'Ubuntu', run: (text) => `ran ${text}\n` })
  const type = (text: string) => line.type(Buffer.from(text))
  assert.match(line.greeting, /Ubuntu web-1 ttyS0\r\n\r\nweb-1 login: $/)
  assert.equal(type('roox\u007ft\r'), 'roox\b \bt\r\nPassword: ')
  assert.equal(type('wrong\r'), '\r\n\r\nLogin incorrect\r\nweb-1 login: ')
  type('root\r')
  assert.match(type('croft\r'), /Welcome to Ubuntu[\s\S]*root@web-1:~# $/)
  assert.equal(type('ls\r'), 'ls\r\nran ls\r\nroot@web-1:~# ')
  assert.equal(type('abc\u0003'), 'abc^C\r\nroot@web-1:~# ')
  assert.match(type('exit\r'), /logout[\s\S]*login: $/)
})
