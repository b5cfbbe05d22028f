import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireRequest, WireResponse } from '../../src/lib/wire.ts'
import { estateFrom } from './manifests.ts'
import { simulate } from './run.ts'

const CONNECTION = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec:
  endpoint: https://127.0.0.1:8006
  token: {env: PROXMOX_TOKEN}
`

const GROUP = `apiVersion: croft.dev/v1alpha1
kind: ProxmoxFirewallGroup
metadata: {name: web}
spec:
  rules:
    - {action: ACCEPT, protocol: tcp, destinationPort: "22", source: 10.0.0.0/24}
    - {action: DROP, protocol: tcp, destinationPort: "22"}
`

const RULES = '/api2/json/cluster/firewall/groups/web'

for (const [what, method, theirs] of [
  ['removes a rule', 'DELETE', 'type=in&action=ACCEPT&proto=tcp&dport=80&enable=1'],
  ['rewrites a rule', 'PUT', undefined],
] as const)
  test(`a person adds a rule in the moment in which croft ${what}: no other rule is hit`, async () => {
    const run = simulate({ seed: 1, estate: estateFrom({ 'p.yaml': CONNECTION, 'g.yaml': GROUP }), preset: 'hosts' })
    const process = run.start()
    assert.equal(await run.untilSettled(process), 'settled')
    const datacentre = run.datacentre as { handle: (request: WireRequest) => Promise<WireResponse> }
    const handle = datacentre.handle.bind(datacentre)
    const send = (verb: string, path: string, body?: string) =>
      run.clock.runUntil(
        handle({
          method: verb,
          path,
          headers: {
            authorization: `PVEAPIToken=${run.datacentre.token}`,
            ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
          },
          ...(body === undefined ? {} : { body }),
        } as WireRequest),
        { maxMs: 60_000 },
      )
    const shown = async () => {
      const { body } = await send('GET', RULES)
      const { data } = JSON.parse(String(body)) as { data: readonly Record<string, string>[] }
      return data.map(({ action, dport }) => `${action} ${dport}`)
    }
    if (theirs === undefined) await send('PUT', `${RULES}/1`, 'dport=2222')
    else {
      await send('POST', RULES, theirs)
      await send('PUT', `${RULES}/0`, 'moveto=3')
    }
    const before = await shown()

    let answer: WireResponse | undefined
    let after: readonly string[] = []
    datacentre.handle = async (request) => {
      if (request.method !== method || answer !== undefined) return handle(request)
      const added = 'type=in&action=ACCEPT&proto=tcp&dport=443&enable=1'
      const headers = { ...request.headers, 'content-type': 'application/x-www-form-urlencoded' }
      await handle({ ...request, method: 'POST', path: RULES, headers, body: added } as WireRequest)
      answer = await handle(request)
      const { body: _, ...asked } = request
      const { body } = await handle({ ...asked, method: 'GET', path: RULES } as WireRequest)
      after = (JSON.parse(String(body)) as { data: readonly Record<string, string>[] }).data.map(
        (one) => `${one.action} ${one.dport}`,
      )
      return answer
    }
    const signal = new AbortController().signal
    for (let pass = 0; pass < 8 && answer === undefined; pass++) {
      await run.clock.advanceTo(run.clock.now() + 20_000)
      await run.clock.runUntil(process.engine.pass(run.estate, signal, { sweep: 50 }), { maxMs: 9e6 })
    }
    assert.ok(answer, 'croft came to its call')
    assert.notEqual(answer.status, 200)
    assert.deepEqual(after, ['ACCEPT 443', ...before])
    assert.equal(await run.untilSettled(process), 'settled')
    assert.deepEqual(await shown(), ['ACCEPT 22', 'DROP 22'])
  })
