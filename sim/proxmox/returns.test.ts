import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEvidenceLines } from '../../test/evidence/read.ts'
import { createTestClient, HOST, type TestClient, WEB } from '../test-client.ts'
import { isSimulated } from './testing/coverage.ts'

interface Shape {
  readonly type?: string
  readonly optional?: number
  readonly enum?: readonly unknown[]
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly returns?: Shape
}

/** Rows of a list that are looked at. */
const ROWS = 20

/** What of an answer is not of the shape that the schema gives it. */
function differences(shape: Shape | undefined, value: unknown, at: string): readonly string[] {
  if (shape?.type === undefined) return []
  if (value === null || value === undefined)
    return shape.type === 'null' || shape.optional === 1 ? [] : [`${at}: nothing for ${shape.type}`]
  if (shape.type === 'array') {
    if (!Array.isArray(value)) return [`${at}: not an array`]
    return value.slice(0, ROWS).flatMap((row: unknown) => differences(shape.items, row, `${at}[]`))
  }
  if (shape.type === 'object') {
    if (typeof value !== 'object' || Array.isArray(value)) return [`${at}: not an object`]
    const parts = value as Readonly<Record<string, unknown>>
    return Object.entries(shape.properties ?? {}).flatMap(([name, part]) => {
      if (name.includes('[n]')) return []
      if (!(name in parts)) return part.optional === 1 ? [] : [`${at}.${name}: missing`]
      return differences({ ...part, optional: 1 }, parts[name], `${at}.${name}`)
    })
  }
  if (!isOf(shape.type, value)) return [`${at}: ${typeof value} for ${shape.type}`]
  if (shape.enum === undefined || shape.enum.includes(value)) return []
  return [`${at}: ${JSON.stringify(value)} is none of its values`]
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'string') return typeof value === 'string'
  if (type === 'integer' || type === 'number') return typeof value === 'number'
  // Perl has no boolean type: both forms come from the real daemon.
  if (type === 'boolean') return value === 0 || value === 1 || typeof value === 'boolean'
  return true
}

/** Where the real daemon does not keep to its own schema, and so the simulator does not either. */
const KNOWN: Readonly<Record<string, string>> = {
  '/cluster/nextid': 'recorded as a text',
  '/cluster/firewall/groups/{group}/{pos}': 'one rule is recorded with its position as a text',
  '/cluster/firewall/rules/{pos}': 'one rule is recorded with its position as a text',
  '/nodes/{node}/qemu/{vmid}/firewall/rules/{pos}': 'one rule is recorded with its position as a text',
  '/nodes/{node}/qemu/{vmid}/pending': 'recorded with numbers where the configuration has numbers',
}

/** Names for the placeholders; everything else is called x1. */
const NAMES: Readonly<Record<string, string>> = {
  node: HOST.split('/').at(-1) ?? '',
  storage: 'local',
  poolid: 'team',
  userid: 'root@pam',
  tokenid: 'croft',
  realm: 'pam',
  roleid: 'PVEAdmin',
  groupid: 'crew',
  iface: 'vmbr0',
  group: 'web',
  service: 'sshd',
  pos: '0',
  id: 'nightly',
  snapname: 'before',
}

const QUERIES: readonly (readonly [RegExp, string])[] = [
  [/rrddata$/, 'timeframe=hour'],
  [/schedule-analyze$/, 'schedule=daily'],
  [/cloudinit\/dump$/, 'type=user'],
  [/feature$/, 'feature=snapshot'],
  [/disks\/smart$/, 'disk=/dev/sda'],
]

/** One of everything that is quickly made. */
async function furnish(client: TestClient): Promise<{ readonly qemu: string }> {
  await client.data('POST', '/pools', { poolid: 'team' })
  await client.data('POST', '/access/groups', { groupid: 'crew' })
  await client.data('POST', '/cluster/firewall/groups', { group: 'web' })
  await client.data('POST', '/cluster/firewall/groups/web', { type: 'in', action: 'ACCEPT' })
  await client.data('POST', '/cluster/firewall/rules', { type: 'in', action: 'ACCEPT' })
  await client.data('POST', '/cluster/backup', { id: 'nightly', schedule: '02:30', storage: 'local', all: '1' })
  assert.equal(await client.task('POST', `${HOST}/qemu`, WEB), 'OK')
  const qemu = WEB.vmid ?? ''
  assert.equal(await client.task('POST', `${HOST}/qemu/${qemu}/snapshot`, { snapname: 'before' }), 'OK')
  await client.data('POST', `${HOST}/qemu/${qemu}/firewall/rules`, { type: 'in', action: 'ACCEPT' })
  return { qemu }
}

test('[T-08] every list and object that the simulator shows has the shape of the real schema', async () => {
  const lines = readEvidenceLines<Operation>('proxmox/api-schema-9.2.jsonl')
  const operations = lines.filter(({ method }) => method === 'GET')
  const client = createTestClient()
  const { qemu } = await furnish(client)
  const wrong: string[] = []
  const idle = new Set(Object.keys(KNOWN))
  let shown = 0
  for (const { path, returns } of operations) {
    if (isSimulated('GET', path) === false || path.includes('/lxc/')) continue
    const place = path.replace(/\{([^}]+)\}/g, (_, name: string) => (name === 'vmid' ? qemu : (NAMES[name] ?? 'x1')))
    const query = QUERIES.find(([pattern]) => pattern.test(path))?.[1]
    const answer = await client.call('GET', query === undefined ? place : `${place}?${query}`)
    if (answer.status !== 200) continue
    shown += 1
    const found = differences(returns, (JSON.parse(answer.body) as { data: unknown }).data, '')
    if (found.length > 0) idle.delete(path)
    if (found.length > 0 && !(path in KNOWN)) wrong.push(`${path} ${[...new Set(found)].slice(0, 5).join('; ')}`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(shown >= 108, `${shown} answers were looked at`)
  assert.deepEqual([...idle], [], 'explains nothing any more')
})
