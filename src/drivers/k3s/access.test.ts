import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, test } from 'node:test'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import { endpointUrl } from '../../k3s/config.ts'
import { WireFailure } from '../../lib/wire.ts'
import { clusterSpec } from '../../plan/clusters/testing/fixture.ts'
import type { ClusterDeps } from '../cluster-port.ts'
import { createAccess } from './access.ts'
import { makeClusterSecrets } from './make-secrets.ts'

const START = 1_760_000_000_000
const HOUR = 3_600_000
const secrets = {
  ...makeClusterSecrets({
    cluster: 'homelab',
    firstServer: 's1',
    nowMs: START,
    randomBytes: (count) => new Uint8Array(count),
  }),
  formed: true,
}

for (const [what, jumpMs] of [
  ['an hour ahead', HOUR],
  ['an hour back', -HOUR],
  ['ten years ahead', 10 * 365 * 24 * HOUR],
] as const)
  test(`[F-22] our clock stood ${what} for a while: the access that is used afterwards is one that holds then`, async () => {
    let nowMs = START
    let used = ''
    const access = createAccess(
      { name: 'homelab', spec: clusterSpec('s1 s2 s3') } as unknown as Parameters<typeof createAccess>[0],
      {
        clock: { now: () => nowMs, monotonicMs: () => nowMs, sleep: () => new Promise(() => {}) },
        openKubernetes: ({ certificatePem }: { readonly certificatePem: string }) => ({
          send: async () => {
            used = certificatePem
            return { status: 200, reason: '', headers: {}, body: '{"kind":"NodeList","items":[]}' }
          },
          close: async () => {},
        }),
      } as unknown as ClusterDeps,
    )
    const holds = async () => {
      assert.equal((await access.nodes(secrets, new AbortController().signal)).api, 'yes')
      const { validFromDate, validToDate } = new X509Certificate(used)
      return validFromDate.getTime() <= nowMs && nowMs < validToDate.getTime()
    }
    for (const at of [START, START + jumpMs, START + 60_000, START + 20 * HOUR, START + 40 * HOUR]) {
      nowMs = at
      assert.ok(await holds(), new Date(at).toISOString())
    }
    await access.close()
  })

test('a declared endpoint that is silent is said, and used again as soon as it answers', async () => {
  const silent = new Set<string>()
  const asked: string[] = []
  const { servers, ...rest } = clusterSpec('s1 s2 s3')
  const spec = { ...rest, servers: servers.map((one, at) => ({ ...one, nodeIps: [`192.168.4.8${at}`] })) }
  const declared = endpointUrl(spec)
  const access = createAccess(
    { name: 'homelab', spec } as unknown as Parameters<typeof createAccess>[0],
    {
      clock: { now: () => START, monotonicMs: () => START, sleep: () => new Promise(() => {}) },
      openKubernetes: ({ endpoint }: { readonly endpoint: string }) => ({
        send: async () => {
          asked.push(endpoint)
          if (silent.has(endpoint)) throw new WireFailure('no', 'ECONNREFUSED', 'connection refused')
          return { status: 200, reason: '', headers: {}, body: '{"kind":"NodeList","items":[]}' }
        },
        close: async () => {},
      }),
    } as unknown as ClusterDeps,
  )
  const look = async () => {
    asked.length = 0
    const answer = await access.nodes(secrets, new AbortController().signal)
    assert.equal(answer.api, 'yes')
    return answer.api === 'yes' ? answer.silentEndpoint : undefined
  }
  assert.equal(await look(), undefined)
  assert.deepEqual(asked, [declared], 'one call for each look')
  silent.add(declared)
  assert.equal(await look(), declared)
  assert.equal(await look(), declared)
  assert.equal(asked.filter((one) => one === declared).length, 1)
  silent.delete(declared)
  assert.equal(await look(), undefined)
  assert.equal(await look(), undefined)
  assert.deepEqual(asked, [declared])
  await access.close()
})

describe('a declared endpoint that answers late', () => {
  const { servers, ...rest } = clusterSpec('s1 s2 s3')
  const spec = { ...rest, servers: servers.map((one, at) => ({ ...one, nodeIps: [`192.168.4.8${at}`] })) }
  const declared = endpointUrl(spec)

  /** Looks repeatedly, with these response times of the endpoint and the servers. */
  async function looks(
    turns: readonly (readonly [endpointMs: number, serversMs: number])[],
  ): Promise<readonly string[]> {
    const clock = createVirtualClock(START)
    let [endpointMs, serversMs] = [0, 0]
    const access = createAccess(
      { name: 'homelab', spec } as unknown as Parameters<typeof createAccess>[0],
      {
        clock,
        openKubernetes: ({ endpoint }: { readonly endpoint: string }) => ({
          send: async (_request: unknown, signal: AbortSignal) => {
            await clock.sleep(endpoint === declared ? endpointMs : serversMs, signal)
            if (signal.aborted) throw new WireFailure('maybe', 'ETIMEDOUT', 'too late')
            return { status: 200, reason: '', headers: {}, body: '{"kind":"NodeList","items":[]}' }
          },
          close: async () => {},
        }),
      } as unknown as ClusterDeps,
    )
    const said: string[] = []
    for (const turn of turns) {
      ;[endpointMs, serversMs] = turn
      const looking = access.nodes(secrets, new AbortController().signal)
      await clock.advanceTo(clock.now() + 30_000)
      const answer = await looking
      said.push(
        answer.api !== 'yes'
          ? answer.api
          : answer.silentEndpoint !== undefined
            ? 'silent'
            : answer.slowEndpoint !== undefined
              ? `slow ${answer.slowEndpoint.ms}`
              : 'well',
      )
    }
    return said
  }

  const rows: readonly [string, Parameters<typeof looks>[0], readonly string[]][] = [
    [
      'late once is chance',
      [
        [3000, 10],
        [10, 10],
        [10, 10],
      ],
      ['well', 'well', 'well'],
    ],
    [
      'late again and again is said, with how late',
      [
        [3000, 10],
        [3000, 10],
        [4000, 10],
        [4000, 10],
      ],
      ['well', 'slow 3000', 'slow 3000', 'slow 4000'],
    ],
    [
      'it is used again as soon as it answers in time',
      [
        [3000, 10],
        [3000, 10],
        [10, 10],
        [10, 10],
      ],
      ['well', 'slow 3000', 'well', 'well'],
    ],
    [
      'all late is no fault of the endpoint',
      [
        [3000, 3000],
        [3000, 3000],
        [3000, 3000],
      ],
      ['well', 'well', 'well'],
    ],
    [
      'one that was silent and answers late is slow',
      [
        [60_000, 10],
        [60_000, 10],
        [3000, 10],
        [3000, 10],
      ],
      ['silent', 'silent', 'silent', 'slow 3000'],
    ],
    [
      'one that was slow and is silent is silent',
      [
        [3000, 10],
        [3000, 10],
        [60_000, 10],
        [60_000, 10],
      ],
      ['well', 'slow 3000', 'slow 3000', 'silent'],
    ],
  ]
  for (const [what, turns, said] of rows) test(what, async () => assert.deepEqual(await looks(turns), said))
})
