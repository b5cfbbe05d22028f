import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkRequest } from '../../../sim/proxmox/validate/index.ts'
import { removed } from '../../model/destruction.ts'
import type { FileSpec } from '../../model/file.ts'
import type { Step } from '../../model/step.ts'
import { formOf } from './api.ts'
import { proxmoxRules as rules } from './rules.ts'
import { exampleObserved, exampleResource } from './testing/vm-example.ts'
import { OPTION_ROWS } from './vm/testing/option-table.ts'

/** Returns the real API's complaints about a step, after its form was encoded and decoded. */
function complaints(step: Step): string[] {
  if (step.lane !== 'rest') return []
  const decoded = Object.fromEntries(
    formOf(step.call.params)
      .split('&')
      .filter(Boolean)
      .map((pair) => pair.split('=').map(decodeURIComponent)),
  )
  return checkRequest(step.call.method, step.call.path, decoded).map((complaint) => `${step.summary}: ${complaint}`)
}

describe('every request that the driver can send is one that the API takes', () => {
  for (const { what, declared, differs } of OPTION_ROWS) {
    it(what, () => {
      const resource = exampleResource({ ...declared, power: 'running', pool: 'k3s' })
      const steps = [...rules.createSteps(resource, '114')]
      for (const { config } of differs) {
        const observed = exampleObserved(config, { pool: 'k3s' })
        const close = { ...observed.close, config: observed.close?.config ?? {}, atMs: 0, digest: 'a'.repeat(40) }
        const changes = rules.diff(resource, { ...observed, close })
        steps.push(...rules.updateSteps(resource, { ...observed, close }, changes))
      }
      assert.deepEqual(steps.flatMap(complaints), [])
    })
  }

  it('power, growth, template, pool, mark, removal', () => {
    const template = exampleResource({
      template: true,
      pool: 'k3s',
      disks: [{ slot: 'scsi0', storage: 'local', sizeGb: 9 }],
    })
    const seen = exampleObserved({ scsi0: 'local:114/vm-114-disk-0.raw,size=8G' }, { power: 'stopped' })
    const steps = [
      ...rules.updateSteps(template, seen, rules.diff(template, seen)),
      ...rules.adoptSteps(exampleResource(), exampleObserved()),
      ...rules.deleteSteps(removed(exampleObserved(), [])),
      ...rules.deleteSteps(removed(exampleObserved({}, { type: 'container' }), [])),
    ]
    for (const power of ['running', 'stopped', 'paused'] as const) {
      for (const wanted of ['running', 'stopped'] as const) {
        const resource = exampleResource({ power: wanted })
        const observed = exampleObserved({}, { power })
        steps.push(...rules.updateSteps(resource, observed, rules.diff(resource, observed)))
      }
    }
    assert.ok(steps.length >= 12, String(steps.length))
    assert.deepEqual(steps.flatMap(complaints), [])
  })

  it('downloads', () => {
    const file: FileSpec = {
      host: 'pve1',
      storage: 'local',
      content: 'iso',
      fileName: 'x.iso',
      url: 'https://x.test/x.iso',
      checksum: { algorithm: 'sha256', value: 'aa' },
      decompression: 'gz',
      verifyTls: false,
      overwrite: true,
    }
    const resource = { ...exampleResource(), desired: { type: 'file' as const, file } }
    const seen = {
      connection: 'c',
      type: 'file' as const,
      externalId: 'local:iso/x.iso',
      host: 'pve1',
      close: { config: { size: 0 }, atMs: 0 },
    }
    const steps = [
      ...rules.createSteps(resource, 'x'),
      ...rules.updateSteps(resource, seen, rules.diff(resource, seen)),
      ...rules.adoptSteps(resource, seen),
    ]
    assert.equal(steps.length, 3)
    assert.deepEqual(steps.flatMap(complaints), [])
  })
})
