import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import { Secret } from '../../model/secret.ts'
import type { RestCall } from '../../model/step.ts'
import { createApi } from './api.ts'

/** Returns a host's answer if it loses the worker of every call, and how often it was asked. */
async function asked(method: RestCall['method'], path: string) {
  let calls = 0
  const api = createApi({
    wire: {
      async send() {
        calls += 1
        return { status: 500, reason: 'got no worker upid - start worker failed', headers: {}, body: '{"data":null}' }
      },
      async close() {},
    },
    clock: systemClock,
    reads: 1,
    token: async () => new Secret('a@pve!t=1'),
    forgetToken() {},
  })
  const call = { method, path, params: {} }
  await api.write(call, new Map(), { doing: 'try it' }, new AbortController().signal)
  return calls
}

describe('a call whose worker the host has lost', () => {
  const again = [
    ['PUT', '/nodes/pve1/qemu/300/resize'],
    ['POST', '/nodes/pve1/qemu/300/config'],
    ['POST', '/nodes/pve1/qemu/300/status/start'],
    ['POST', '/nodes/pve1/qemu/300/snapshot'],
    ['DELETE', '/nodes/pve1/qemu/300'],
    ['POST', '/nodes/pve1/vzdump'],
  ] as const
  for (const [method, path] of again) {
    it(`is asked for again, and not for ever: ${method} ${path}`, async () => {
      assert.equal(await asked(method, path), 5)
    })
  }

  // The id is locked by then. A second call would be refused because of the first one, which hides its result.
  const once = ['/nodes/pve1/qemu', '/nodes/pve1/lxc', '/nodes/pve1/qemu/9000/clone', '/nodes/pve1/lxc/9000/clone']
  for (const path of once) {
    it(`is asked for once where it takes an id: POST ${path}`, async () => {
      assert.equal(await asked('POST', path), 1)
    })
  }
})
