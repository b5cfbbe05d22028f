// The program on a node in each shell that a node may have, with the tools of busybox too.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { findCommand } from '../../scripts/packages.ts'
import { readEvidence } from '../../test/evidence/read.ts'
import { readFacts } from '../drivers/k3s/read-node.ts'
import { nodeRoot } from './testing/node-root.ts'

const DATA = '/var/lib/rancher/k3s'
const golden = readEvidence<{ readonly cases: readonly { id: string; pem: string; hash: string }[] }>(
  'k3s/golden-token.json',
)

for (const name of ['dash', 'bash', 'busybox']) {
  const shell = findCommand(name)
  const skip = shell !== undefined || process.env.CI !== undefined ? false : `${name} is missing`
  describe(`under ${name}`, { skip }, () => {
    // In CI a shell that is missing fails.
    const root = nodeRoot(shell ?? name)
    after(() => root.remove())
    const factsNow = async () => {
      const facts = readFacts(await root.ask(['facts']))
      assert.ok(facts)
      return facts
    }

    for (const { id, pem, hash } of golden.cases)
      test(`the CA is named as K3s names it: golden vector ${id}, of a server and of an agent`, async () => {
        root.write(`${DATA}/server/tls/server-ca.crt`, pem)
        assert.equal((await factsNow()).data, hash)
        rmSync(join(root.directory, DATA), { recursive: true })
        root.write(`${DATA}/agent/server-ca.crt`, pem)
        assert.equal((await factsNow()).data, hash)
        rmSync(join(root.directory, DATA), { recursive: true })
      })

    test('what is looked at, written, proved and deleted is the same', async () => {
      const base64 = (text: string) => Buffer.from(text).toString('base64')
      const files = [
        { path: '/etc/rancher/k3s/config.yaml', mode: '0600', base64: base64('# croft: 0123456789abcdef\n') },
      ]
      assert.deepEqual(await root.ask(['put'], JSON.stringify({ files })), { ok: true })
      root.write('/srv/k3s', '#!/bin/sh\necho "k3s version v1.34.3+k3s1 (x)"\n')
      const { sha256 } = await root.ask(['measure', '/srv/k3s'])
      const order = (sum: unknown) => JSON.stringify({ version: 'v1.34.3+k3s1', from: ['/srv/k3s'], sha256: sum })
      await root.ask(['install'], order('0'.repeat(64)))
      assert.match((await factsNow()).job?.message ?? '', /has another checksum than 0+$/)
      await root.ask(['install'], order(sha256))
      root.write('/etc/systemd/system/k3s.service', '[Unit]')
      root.write('/units/k3s.service', 'LoadState=loaded\nActiveState=inactive\nInactiveEnterTimestamp=\n')
      root.write(`${DATA}/server/tls/server-ca.crt`, golden.cases[0]?.pem ?? '')
      root.write(`${DATA}/server/db/etcd/member/wal`, 'x')
      root.write(`${DATA}/server/db/snapshots/one`, 'xyz')
      root.write(`${DATA}/storage/pvc-1/photo`, 'x')
      const { version, service, configHash, datastore, snapshots, clockMs } = await factsNow()
      assert.deepEqual(
        [version, service, configHash, datastore, snapshots.map(({ name: one, bytes }) => `${one} ${bytes}`)],
        ['v1.34.3+k3s1', 'stopped', '0123456789abcdef', 'etcd', ['one 3']],
      )
      assert.ok(Math.abs(clockMs - Date.now()) < 60_000)
      await root.ask(['wipe'])
      const { data, job, wipes } = await factsNow()
      assert.deepEqual([data, job?.state, job?.message, wipes], ['none', 'done', undefined, 1])
      assert.ok(root.has(`${DATA}/storage/pvc-1/photo`) && root.has(`${DATA}/server/db/snapshots/one`))
      assert.ok(!root.has(`${DATA}/server/db/etcd`))
    })
  })
}
