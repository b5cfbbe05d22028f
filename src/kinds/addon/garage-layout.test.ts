import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { after, test } from 'node:test'
import { findCommand } from '../../../scripts/packages.ts'
import { layout } from './presets/garage.ts'

/* The script that shares out Garage's nodes, run by a real shell and curl against an API that answers like Garage's. */

const ids = ['a', 'b', 'c'].map((letter) => letter.repeat(64))
let nodes = ids.slice(0, 1)
let roles: { id: string; zone: string; capacity: number; tags: string[] }[] = []
let staged: typeof roles = []
let version = 0
let buckets: string[] = []
const writes: string[] = []
/** The job ends before its staged layout is applied. */
let cutOff = false

const server = createServer((request, response) => void answer(request, response))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
  const say = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body, undefined, 2))
  if (request.headers.authorization !== 'Bearer t0ken') return say(403, {})
  if (request.method === 'POST') writes.push(pathname)
  switch (pathname) {
    case '/v2/GetClusterStatus':
      return say(200, { layoutVersion: version, nodes: nodes.map((id) => ({ isUp: true, id, draining: false })) })
    case '/v2/GetClusterLayout':
      return say(200, { version, roles, parameters: {}, partitionSize: 1, stagedRoleChanges: staged })
    case '/v2/UpdateClusterLayout':
      staged = ((await bodyOf(request)) as { roles: typeof roles }).roles
      return say(200, {})
    case '/v2/ApplyClusterLayout': {
      if (cutOff) return request.socket.destroy()
      if (((await bodyOf(request)) as { version: number }).version !== version + 1) return say(400, {})
      ;[roles, staged, version] = [[...roles, ...staged], [], version + 1]
      return say(200, {})
    }
    case '/v2/GetBucketInfo':
      return say(buckets.includes(searchParams.get('globalAlias') ?? '') ? 200 : 404, {})
    case '/v2/CreateBucket':
      buckets = [...buckets, ((await bodyOf(request)) as { globalAlias: string }).globalAlias]
      return say(200, {})
    default:
      return say(501, {})
  }
}
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
after(() => server.close())

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return JSON.parse(text)
}

function run(script: string): Promise<number | null> {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const env = { PATH: process.env.PATH, TOKEN: 't0ken', API: `http://127.0.0.1:${port}/v2` }
  const child = spawn('sh', ['-c', script], { env, stdio: 'ignore' })
  return new Promise((done) => child.on('exit', done))
}

const skip = findCommand('curl') === undefined ? 'curl is missing: apt-get install -y curl' : false

test('the layout of Garage: nothing before all nodes are there, then once; a new node and a new bucket come to it', {
  skip,
}, async () => {
  const two = layout(2, '1Gi', 'home', ['backups'])
  assert.notEqual(await run(two), 0, 'one node of two')
  assert.deepEqual(writes, [])
  nodes = ids.slice(0, 2)
  cutOff = true
  assert.notEqual(await run(two), 0)
  assert.deepEqual([staged.length, roles.length], [2, 0], 'staged and not in force')
  cutOff = false
  assert.equal(await run(two), 0)
  assert.deepEqual(
    roles,
    nodes.map((id) => ({ id, zone: 'home', capacity: 1_073_741_824, tags: [] })),
  )
  assert.deepEqual(buckets, ['backups'])
  writes.length = 0
  assert.equal(await run(two), 0)
  assert.deepEqual(writes, [], 'a second time there is nothing to do')
  nodes = ids
  assert.equal(await run(layout(3, '1Gi', 'home', ['backups', 'photos'])), 0)
  assert.deepEqual([roles.map(({ id }) => id), version, buckets], [ids, 2, ['backups', 'photos']])
})
