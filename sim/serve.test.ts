import assert from 'node:assert/strict'
import { request as connectThrough } from 'node:http'
import { request } from 'node:https'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RunningSimulator, startSimulator } from './serve.ts'

interface Got {
  readonly status: number
  readonly reason: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  readonly fingerprint: string
}

function get(
  simulator: RunningSimulator,
  method: string,
  path: string,
  options: { token?: string; body?: string; type?: string } = {},
): Promise<Got> {
  const headers: Record<string, string> = {}
  if (options.token !== undefined) headers.Authorization = `PVEAPIToken=${options.token}`
  if (options.type !== undefined) headers['Content-Type'] = options.type
  return new Promise((resolve, reject) => {
    const sent = request(
      `${simulator.endpoint}${path}`,
      { method, headers, rejectUnauthorized: false, agent: false },
      (answer) => {
        const socket = answer.socket as unknown as { getPeerCertificate(): { fingerprint256: string } }
        const fingerprint = socket.getPeerCertificate().fingerprint256
        let body = ''
        answer.on('data', (chunk: Buffer) => {
          body += chunk.toString('utf8')
        })
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            reason: answer.statusMessage ?? '',
            headers: answer.headers,
            body,
            fingerprint,
          }),
        )
      },
    )
    sent.on('error', reject)
    sent.end(options.body)
  })
}

test('croft sim serves the same datacentre over HTTPS, with its certificate and its door', async () => {
  const simulator = await startSimulator({ preset: 'recording', port: 0, speed: 50, seed: 3 })
  try {
    assert.match(simulator.endpoint, /^https:\/\/127\.0\.0\.1:\d+$/)
    assert.deepEqual(Object.keys(simulator.announcement), ['endpoint', 'fingerprint', 'token', 'tokens', 'clock'])
    assert.match(String(simulator.announcement.clock), /^50@\d{13}$/)
    const { token } = simulator
    const version = await get(simulator, 'GET', '/api2/json/version', { token })
    assert.equal(version.fingerprint, simulator.fingerprint)
    assert.equal(version.headers['content-type'], 'application/json;charset=UTF-8')
    assert.equal((JSON.parse(version.body) as { data: { release: string } }).data.release, '9.2')
    const missing = await get(simulator, 'GET', '/api2/json/nodes/pve1/qemu/999/config', { token })
    assert.equal(missing.status, 500)
    assert.equal(missing.reason, "Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist")
    assert.equal(missing.headers.connection, 'close')
    const nobody = await get(simulator, 'GET', '/api2/json/nodes')
    assert.deepEqual([nobody.status, nobody.reason, nobody.body], [401, 'No ticket', ''])
    const type = 'application/x-www-form-urlencoded'
    const made = await get(simulator, 'POST', '/api2/json/nodes/pve1/qemu', {
      token,
      type,
      body: 'vmid=100&scsi0=local%3A1',
    })
    assert.match(made.body, /UPID:pve1:/)
    const stats = await get(simulator, 'GET', '/sim/stats')
    assert.equal((JSON.parse(stats.body) as { writes: number }).writes, 1)
    await get(simulator, 'POST', '/sim/faults', {
      body: JSON.stringify({ match: 'version', kind: 'drop-after', count: 1 }),
    })
    await assert.rejects(get(simulator, 'GET', '/api2/json/version', { token }))
    assert.deepEqual(simulator.hosts(), ['pve1'])
    assert.equal(simulator.guests()[0]?.vmid, 100)
  } finally {
    await simulator.close()
  }
})

test('the Date of an answer is that of the simulated clock: a refused login is not taken for clocks that are apart', async () => {
  const simulator = await startSimulator({ preset: 'recording', port: 0, speed: 50, seed: 3 })
  try {
    // Long enough that its clock is seconds ahead of ours.
    await sleep(100)
    const before = simulator.clock.now()
    const refused = await get(simulator, 'GET', '/api2/json/nodes', { token: 'root@pam!croft=wrong' })
    assert.equal(refused.status, 401)
    const date = Date.parse(String(refused.headers.date))
    // The header has whole seconds.
    assert.ok(date > before - 1000 && date <= simulator.clock.now(), String(refused.headers.date))
  } finally {
    await simulator.close()
  }
})

test('a preset that is not there is named', async () => {
  await assert.rejects(startSimulator({ preset: 'castle' }), /no preset "castle"/)
})

test('croft sim serves a proxy to simulated clusters when it is asked for, and only then', async () => {
  const simulator = await startSimulator({ preset: 'empty', port: 0, speed: 50, seed: 3, proxy: true })
  try {
    assert.match(String(simulator.announcement.proxy), /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.equal(simulator.proxy, simulator.announcement.proxy)
    const status = await new Promise<number>((resolve, reject) => {
      const url = new URL(String(simulator.proxy))
      const asked = connectThrough({ host: url.hostname, port: url.port, method: 'CONNECT', path: '10.0.0.1:6443' })
      asked.on('connect', (answer, socket) => {
        socket.destroy()
        resolve(answer.statusCode ?? 0)
      })
      asked.on('error', reject)
      asked.end()
    })
    assert.equal(status, 502, 'nobody listens there')
  } finally {
    await simulator.close()
  }
})

test('the homelab has its cluster from the first moment, and nothing of it lies in the future', async () => {
  const simulator = await startSimulator({ preset: 'homelab', speed: 1 })
  try {
    assert.deepEqual(simulator.nodes(), [
      { name: 'k3s-vm-pumped-piglet-gpu', ready: true, votes: true },
      { name: 'k3s-vm-still-fawn', ready: true, votes: true },
    ])
    for (const { startedAtMs } of simulator.guests()) assert.ok(startedAtMs < simulator.clock.now())
  } finally {
    await simulator.close()
  }
})
