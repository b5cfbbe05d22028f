import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { DEFINITIONS } from '../../src/proxmox/registry.ts'
import { readEvidenceLines } from '../../test/evidence/read.ts'
import { createTestClient } from '../test-client.ts'
import { coverage, coverageTable, isSimulated } from './testing/coverage.ts'
import { findOperation } from './validate/index.ts'

const DOCS = new URL('../../docs/', import.meta.url)

test('what is simulated of the API, and the table in the documentation says so', () => {
  const found = coverage()
  const table = coverageTable(found)
  process.stdout.write(`${table}\n`)
  assert.ok(found.simulated >= 362, `${found.simulated} operations are simulated`)
  const page = readFileSync(new URL('simulator.md', DOCS), 'utf8')
  assert.ok(page.includes(table), `docs/simulator.md has another table; it should be:\n${table}`)
})

/** Returns the places that a path of a definition means. */
function places(path: string): string[] {
  const firewalls = ['/cluster/firewall', '/nodes/pve1/firewall', '/nodes/pve1/qemu/100/firewall']
  const at = path.includes('{firewall}') ? firewalls.map((firewall) => path.replace('{firewall}', firewall)) : [path]
  return at.map((one) =>
    one
      .replace('{host}', 'pve1')
      .replace('{vmid}', '100')
      .replace(/\{[^}]*\}/g, 'xx'),
  )
}

test('[R9] every call that a setting is kept by is simulated', () => {
  const missing: string[] = []
  for (const { name, list, create, update, remove, apply } of DEFINITIONS) {
    const verbs = [create, update, remove].filter((verb) => verb !== undefined)
    const calls: (readonly [string, string])[] = [
      ['GET', list.path],
      ...(list.item === undefined ? [] : [['GET', list.item.path] as const]),
      ...verbs.map((verb) => [verb.method, verb.path] as const),
      ...(apply === undefined ? [] : [['PUT', apply.path] as const]),
    ]
    for (const [method, path] of calls) {
      const verdicts = places(path).map((place) => isSimulated(method, place))
      // A firewall of a host has no names for addresses: such a call is made nowhere.
      const asked = verdicts.filter((verdict) => verdict !== undefined)
      if (asked.length === 0 || asked.includes(false)) missing.push(`${name}: ${method} ${path}`)
    }
  }
  assert.deepEqual(missing, [])
})

/** Returns the calls in the driver's page: `GET …/qemu/ID/config`; a lone word replaces the last part of the call before. */
function documentedCalls(): string[] {
  const page = readFileSync(new URL('drivers/proxmox.md', DOCS), 'utf8')
  const calls: string[] = []
  for (const line of page.split('\n')) {
    const cell = /^\| (.*?) \| /.exec(line)?.[1] ?? ''
    for (const [, code = ''] of cell.matchAll(/`([^`]+)`/g)) {
      const before = calls.at(-1) ?? ''
      if (/^(GET|POST|PUT|DELETE) /.test(code)) calls.push(code)
      else if (code.startsWith('…')) calls.push(`${before.split(' ')[0]} ${code}`)
      else if (/^[a-z]+$/.test(code)) calls.push(before.replace(/[^/]+$/, code))
    }
  }
  return calls
}

test('every call in the page of the Proxmox driver is simulated', () => {
  const calls = documentedCalls()
  assert.ok(calls.length >= 20, calls.join('\n'))
  const missing = calls.filter((call) => {
    const [method = '', path = ''] = call.split(' ')
    const real = path
      .replace(/\?.*$/, '')
      .replace('…/config', '…/qemu/ID/config')
      .replace('…', '/nodes/pve1')
      .replace('UPID', 'UPID:pve1:00000001:00000001:00000001:qmstart:100:root@pam:')
      .replace('NAME', 'local')
      .replace('FILE', 'local:iso')
      .replace('ID', '100')
    return isSimulated(method, real) !== true
  })
  assert.deepEqual(missing, [])
})

test('what the API does not have is refused with 501', async () => {
  const unknown = await createTestClient().call('GET', '/nodes/fun-bedbug/nothing')
  assert.equal(unknown.status, 501)
  assert.match(unknown.reason, /^Method 'GET \/nodes\/fun-bedbug\/nothing' not implemented/)
})

test('[T-08] a call that Proxmox VE has and the simulator does not is refused with 501, after its rights and parameters', async () => {
  const client = createTestClient()
  const cases: readonly (readonly [string, string, Record<string, string> | undefined, string])[] = [
    ['GET', '/nodes/fun-bedbug/ceph/status', undefined, 'GET /nodes/{node}/ceph/status'],
    ['POST', '/nodes/fun-bedbug/subscription', {}, 'POST /nodes/{node}/subscription'],
    ['POST', '/nodes/fun-bedbug/startall', {}, 'POST /nodes/{node}/startall'],
    ['GET', '/cluster/notifications/matchers', undefined, 'GET /cluster/notifications/matchers'],
  ]
  for (const [method, path, params, key] of cases) {
    const answer = await client.call(method, path, params)
    const reason = `'${key}' is part of Proxmox VE but is not simulated`
    assert.deepEqual([answer.status, answer.reason], [501, reason])
  }
  assert.equal((await client.call('POST', '/nodes/fun-bedbug/startall', { force: 'maybe' })).status, 400)
  assert.deepEqual(client.datacentre.writes, [])
})

interface SchemaLine {
  readonly method: string
  readonly path: string
  readonly parameters?: { readonly properties?: Readonly<Record<string, unknown>> }
}

test('[T-08] the tables hold every operation and parameter of the real schema', () => {
  const lines = readEvidenceLines<SchemaLine>('proxmox/api-schema-9.2.jsonl')
  const missing: string[] = []
  for (const { method, path, parameters } of lines) {
    const found = findOperation(
      method,
      path.replace(/\{[^}]+\}/g, (name) => name),
    )?.operation
    if (found === undefined) missing.push(`${method} ${path}`)
    else
      for (const name of Object.keys(parameters?.properties ?? {}))
        if (!name.endsWith('[n]') && !found.parameters.has(name)) missing.push(`${method} ${path}: ${name}`)
  }
  assert.ok(lines.length > 600)
  assert.deepEqual(missing, [])
})
